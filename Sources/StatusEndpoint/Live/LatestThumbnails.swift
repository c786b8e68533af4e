import DequeModule
import Files
import Foundation
import Locking

/// The latest thumbnails of a run, within a limit of bytes. They are kept even without clients, so that the page shows
/// pictures as soon as it is opened.
///
/// *Concurrency*: the lock guards all state; bytes are copied outside it.
public final class LatestThumbnails: Sendable {
  /// One of them.
  public struct Entry: Codable, Sendable, Equatable {
    /// Counts up from 1.
    public let id: Int
    /// The operation that made it.
    public let operation: Int
    public let source: JSONPath
    /// Pixels.
    public let width: Int
    public let height: Int
    /// Of the JPEG file.
    public let bytes: Int
  }

  /// The answer of `GET /thumbnails`, latest first.
  struct List: Codable, Sendable {
    let thumbnails: [Entry]
  }

  /// The data of the event `thumbnails`, latest first.
  struct Pictures: Codable, Sendable {
    struct Picture: Codable, Sendable {
      let thumbnail: Entry
      /// The file in base64.
      let jpeg: Data
    }

    let thumbnails: [Picture]
  }

  private struct State {
    /// Oldest first.
    var kept: Deque<(entry: Entry, jpeg: [UInt8])> = []
    var bytes = 0
    var nextID = 1
  }

  private let state = Locked(State())
  private let capacity: Int
  /// The most thumbnails, however small they are.
  static let mostKept = 48

  /// - Parameter capacity: the most bytes of all thumbnails together.
  public init(capacity: Int = 4 << 20) { self.capacity = capacity }

  /// Keeps a copy of a thumbnail, and drops the oldest if there is no room. A thumbnail larger than a quarter of the
  /// capacity is not kept.
  ///
  /// - Parameters:
  ///   - operation: the id of the operation that made it.
  ///   - source: the path of its source.
  ///   - width: pixels, as is `height`.
  public func insert(_ jpeg: UnsafeRawBufferPointer, operation: Int, source: Path, width: Int, height: Int) {
    guard !jpeg.isEmpty, jpeg.count <= capacity / 4 else { return }
    let copy = [UInt8](jpeg)
    let dropped = state.withLock { state in
      let entry = Entry(
        id: state.nextID, operation: operation, source: JSONPath(source), width: width, height: height,
        bytes: copy.count)
      state.nextID += 1
      state.kept.append((entry, copy))
      state.bytes += copy.count
      var dropped: [[UInt8]] = []
      while state.bytes > capacity || state.kept.count > Self.mostKept {
        dropped.append(state.kept.removeFirst().jpeg)
        state.bytes -= dropped.last?.count ?? 0
      }
      return dropped
    }
    _ = dropped  // freed outside the lock
  }

  /// Releases all thumbnails, for when memory is tight.
  public func removeAll() {
    let dropped = state.withLock { state in
      defer { (state.kept, state.bytes) = ([], 0) }
      return state.kept
    }
    _ = dropped  // freed outside the lock
  }

  /// Bytes kept now.
  public var bytesKept: Int { state.withLock { $0.bytes } }

  var list: List { List(thumbnails: state.withLock { $0.kept.reversed().map(\.entry) }) }

  /// The latest ones with their files.
  func pictures(_ count: Int) -> Pictures {
    let latest = state.withLock { Array($0.kept.suffix(count)) }
    return Pictures(thumbnails: latest.reversed().map { Pictures.Picture(thumbnail: $0.entry, jpeg: Data($0.jpeg)) })
  }

  func jpeg(_ id: Int) -> [UInt8]? { state.withLock { $0.kept.last { $0.entry.id == id }?.jpeg } }
}
