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

  /// Writes a fail entry to the cache of desktops: the source cannot be read. Other outputs have no such entries.
  ///
  /// *Source*: Thumbnail Managing Standard, "Fail entries".
  package func noteFailure(of source: Source, size: Int, modified: timespec) {
    guard layout == .freedesktop, let folder, let uri = source.nameFacts.uri else { return }
    let entry = CacheEntry(uri: uri.text, modified: modified, size: size, type: nil)
    let place = Self.failurePlace(of: uri)
    // Without the entry, other programs try the photo, too.
    try? folder.publish(entry.failure, to: place, modified: modified)
  }

  /// Removes the fail entry of a source that can be read now.
  package func forgetFailure(of source: Source) {
    guard layout == .freedesktop, let folder, let uri = source.nameFacts.uri else { return }
    unlink(Self.failurePlace(of: uri), in: folder.descriptor)
  }

  private static func failurePlace(of uri: FileURI) -> Path { Path("fail/thumbjob/\(uri.digest).png") }

  /// The URI of the source that its thumbnails contain; nil if they contain none.
  func uri(of source: Source) -> FileURI? { layout == .freedesktop ? source.nameFacts.uri : nil }

  /// What a thumbnail of a source says of it for desktops; nil elsewhere.
  func entry(
    of source: Source, _ photo: (size: Int, type: ImageType)?, _ modified: timespec
  ) -> CacheEntry? {
    guard layout?.hasEntries == true, let photo else { return nil }
    return CacheEntry(
      uri: uri(of: source)?.text, modified: modified, size: photo.size, type: photo.type.mediaType)
  }
}
