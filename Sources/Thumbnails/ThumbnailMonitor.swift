/// The stages of making thumbnails, as users read them.
public enum ThumbnailStage: String, Sendable, CaseIterable {
  case reading, decoding, resizing, encoding
}

/// Observes a maker at work, and may stop it.
///
/// *Concurrency*: called only from the thread that makes the thumbnails. Calls are frequent (for every row of blocks
/// decoded), so they should be cheap.
public protocol ThumbnailMonitor: AnyObject {
  /// Whether to end with `ThumbnailError.cancelled`.
  var isCancelled: Bool { get }
  /// A stage begins; resizing and encoding begin once for each size.
  func entered(_ stage: ThumbnailStage)
  /// The fraction of the source's work that is done, 0 to 1. It never decreases.
  func progressed(to fraction: Double)
}
