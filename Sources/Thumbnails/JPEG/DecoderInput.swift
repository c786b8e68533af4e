/// The bytes and the monitor of a decoder. Nothing is thrown from here, because libjpeg's callbacks, which C code
/// calls, use it.
final class DecoderInput {
  private(set) var failure: ByteReader.ReadError?
  private let source: ByteReader
  private let monitor: (any ThumbnailMonitor)?
  private(set) var progress: Double
  private var position: UInt64 = 0

  init(source: ByteReader, monitor: (any ThumbnailMonitor)?, progress: Double) {
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

  /// The file's size in bytes, if known.
  var size: Int? { source.size }

  /// Reads ahead without counting that as progress.
  func peek(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    (try? source.read(at: offset, into: buffer).get()) ?? -1
  }

  /// Whether to stop. Also reports progress to the monitor, measured by the bytes read, on which decoding time mostly
  /// depends.
  var isCancelled: Bool {
    guard let monitor else { return false }
    if let size = source.size, size > 0 {
      progress = max(progress, min(Double(position) / Double(size), 1) * DecoderProgress.share)
      monitor.progressed(to: progress)
    }
    return monitor.isCancelled
  }
}
