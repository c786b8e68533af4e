import BoundedQueue
import Fetching
import Files
import Places
import Thumbnails

/// Why a source has no thumbnail.
///
/// The description names no options, because each program has its own.
package enum SourceFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// The category of a failure, for programs that read events.
  package enum Kind: String, Sendable {
    /// The source is at fault, or the error is unknown.
    case source
    /// Another source has the place of the thumbnail, or the place is not allowed.
    case collision
    case timeout
    /// The source needs more memory than one operation may hold, or its decoder more than its header tells.
    case memory
    /// No decoder process could be started, or it was killed. The source is not at fault.
    case decoder
    /// The source could not be fetched from the network.
    case network
    /// The thumbnail could not be written to its place.
    case output
    /// The disk of the output is full, faulty or read-only.
    case disk
  }

  /// Why a decoder process gave no picture.
  package enum DecoderEnd: Sendable {
    /// The source made it crash, or do what it may not do.
    case crashed
    /// Another process or the kernel killed it.
    case killed
    /// It needed more memory than its format should.
    case memory
    /// The system had no room for it.
    case refused
    /// Its program is missing or may not be executed, of which the job has told once.
    case missing
    /// Its program cannot be started, or what was started is another.
    case wrong
    /// The kernel refuses a part of the fence, which is required.
    case unfenced
  }

  case source(ThumbnailError)
  case output(OutputError)
  /// The source needs more memory than `plan` gives to one operation.
  case memory(BudgetExceededError, plan: MemoryPlan)
  /// The process that decodes the source's format gave no picture.
  case decoder(String, DecoderEnd)
  /// The source could not be fetched.
  case network(FetchError)
  /// The operation took longer than this.
  case timeout(Duration)
  /// Another source gets the place of the thumbnail.
  case placeTaken(by: Path)
  /// The thumbnail would overwrite its source.
  case placeIsSource
  /// The place is in the working folder of the output.
  case placeReserved
  /// The source failed for good in an earlier run, and was not tried again. The times are of its first and its last try, in
  /// seconds since 1970.
  case earlier(kind: String, reason: String, first: Int, last: Int)
  /// An error that the job does not know.
  case other(String)

  package init(_ error: any Error, plan: MemoryPlan) {
    self =
      switch error {
      case let failure as SourceFailure: failure
      case let error as ThumbnailError: .source(error)
      case let error as OutputError: .output(error)
      case let error as BudgetExceededError: .memory(error, plan: plan)
      default: .other("\(error)")
      }
  }

  package var kind: Kind {
    switch self {
    case .decoder(_, .memory): .memory
    case .decoder(_, .killed), .decoder(_, .refused), .decoder(_, .missing), .decoder(_, .wrong),
      .decoder(_, .unfenced):
      .decoder
    case .source, .decoder(_, .crashed), .other: .source
    case .output(let error): error.isCollision ? .collision : error.isDiskFault ? .disk : .output
    case .memory: .memory
    case .network(let error): error.isFullDisk ? .disk : .network
    case .timeout: .timeout
    case .placeTaken, .placeIsSource, .placeReserved: .collision
    case .earlier(let kind, _, _, _): Kind(rawValue: kind) ?? .source
    }
  }

  /// The bytes of memory that the source needs, if they are the reason.
  package var bytesNeeded: Int? { if case .memory(let error, _) = self { error.needed } else { nil } }

  /// Whether another try may succeed: a fault of a disk or network may pass, and an incomplete source
  /// may be complete by then.
  package var mayBeTemporary: Bool {
    switch self {
    case .source(.unreadable), .source(.truncated), .source(.damaged), .source(.corrupt): true
    case .decoder(_, let end): end == .killed || end == .refused
    case .output(let error): error.kind == .failed && !error.isDiskFault || error.error == .ioError
    default: false
    }
  }

  /// Whether another version of the picture, which is in the same file, may be decoded all the same.
  var isOfVersion: Bool {
    switch self {
    case .source(let error):
      switch error {
      case .empty, .notAnImage, .otherFormat, .unsupportedType, .unsupported, .truncated, .damaged, .corrupt,
        .tooManyScans:
        true
      case .cancelled, .imperfect, .tooManyPixels, .thumbnailTooLarge, .sideTooLong, .unreadable, .outOfMemory,
        .irregular,
        .internalFault:
        false
      }
    case .decoder(_, let end): end == .crashed || end == .memory
    case .output, .memory, .network, .timeout, .placeTaken, .placeIsSource, .placeReserved, .earlier, .other: false
    }
  }

  /// Whether another run would fail in the same way, unless the source, the settings or the program change.
  package var isForGood: Bool {
    switch self {
    case .source(let error):
      switch error {
      case .empty, .notAnImage, .unsupported, .truncated, .damaged, .corrupt, .imperfect, .tooManyScans, .internalFault:
        true
      // The header tells at once that a source is of another format, or has too many pixels; the advice then names the limit.
      case .otherFormat, .unsupportedType, .cancelled, .unreadable, .outOfMemory, .irregular, .tooManyPixels,
        .thumbnailTooLarge, .sideTooLong:
        false
      }
    case .decoder(_, let end): end == .crashed
    case .output, .memory, .network, .timeout, .placeTaken, .placeIsSource, .placeReserved, .earlier, .other: false
    }
  }

  /// When the source failed first, in seconds since 1970; nil if it was tried.
  package var firstEarlier: Int? { if case .earlier(_, _, let first, _) = self { first } else { nil } }

  /// Whether the source was not tried, because it has failed before.
  package var isEarlier: Bool { if case .earlier = self { true } else { false } }

  /// One line, without the name of the source.
  package var description: String {
    switch self {
    case .source(let error): "\(error)"
    case .output(let error): "\(error)"
    case .memory(let error, _): "\(error)"
    case .decoder(let reason, _): reason
    case .network(let error): "\(error)"
    case .timeout(let limit): "took longer than \(limit)"
    case .placeTaken(let rival): "another source, \(rival.printable), has the place of its thumbnail"
    case .placeIsSource: "its thumbnail would overwrite the source itself"
    case .placeReserved: "its thumbnail would go into .thumbjob, the working folder of the output"
    case .earlier(_, let reason, _, _): reason
    case .other(let text): text
    }
  }
}
