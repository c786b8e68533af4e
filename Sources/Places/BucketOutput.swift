import Fetching
import Files
import Foundation
import Locking
import Marks
import Thumbnails

/// The thumbnails of an output that is in a bucket.
///
/// The mark of a thumbnail and the time of its source are kept with it as metadata, so that what is up to date is known
/// without reading it. An object without a mark is no thumbnail, and never replaced.
///
/// *Concurrency*: every member may be called from any thread. All block.
package final class BucketOutput: Destination {
  private static let markName = "thumbjob", timeName = "thumbjob-modified", runName = "thumbjob-run"
  /// How often another source may come first and be gone again.
  private static let tries = 3

  /// The part of the bucket below which the thumbnails are.
  private let location: StoreLocation
  private let store: any ObjectStore
  /// Whether up-to-date thumbnails are made again, and a source may take the place of another whose thumbnail
  /// an earlier run made.
  private let isForced: Bool
  /// Tells the thumbnails of this run from those of others.
  private let run = String(UInt64.random(in: 0 ... .max), radix: 36)

  /// The sources whose thumbnails are on their way, by place.
  private let underWay = Locked<[Path: SourceKey]>([:])

  package init(location: StoreLocation, store: any ObjectStore, isForced: Bool) {
    (self.location, self.store, self.isForced) = (location, store, isForced)
  }

  /// The path of a place, for people and JSON.
  private func path(_ place: Path) -> Path { RemoteAddress.store(object(place)).path }

  private func object(_ place: Path) -> StoreLocation { location.with(key: location.key + place.bytes) }

  package func overlaps(_ other: any Destination) -> Bool {
    guard let other = other as? BucketOutput else { return false }
    return location.contains(other.location) || other.location.contains(location)
  }

  package func state(
    of place: Path, key: SourceKey?, _ mark: ThumbnailMark, isCancelled: () -> Bool
  ) throws(OutputError) -> SettingsStamp.RemoteState {
    guard let found = try find(place, isCancelled) else { return .missing }
    let there = found.mark
    if isTaken(found, key) { return .isTaken(place) }
    guard !isForced, there.hasSettings(of: mark), let contents = there.contents,
      let text = found.metadata[Self.timeName],
      let modified = Self.time(text)
    else { return .missing }
    return .made(KnownThumbnails(modified: modified, contents: contents))
  }

  /// A thumbnail that is there.
  private struct Found {
    let mark: ThumbnailMark
    let metadata: [String: String]
  }

  /// - Returns: nil if there is no object.
  private func find(_ place: Path, _ isCancelled: () -> Bool) throws(OutputError) -> Found? {
    guard location.key.count + place.length <= StoreLocation.longestKey else {
      throw OutputError(.nameTooLong, path(place))
    }
    do throws(FetchError) {
      guard let metadata = try store.metadata(of: object(place), isCancelled: isCancelled) else { return nil }
      if let mark = metadata[Self.markName].flatMap({ ThumbnailMark(text: $0) }) {
        return Found(mark: mark, metadata: metadata)
      }
    } catch {
      throw OutputError(.notKept(error), path(place))
    }
    throw OutputError(.foreign, path(place))
  }

  /// Whether a thumbnail is that of another source, whose place this one may not take.
  private func isTaken(_ found: Found, _ key: SourceKey?) -> Bool {
    guard let key, let there = found.mark.source, there != key else { return false }
    return !isForced || found.metadata[Self.runName] == run
  }

  package func publish(
    _ thumbnail: [UInt8], type: String, _ mark: ThumbnailMark, to place: Path, modified: timespec,
    isCancelled: () -> Bool
  ) throws(OutputError) {
    let metadata = [Self.markName: mark.text, Self.timeName: Self.text(modified), Self.runName: run]
    func put(replaces: Bool) throws(OutputError) -> Bool {
      do throws(FetchError) {
        return try store.put(
          thumbnail, as: object(place), type: type, metadata: metadata, replaces: replaces, isCancelled: isCancelled)
      } catch {
        throw OutputError(.notKept(error), path(place))
      }
    }
    if let key = mark.source {
      let isClaimed = underWay.withLock { underWay in
        if let other = underWay[place], other != key { return false }
        underWay[place] = key
        return true
      }
      guard isClaimed else { throw OutputError(.taken, path(place)) }
    }
    defer { if mark.source != nil { underWay.withLock { $0[place] = nil } } }
    for _ in 1...Self.tries {
      if try put(replaces: false) { return }
      // An earlier run has made the thumbnail, or another program has just got the place.
      guard let found = try find(place, isCancelled) else { continue }
      if isTaken(found, mark.source) { break }
      _ = try put(replaces: true)
      return
    }
    throw OutputError(.taken, path(place))
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
