import Files
import Foundation
import Marks

/// Where the thumbnails of an output go, if they do not go into a folder: such as a bucket. Each appears there whole or not at
/// all.
///
/// *Concurrency*: every member may be called from any thread, and may block.
package protocol Destination: Sendable {
  /// Whether a thumbnail here might get the place of one there.
  func overlaps(_ other: any Destination) -> Bool

  /// What a thumbnail tells of its source.
  ///
  /// - Parameters:
  ///   - key: the key of the source; nil if only one source can want the place.
  ///   - mark: that of the present settings.
  /// - Throws: ``OutputError``; of the kind `foreign` if the place has something else.
  func state(
    of place: Path, key: SourceKey?, _ mark: ThumbnailMark, isCancelled: () -> Bool
  ) throws(OutputError) -> SettingsStamp.RemoteState

  /// Puts a thumbnail in place.
  ///
  /// - Parameters:
  ///   - thumbnail: with its mark.
  ///   - type: its media type.
  /// - Throws: ``OutputError``
  func publish(
    _ thumbnail: [UInt8], type: String, _ mark: ThumbnailMark, to place: Path, modified: timespec,
    isCancelled: () -> Bool
  ) throws(OutputError)
}
