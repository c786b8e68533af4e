import Files
import Foundation
import JobSettings
import Locking
import Pictures
import Sandbox
import Sourcing
import Thumbnails

/// Decodes pictures in decoder processes: those of other formats than JPEG, and JPEG files that may be dangerous. Encodes thumbnails
/// of other formats than JPEG in encoder processes.
///
/// A ``SourcePicture`` reads the header of a picture of another format with the `PictureReader`. Its operation reserves
/// the memory of its `DecodeRequest`. The request is passed on to a `HelperPool`, and the `ThumbnailMaker` renders and
/// encodes the planes that come back, as it does those of a JPEG. JPEG files with faults go the same way.
///
/// *Concurrency*: every member may be called from any thread.
package final class PictureDecoders: Sendable {
  private let isolation: Isolation
  private let pool: LazyPool
  private let encoders: LazyPool
  /// The most memory of all processes at one moment, in bytes. Guarded by its lock.
  private let most = Locked(0)

  /// - Parameters:
  ///   - mostIdle: how many processes wait for a picture at most.
  ///   - onShortfall: receives, at most once, what parts of the fence do not hold.
  package init(_ isolation: Isolation, mostIdle: Int, onShortfall: @escaping @Sendable (String) -> Void) {
    self.isolation = isolation
    let shortfall = OnceTold(onShortfall)
    pool = LazyPool(.decoder, isolation, mostIdle: mostIdle, shortfall)
    encoders = LazyPool(.encoder, isolation, mostIdle: mostIdle, shortfall)
  }

  /// Encodes thumbnails in other formats than JPEG, in encoder processes.
  ///
  /// - Parameter file: the source of the thumbnails.
  package func encoder(for file: SourceFile) -> any ThumbnailEncoder { ProcessEncoder(encoders, owner: file.owner) }

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
      planes = try pool.started().decode(
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
  package func removeIdle() {
    pool.ifStarted?.removeIdle()
    encoders.ifStarted?.removeIdle()
  }

  /// The most memory that this process and its helper processes have held at one moment, in bytes. The kernel tells the
  /// peak of this process alone; that of all is the highest sum that ``measureMemory()`` saw.
  package var peakMemory: Int { max(ProcessStatus.peakResident, most.withLock { $0 }) }

  /// Called again and again, and at the end. Peaks of single processes cannot be added: they are of different moments.
  package func measureMemory() {
    let pools = [pool, encoders].compactMap(\.ifStarted)
    guard !pools.isEmpty, let own = ProcessStatus()?.memory?.resident else { return }
    let held = own + pools.reduce(0) { $0 + $1.memory }
    most.withLock { $0 = max($0, held) }
  }

  /// Why no decoder process can be started; nil if its program is there and may be executed.
  package static var obstacle: DecoderObstacle? {
    do throws(SandboxError) {
      _ = try HelperProgram.decoder.locate()
      return nil
    } catch {
      switch error {
      case .notFound(let places): return .missing(HelperProgram.decoder.name, folders: places.map(\.parent))
      case .notExecutable(let path): return .notExecutable(path)
      default: return nil
      }
    }
  }

  private static func failure(_ error: SandboxError, _ type: ImageType) -> any Error {
    switch error {
    case .undecodable(let verdict, let reason): Self.error(verdict, reason, type)
    default: failure(error, of: .decoder)
    }
  }

  /// The failure of a source after an error that says nothing of its picture.
  static func failure(_ error: SandboxError, of program: HelperProgram) -> any Error {
    let text = error.text(of: program)
    return switch error {
    case .cancelled: ThumbnailError.cancelled
    case .undecodable, .badRequest: ThumbnailError.internalFault(text)
    case .crashed, .forbiddenCall, .ended, .brokenProtocol, .staleReply: SourceFailure.decoder(text, .crashed)
    case .killed, .endedIdle: SourceFailure.decoder(text, .killed)
    case .memoryLimit: SourceFailure.decoder(text, .memory)
    case .refused, .startTimedOut: SourceFailure.decoder(text, .refused)
    case .notFound, .notExecutable, .stackTooSmall: SourceFailure.decoder(text, .missing)
    case .unfenced: SourceFailure.decoder(text, .unfenced)
    case .cannotStart, .wrongProgram: SourceFailure.decoder(text, .wrong)
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
