import BoundedQueue
import Files

/// Writes the gallery of a job, once all its sources are done.
final class GalleryOperation: JoinOperation, @unchecked Sendable {  // constant
  private let plan: GalleryPlan
  private let pictures: EntryList
  private let missing: EntryList

  init(_ plan: GalleryPlan, pictures: EntryList, missing: EntryList, isDurable: Bool) {
    (self.plan, self.pictures, self.missing) = (plan, pictures, missing)
    super.init(.gallery, plan.folder, isDurable: isDurable)
  }

  override func makeJoin() throws -> (count: Int, isChanged: Bool) {
    let files = GalleryFiles(
      folder: path, isDurable: isDurable, title: plan.title, sizes: plan.sizes, originals: plan.originals)
    return try files.publish(
      pictures: { try pictures.append(to: $0, in: self) }, missing: { try missing.append(to: $0, in: self) })
  }
}
