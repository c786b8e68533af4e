import BoundedQueue
import Caching
import Sourcing

/// Keeps previews for further requests that want the same of the same picture. While one is made, such requests wait for it
/// together.
///
/// *Concurrency*: from any thread.
final class PreviewCache: Sendable {
  struct Key: Hashable, Sendable {
    /// Of the picture. Two pictures with the same digest are the same picture.
    let digest: SHA256Digest
    let request: PreviewRequest
  }

  private let kept: LRUCache<Key, Preview>
  private let shared: SharedResults<Key, Preview>

  /// - Parameters:
  ///   - bytes: the memory for previews.
  ///   - queue: makes them.
  init(bytes: Int, _ queue: BoundedOperationQueue) {
    kept = LRUCache(CacheLimits(count: 1 << 20, cost: bytes))
    shared = SharedResults(queue)
  }

  /// The preview that is kept, or is made, or will be.
  ///
  /// - Throws: the errors of the operation and of its submission, and `CancellationError` when the task is cancelled.
  func preview(for key: Key, _ make: () -> PreviewOperation) async throws -> Preview {
    if let preview = kept[key] { return preview }
    let preview = try await shared.value(for: key, make)
    kept.insert(preview, for: key, cost: preview.bytes.count)
    return preview
  }

  /// Keeps the half that was used last.
  func trim() { kept.trim(toCost: kept.cost / 2) }

  func removeAll() { kept.removeAll() }
}
