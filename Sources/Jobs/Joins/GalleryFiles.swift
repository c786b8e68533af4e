import Files
import Gallery

/// Writes the files of a gallery. Everything is prepared before the first of them is in place, and the list of pictures is in
/// place last, so that an older gallery keeps its pictures until then.
struct GalleryFiles {
  let folder: Path
  var isDurable = false
  let title: String
  let sizes: [GallerySize]
  /// The folder of the sources; nil if it is not known.
  let originals: JSONPath?

  /// - Parameters:
  ///   - pictures: appends the pictures, as JSON with commas between, and returns how many there are.
  ///   - missing: the same for sources without thumbnails.
  /// - Returns: the number of pictures, and whether a file has changed.
  /// - Throws: ``OutputError``, and the errors of the closures.
  func publish(
    pictures: (JoinFile) throws -> Int, missing: (JoinFile) throws -> Void
  ) throws -> (count: Int, isChanged: Bool) {
    let data = try JoinFile(folder.appending(Path(GalleryPage.data)), kind: nil, isDurable: isDurable)
    try data.append(Array("window.gallery={\"version\":1,\"title\":".utf8) + EntryList.json(title))
    try data.append(Array(",\"sizes\":".utf8) + EntryList.json(sizes))
    if let originals { try data.append(Array(",\"originals\":".utf8) + EntryList.json(originals)) }
    try data.append(Array(",\"pictures\":[".utf8))
    let count = try pictures(data)
    try data.append(Array("],\"missing\":[".utf8))
    try missing(data)
    try data.append(Array("]};\n".utf8))
    try data.flush()
    var isChanged = false
    for (name, contents) in GalleryPage.files {
      let file = try JoinFile(
        folder.appending(Path(name)), kind: name == GalleryPage.index ? .gallery : nil, isDurable: isDurable)
      try file.append(contents)
      if try file.publish() { isChanged = true }
    }
    if try data.publish() { isChanged = true }
    return (count, isChanged)
  }
}
