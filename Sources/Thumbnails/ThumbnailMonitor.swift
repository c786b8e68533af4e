/// What a maker is doing, in words a user reads.
public enum ThumbnailStage: String, Sendable, CaseIterable {
  case reading, decoding, resizing, encoding
}

/// Someone who watches a maker at work, and may stop it.
///
/// *Concurrency*: called from the thread that makes the thumbnails only, often (every row of blocks decoded), so cheap
/// it should be.
public protocol ThumbnailMonitor: AnyObject {
  /// Whether the work should end with `ThumbnailError.cancelled`.
  var isCancelled: Bool { get }
  /// A stage begins; resizing and encoding begin once for each size.
  func entered(_ stage: ThumbnailStage)
  /// How much of the source's work is done, 0 to 1, never less than before.
  func progressed(to fraction: Double)
}
