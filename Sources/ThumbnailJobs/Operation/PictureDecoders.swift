import CDecoding
import Foundation
import Locking
import Pictures
import Sandbox
import Thumbnails

/// Decodes pictures in decoder processes: those of other formats than JPEG, and JPEG files that may be dangerous.
///
/// *Concurrency*: every member may be called from any thread.
final class PictureDecoders: Sendable {
  private let isolation: Isolation
  private let mostIdle: Int
  private let onShortfall: @Sendable (String) -> Void
  /// Guards the pool, which is made for the first picture that needs it: most jobs have none.
  private let pool = Locked<DecoderPool?>(nil)
  private let most = Locked(0)

  /// - Parameters:
  ///   - mostIdle: how many processes wait for a picture at most.
  ///   - onShortfall: receives, at most once, what parts of the fence do not hold.
  init(_ isolation: Isolation, mostIdle: Int, onShortfall: @escaping @Sendable (String) -> Void) {
    (self.isolation, self.mostIdle, self.onShortfall) = (isolation, mostIdle, onShortfall)
  }

  /// How a JPEG file is decoded first.
  ///
  /// - Parameter isSuspect: whether the file may be why earlier runs died.
  func firstDecoding(isSuspect: Bool) -> Decoding {
    isolation == .always || isSuspect && isolation == .auto ? .whole() : .sparing
  }

  /// Whether JPEG files that are decoded like this are decoded here. What our own decoder accepts is not.
  func decodesJPEG(_ decoding: Decoding) -> Bool { isolation != .never && decoding.isWhole }

  /// Decodes a picture, and passes its planes on to `body`.
  ///
  /// - Returns: the result of `body`.
  /// - Throws: `ThumbnailError`, ``SourceFailure``, and the errors of `body`.
  func decode<Result>(
    _ request: DecodeRequest, of file: SourceFile, _ type: ImageType, monitor: any ThumbnailMonitor,
    _ body: (Sandbox.DecodedPicture) throws -> Result
  ) throws -> Result {
    monitor.entered(.decoding)
    let picture: Sandbox.DecodedPicture
    do throws(SandboxError) {
      let order = DecodingOrder(
        request.request, tiles: request.tiles, extents: request.extents, file: file.descriptor,
        fileSize: UInt64(file.size), planeBytes: request.memorySize, workingBytes: request.decoderBytes)
      picture = try started().decode(
        order, isCancelled: { monitor.isCancelled },
        progress: { monitor.progressed(to: $0 * ThumbnailMaker.decodingShare) })
    } catch {
      throw Self.failure(error, type)
    }
    return try body(picture)
  }

  /// Ends the processes that wait for a picture, to give back their memory.
  func removeIdle() { pool.withLock { $0 }?.removeIdle() }

  /// The most memory that the processes have held at the same time, in bytes, as far as ``measureMemory()`` saw it.
  var peakMemory: Int { most.withLock { $0 } }

  /// Called again and again, and at the end.
  func measureMemory() {
    guard let pool = pool.withLock({ $0 }) else { return }
    let held = pool.peakMemory
    most.withLock { $0 = max($0, held) }
  }

  private func started() throws(SandboxError) -> DecoderPool {
    if let pool = pool.withLock({ $0 }) { return pool }
    let program = try DecoderProgram.locate()
    let (started, isFirst) = pool.withLock { pool in
      if let pool { return (pool, false) }
      let made = DecoderPool(program, isFenced: isolation != .never, mostIdle: mostIdle)
      pool = made
      return (made, true)
    }
    if isFirst, let shortfall = try started.prepare().shortfall { onShortfall(shortfall) }
    return started
  }

  private static func failure(_ error: SandboxError, _ type: ImageType) -> any Error {
    switch error {
    case .cancelled: return ThumbnailError.cancelled
    case .undecodable(CDECODING_TRUNCATED, let reason): return ThumbnailError.truncated(reason)
    case .undecodable(CDECODING_CORRUPT, let reason): return ThumbnailError.corrupt(reason)
    case .undecodable(CDECODING_IMPERFECT, let reason): return ThumbnailError.imperfect(reason)
    case .undecodable(CDECODING_TOO_MANY_SCANS, _): return ThumbnailError.scanLimitExceeded
    case .undecodable(CDECODING_UNSUPPORTED, let reason): return ThumbnailError.unsupported(reason, type: type)
    case .undecodable(CDECODING_BAD_CALL, let reason): return ThumbnailError.internalFault(reason)
    case .undecodable(CDECODING_READ_FAILED, _): return ThumbnailError.unreadable(EIO)
    case .undecodable(_, let reason): return ThumbnailError.damaged(reason)
    case .badRequest: return ThumbnailError.internalFault("\(error)")
    case .crashed, .forbiddenCall, .ended, .brokenProtocol, .staleReply:
      return SourceFailure.decoder("\(error)", .crashed)
    case .killed: return SourceFailure.decoder("\(error)", .killed)
    case .memoryLimit: return SourceFailure.decoder("\(error)", .memory)
    case .notFound, .cannotStart, .wrongProgram: return SourceFailure.decoder("\(error)", .missing)
    }
  }
}
