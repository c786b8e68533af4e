/// The stages of making thumbnails. Users read their raw values.
public enum ThumbnailStage: String, Sendable, CaseIterable {
  case reading, decoding, resizing, encoding
}

/// Observes a maker at work, and may stop it.
///
/// *Concurrency*: called only from the thread that makes the thumbnails. Calls are frequent (for every row of blocks
/// decoded), so they should be cheap.
public protocol ThumbnailMonitor: AnyObject {
  /// Whether the maker should stop and throw `ThumbnailError.cancelled`.
  var isCancelled: Bool { get }
  /// Called when a stage begins. Resizing and encoding begin once for each size.
  func entered(_ stage: ThumbnailStage)
  /// Called with the fraction of the source's work that is done, 0 to 1, which never decreases.
  func progressed(to fraction: Double)
}

/// A function that is called between pieces of work of at most a few milliseconds. It throws `cancelled` to end the
/// work.
typealias CancellationCheck = () throws(ThumbnailError) -> Void
