import BoundedQueue
import Files

/// Writes the gallery of a job, once all its sources are done.
final class GalleryOperation: JoinOperation, @unchecked Sendable {  // constant
  private let plan: GalleryPlan
  private let pictures: EntryList
  private let missing: EntryList
  private let thumbnails: EntryList?

  /// - Parameter thumbnails: those of each picture, of which the gallery gets copies; nil if it shows them where they are.
  init(_ plan: GalleryPlan, pictures: EntryList, missing: EntryList, thumbnails: EntryList?, isDurable: Bool) {
    (self.plan, self.pictures, self.missing, self.thumbnails) = (plan, pictures, missing, thumbnails)
    super.init(.gallery, plan.folder, isDurable: isDurable)
  }

  override func makeJoin() throws -> (count: Int, isChanged: Bool) {
    let files = GalleryFiles(
      folder: path, isDurable: isDurable, title: plan.title, sizes: plan.sizes, originals: plan.originals)
    var copies = GalleryCopies(in: path, outputs: plan.outputs, isDurable: isDurable)
    if let thumbnails { try copy(thumbnails, with: &copies) }
    var result = try files.publish(
      pictures: { try pictures.append(to: $0, in: self) }, missing: { try missing.append(to: $0, in: self) })
    try copies.removeOthers()
    if copies.isChanged { result.isChanged = true }
    return result
  }

  private func copy(_ thumbnails: EntryList, with copies: inout GalleryCopies) throws {
    guard let folders = plan.copyFolders else { preconditionFailure("the plan has no place for copies") }
    try thumbnails.visit { entry in
      for (size, place) in GalleryCopies.places(in: entry) {
        try checkCancelled()
        try copies.copy(plan.sizeFolders[size].appending(place), to: folders[size].appending(place))
      }
    }
  }
}
