import Caching
import Files
import Foundation
import Synchronization

/// The latest thumbnails of a run, within a limit of bytes. They are kept even without clients, so that the page shows
/// pictures as soon as it is opened.
///
/// *Concurrency*: every member may be called from any thread. The cache has a lock; bytes are copied outside it.
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
    /// Of the file.
    public let bytes: Int
    /// The media type of the file, such as `image/jpeg`.
    public let type: String
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
      let file: Data
    }

    let thumbnails: [Picture]
  }

  private typealias Kept = (entry: Entry, file: [UInt8])

  /// By id. Clients only peek: what they look at would otherwise stay longer than later thumbnails.
  private let cache: LRUCache<Int, Kept>
  private let lastID = Atomic(0)
  private let capacity: Int
  /// The most thumbnails, however small they are.
  static let mostKept = 48

  /// - Parameter capacity: the most bytes of all thumbnails together.
  public init(capacity: Int = 4 << 20) {
    self.capacity = capacity
    cache = LRUCache(CacheLimits(count: Self.mostKept, cost: capacity))
  }

  /// Keeps a copy of a thumbnail, and drops the oldest if there is no room. A thumbnail larger than a quarter of the
  /// capacity is not kept.
  ///
  /// - Parameters:
  ///   - type: its media type.
  ///   - operation: the id of the operation that made it.
  ///   - source: the path of its source.
  ///   - width: pixels, as is `height`.
  public func insert(
    _ file: UnsafeRawBufferPointer, type: String = "image/jpeg", operation: Int, source: Path, width: Int, height: Int
  ) {
    guard !file.isEmpty, file.count <= capacity / 4 else { return }
    let entry = Entry(
      id: lastID.add(1, ordering: .relaxed).newValue, operation: operation, source: JSONPath(source), width: width,
      height: height, bytes: file.count, type: type)
    cache.insert((entry, [UInt8](file)), for: entry.id, cost: file.count)
  }

  /// Releases the older thumbnails, half of all bytes, for when memory gets tight.
  public func trim() { cache.trim(toCost: cache.cost / 2) }

  /// Releases all thumbnails, for when memory is short.
  public func removeAll() { cache.removeAll() }

  /// Bytes kept now.
  public var bytesKept: Int { cache.cost }

  var list: List { List(thumbnails: latest().map(\.entry)) }

  /// The latest ones with their files.
  func pictures(_ count: Int) -> Pictures {
    Pictures(thumbnails: latest(count).map { Pictures.Picture(thumbnail: $0.entry, file: Data($0.file)) })
  }

  func file(_ id: Int) -> (type: String, bytes: [UInt8])? { cache.peek(id).map { ($0.entry.type, $0.file) } }

  /// Latest first. Two threads may insert theirs in another order than that in which they have got their ids.
  private func latest(_ count: Int = .max) -> [Kept] {
    cache.latest(count).map(\.value).sorted { $0.entry.id > $1.entry.id }
  }
}
