import BoundedQueue
import Files
import Gallery

/// Writes the gallery of a job, once all its sources are done. The list of pictures is written last, so that an older gallery
/// keeps its pictures until then.
final class GalleryOperation: JoinOperation, @unchecked Sendable {  // constant
  private let plan: GalleryPlan
  private let pictures: EntryList
  private let missing: EntryList

  init(_ plan: GalleryPlan, pictures: EntryList, missing: EntryList, isDurable: Bool) {
    (self.plan, self.pictures, self.missing) = (plan, pictures, missing)
    super.init(.gallery, plan.folder, isDurable: isDurable)
  }

  override func makeJoin() throws -> (count: Int, isChanged: Bool) {
    var isChanged = false
    for (name, contents) in GalleryPage.files {
      let file = try JoinFile(
        path.appending(Path(name)), kind: name == GalleryPage.index ? .gallery : nil, isDurable: isDurable)
      try file.append(contents)
      if try file.publish() { isChanged = true }
    }
    let data = try JoinFile(path.appending(Path(GalleryPage.data)), kind: nil, isDurable: isDurable)
    try data.append(Array("window.gallery={\"version\":1,\"title\":".utf8) + EntryList.json(plan.title))
    try data.append(Array(",\"sizes\":".utf8) + EntryList.json(plan.sizes))
    if let originals = plan.originals { try data.append(Array(",\"originals\":".utf8) + EntryList.json(originals)) }
    try data.append(Array(",\"pictures\":[".utf8))
    let count = try pictures.append(to: data, in: self)
    try data.append(Array("],\"missing\":[".utf8))
    try missing.append(to: data, in: self)
    try data.append(Array("]};\n".utf8))
    if try data.publish() { isChanged = true }
    return (count, isChanged)
  }
}
