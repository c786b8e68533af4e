import Files
import Foundation
import JobSettings
import Locking
import Pictures
import Sandbox
import Sourcing
import Thumbnails

/// Decodes pictures in decoder processes: those of other formats than JPEG, and JPEG files that may be dangerous.
///
/// A ``SourcePicture`` reads the header of a picture of another format with the `PictureReader`. Its operation reserves
/// the memory of its `DecodeRequest`. The request is passed on to a `DecoderPool`, and the `ThumbnailMaker` renders and
/// encodes the planes that come back, as it does those of a JPEG. JPEG files with faults go the same way.
///
/// *Concurrency*: every member may be called from any thread.
package final class PictureDecoders: Sendable {
  private let isolation: Isolation
  private let mostIdle: Int
  private let onShortfall: @Sendable (String) -> Void
  /// Guards the pool, which is made for the first picture that needs it: most jobs have none.
  private let started = Locked<DecoderPool?>(nil)
  /// The most memory of all processes at one moment, in bytes. Guarded by its lock.
  private let most = Locked(0)

  /// - Parameters:
  ///   - mostIdle: how many processes wait for a picture at most.
  ///   - onShortfall: receives, at most once, what parts of the fence do not hold.
  package init(_ isolation: Isolation, mostIdle: Int, onShortfall: @escaping @Sendable (String) -> Void) {
    (self.isolation, self.mostIdle, self.onShortfall) = (isolation, mostIdle, onShortfall)
  }

  /// How a JPEG file is decoded first.
  ///
  /// - Parameter isSuspect: whether the file may be why earlier runs died.
  package func firstDecoding(isSuspect: Bool) -> Decoding {
    isolation.isForAll || isSuspect && isolation == .auto ? .whole() : .sparing
  }

  /// Whether JPEG files that are decoded like this are decoded here. What our own decoder accepts is not.
  func decodesJPEG(_ decoding: Decoding) -> Bool { isolation != .never && decoding.isWhole }

  /// Decodes a picture, and passes its planes on to `body`.
  ///
  /// - Returns: the result of `body`.
  /// - Throws: `ThumbnailError`, ``SourceFailure``, and the errors of `body`.
  package func decode<Result>(
    _ request: DecodeRequest, of file: SourceFile, _ type: ImageType, monitor: any ThumbnailMonitor,
    _ body: (DecodedPlanes) throws -> Result
  ) throws -> Result {
    monitor.entered(.decoding)
    // The decoder reads the file itself, and would take gaps for zeros.
    guard request.parts(of: file.size).allSatisfy(file.has) else { throw ThumbnailError.unreadable(ENODATA) }
    let planes: DecodedPlanes
    do throws(SandboxError) {
      let order = DecodingOrder(
        request.request, tiles: request.tiles, extents: request.extents, file: file.descriptor,
        fileSize: UInt64(file.size), planeBytes: request.memorySize, workingBytes: request.decoderBytes,
        owner: file.owner)
      planes = try pool().decode(
        order, isCancelled: { monitor.isCancelled },
        progress: {
          // Of a picture that is one tile, nothing more is known until it is decoded.
          if $0 > 0 { monitor.progressed(to: $0 * ThumbnailMaker.decodingShare) }
        })
    } catch {
      throw Self.failure(error, type)
    }
    return try body(planes)
  }

  /// Ends the processes that wait for a picture, to give back their memory.
  package func removeIdle() { started.withLock { $0 }?.removeIdle() }

  /// The most memory that this process and the decoder processes have held at one moment, in bytes. The kernel tells the
  /// peak of this process alone; that of all is the highest sum that ``measureMemory()`` saw.
  package var peakMemory: Int { max(ProcessStatus.peakResident, most.withLock { $0 }) }

  /// Called again and again, and at the end. Peaks of single processes cannot be added: they are of different moments.
  package func measureMemory() {
    guard let pool = started.withLock({ $0 }), let own = ProcessStatus()?.memory?.resident else { return }
    let held = own + pool.memory
    most.withLock { $0 = max($0, held) }
  }

  private func pool() throws(SandboxError) -> DecoderPool {
    try started.withLock { pool throws(SandboxError) in
      if let pool { return pool }
      let fence: DecoderPool.Fence =
        switch isolation {
        case .never: .off
        case .auto, .always: .possible
        case .require: .whole
        }
      let made = DecoderPool(try DecoderProgram.locate(), fence: fence, mostIdle: mostIdle) { [onShortfall] report in
        if let shortfall = report.shortfall { onShortfall(shortfall) }
      }
      pool = made
      return made
    }
  }

  /// Why no decoder process can be started; nil if its program is there and may be executed.
  package static var obstacle: DecoderObstacle? {
    do throws(SandboxError) {
      _ = try DecoderProgram.locate()
      return nil
    } catch {
      switch error {
      case .notFound(let places): return .missing(DecoderProgram.name, folders: places.map(\.parent))
      case .notExecutable(let path): return .notExecutable(path)
      default: return nil
      }
    }
  }

  private static func failure(_ error: SandboxError, _ type: ImageType) -> any Error {
    switch error {
    case .cancelled: ThumbnailError.cancelled
    case .undecodable(let verdict, let reason): Self.error(verdict, reason, type)
    case .badRequest: ThumbnailError.internalFault("\(error)")
    case .crashed, .forbiddenCall, .ended, .brokenProtocol, .staleReply: SourceFailure.decoder("\(error)", .crashed)
    case .killed, .endedIdle: SourceFailure.decoder("\(error)", .killed)
    case .memoryLimit: SourceFailure.decoder("\(error)", .memory)
    case .refused, .startTimedOut: SourceFailure.decoder("\(error)", .refused)
    case .notFound, .notExecutable, .stackTooSmall: SourceFailure.decoder("\(error)", .missing)
    case .unfenced: SourceFailure.decoder("\(error)", .unfenced)
    case .cannotStart, .wrongProgram: SourceFailure.decoder("\(error)", .wrong)
    }
  }

  private static func error(_ verdict: SandboxError.Verdict, _ reason: String, _ type: ImageType) -> ThumbnailError {
    switch verdict {
    case .unreadable: .unreadable(EIO)
    case .truncated: .truncated(reason)
    case .damaged: .damaged(reason)
    case .unsupported: .unsupported(reason, type: type)
    case .corrupt: .corrupt(reason)
    case .imperfect: .imperfect(reason)
    case .tooManyScans: .scanLimitExceeded
    case .badRequest: .internalFault(reason)
    }
  }
}
