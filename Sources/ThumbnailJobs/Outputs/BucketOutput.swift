import Fetching
import Files
import Foundation
import Thumbnails

/// The thumbnails of an output that is in a bucket. Each appears there whole or not at all.
///
/// The mark of a thumbnail and the time of its source are kept with it as metadata, so that what is up to date is known
/// without reading it. An object without a mark is no thumbnail, and never replaced.
///
/// *Concurrency*: every member may be called from any thread. All block.
struct BucketOutput: Sendable {
  private static let markName = "thumbjob", timeName = "thumbjob-modified"

  /// The part of the bucket below which the thumbnails are.
  let location: S3Location
  let store: any ObjectStore
  /// Whether a source may take the place of another one, whose thumbnail an earlier run made.
  let isForced: Bool

  /// The path of a place, for people and JSON.
  private func path(_ place: Path) -> Path { RemoteAddress.s3(object(place)).path }

  private func object(_ place: Path) -> S3Location { location.with(key: location.key + place.bytes) }

  /// What a thumbnail tells of its source.
  ///
  /// - Parameters:
  ///   - key: the key of the source; nil if only one source can want the place.
  ///   - mark: that of the present settings.
  /// - Throws: ``OutputError``; of the kind `foreign` if the place has another object.
  func state(
    of place: Path, key: SourceKey?, _ mark: ThumbnailMark, isCancelled: () -> Bool
  ) throws(OutputError) -> SettingsStamp.RemoteState {
    let found: [String: String]?
    do throws(FetchError) { found = try store.metadata(of: object(place), isCancelled: isCancelled) } catch {
      throw OutputError(.notKept(error), path(place))
    }
    guard let found else { return .missing }
    guard let there = found[Self.markName].flatMap({ ThumbnailMark(text: $0) }) else {
      throw OutputError(.foreign, path(place))
    }
    if there.source != key, !isForced { return .isTaken(place) }
    guard there.hasSettings(of: mark), let contents = there.contents, let text = found[Self.timeName],
      let modified = Self.time(text)
    else { return .missing }
    return .made(KnownThumbnails(modified: modified, contents: contents))
  }

  /// Puts a thumbnail in place.
  ///
  /// - Parameters:
  ///   - jpeg: with its mark.
  ///   - isContested: whether another source may want the place, which is then found out.
  /// - Throws: ``OutputError``
  func publish(
    _ jpeg: [UInt8], _ mark: ThumbnailMark, to place: Path, modified: timespec, isContested: Bool,
    isCancelled: () -> Bool
  ) throws(OutputError) {
    let metadata = [Self.markName: mark.text, Self.timeName: Self.text(modified)]
    func put(replaces: Bool) throws(FetchError) -> Bool {
      try store.put(jpeg, as: object(place), metadata: metadata, replaces: replaces, isCancelled: isCancelled)
    }
    do throws(FetchError) {
      if try put(replaces: !isContested) { return }
      // An earlier run has made the thumbnail, or another source has just got the place.
    } catch {
      throw OutputError(.notKept(error), path(place))
    }
    if case .isTaken = try state(of: place, key: mark.source, mark, isCancelled: isCancelled) {
      throw OutputError(.takenByName, path(place))
    }
    do throws(FetchError) { _ = try put(replaces: true) } catch { throw OutputError(.notKept(error), path(place)) }
  }

  private static func text(_ time: timespec) -> String { "\(time.tv_sec).\(time.tv_nsec)" }

  private static func time(_ text: String) -> timespec? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let seconds = parts[0], let nanoseconds = parts[1],
      (0..<1_000_000_000).contains(nanoseconds)
    else { return nil }
    return timespec(tv_sec: seconds, tv_nsec: nanoseconds)
  }
}
