/// What decoders reach: the bytes and the monitor. Nothing is thrown from here: libjpeg's callbacks come this way, and a
/// callback's caller is C.
final class DecoderInput {
  private(set) var failure: ByteSource.ErrorNumber?
  private let source: ByteSource
  private let monitor: (any ThumbnailMonitor)?
  private(set) var progress: Double
  private var position: UInt64 = 0

  init(source: ByteSource, monitor: (any ThumbnailMonitor)?, progress: Double) {
    self.source = source
    self.progress = progress
    self.monitor = monitor
  }

  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    position = max(position, offset)
    switch source.read(at: offset, into: buffer) {
    case .success(let count): return count
    case .failure(let code):
      failure = code
      return -1
    }
  }

  /// The file's size in bytes, where it is known.
  var size: Int? { source.size }

  /// Reads ahead of what has been decoded, which is no progress.
  func peek(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    (try? source.read(at: offset, into: buffer).get()) ?? -1
  }

  /// Also tells the monitor how far decoding is, by the bytes read: nearly all time goes by the byte.
  var isCancelled: Bool {
    guard let monitor else { return false }
    if let size = source.size, size > 0 {
      progress = max(progress, min(Double(position) / Double(size), 1) * DecoderProgress.share)
      monitor.progressed(to: progress)
    }
    return monitor.isCancelled
  }
}
