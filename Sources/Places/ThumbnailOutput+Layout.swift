import Files
import Foundation
import Marks
import Sourcing
import Thumbnails

// Thumbnails that other programs look for.
extension ThumbnailOutput {
  /// Whether thumbnails of other sizes are for other programs, and stay as long as their photos are there.
  package var keepsOtherSizes: Bool { layout?.hasSizeFolders == true }

  /// What users are told of earlier runs.
  package var earlierToTell: EarlierRuns { keepsOtherSizes ? EarlierRuns(left: []) : earlier }

  /// Writes a fail entry to the cache of desktops: the source cannot be read, and nobody need try it again until it changes. Other
  /// outputs have no such entries.
  ///
  /// *Source*: Thumbnail Managing Standard, "Fail entries".
  package func noteFailure(of source: Source, size: Int, modified: timespec) {
    guard layout == .freedesktop, let folder else { return }
    let uri = FileURI(of: source.path)
    let entry = CacheEntry(uri: uri.text, modified: modified.tv_sec, size: size, type: nil)
    let place = Path("fail/thumbjob/\(uri.digest).png")
    // Without the entry, other programs try the photo, too.
    try? folder.publish(entry.failure, to: place, modified: modified)
  }

  /// What a thumbnail of a source says of it in the cache of desktops; nil elsewhere.
  func entry(
    of source: Source, _ photo: (size: Int, type: ImageType)?, _ modified: timespec
  ) -> CacheEntry? {
    guard layout == .freedesktop, let photo else { return nil }
    return CacheEntry(
      uri: FileURI(of: source.path).text, modified: modified.tv_sec, size: photo.size,
      type: photo.type.mediaType)
  }
}
