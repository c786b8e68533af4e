import CDecoding
import Files
import Foundation

/// Why a decoder process has given no picture, or an encoder process no file. Except after ``undecodable(_:_:)`` and
/// ``badRequest``, it is replaced.
package enum SandboxError: Error, Equatable {
  /// The program of the decoder is in none of these places.
  case notFound([Path])
  /// The program of the decoder has no permission to run.
  case notExecutable(Path)
  /// The system does not start the program: it may not be executed, or is no program.
  case cannotStart(Path, Errno)
  /// The system gives no process, memory, descriptor or limit for a decoder.
  case refused(Errno)
  /// The process has not said hello in this time.
  case startTimedOut(Duration)
  /// What was started does not say hello as a decoder of this version does.
  case wrongProgram(Path)
  /// The hard limit of the stack is below what decoders need.
  case stackTooSmall
  /// The fence does not hold as a whole, as the pool requires. The text says what is missing.
  case unfenced(String)
  /// A signal ended the process that only a fault of its own sends.
  case crashed(signal: CInt)
  /// The process made a system call that the fence forbids, and was killed for it.
  case forbiddenCall
  /// Another process or the kernel has killed the process: often the OOM killer.
  case killed(signal: CInt)
  /// The process has ended by itself.
  case ended(status: Int)
  /// The process has sent something that no decoder sends.
  case brokenProtocol(String)
  /// The process has sent a second reply to an earlier request. The pool gives the picture to another process.
  case staleReply
  /// The process has ended after an earlier picture, before it took this one. The pool gives the picture to another process.
  case endedIdle
  /// Decoding takes more memory than this, in bytes.
  case memoryLimit(Int)
  /// The caller's `isCancelled` returned true, or the pool was shut down.
  case cancelled
  /// The request is larger than a decoder accepts, or contradicts itself.
  case badRequest
  /// The decoder's verdict on the file. The text is the reason, on one line of printable ASCII characters.
  case undecodable(Verdict, String)

  /// Why a decoder that works has no picture.
  package enum Verdict: Sendable {
    /// The file cannot be read.
    case unreadable
    /// The data ends before the picture does.
    case truncated
    /// The data breaks the format.
    case damaged
    /// A picture of a kind that the library does not decode.
    case unsupported
    /// Samples are wrong, and the request does not tolerate that.
    case corrupt
    /// JPEG: there is a warning, and the request tolerates none.
    case imperfect
    /// JPEG: more scans than a picture needs.
    case tooManyScans
    /// The request contradicts itself.
    case badRequest

    /// - Parameter status: of a decoder; nil if it is no verdict.
    init?(_ status: cdecoding_status) {
      switch status {
      case CDECODING_READ_FAILED: self = .unreadable
      case CDECODING_TRUNCATED: self = .truncated
      case CDECODING_DAMAGED: self = .damaged
      case CDECODING_UNSUPPORTED: self = .unsupported
      case CDECODING_CORRUPT: self = .corrupt
      case CDECODING_IMPERFECT: self = .imperfect
      case CDECODING_TOO_MANY_SCANS: self = .tooManyScans
      case CDECODING_BAD_CALL: self = .badRequest
      default: return nil
      }
    }
  }
}

extension SandboxError: CustomStringConvertible {
  package var description: String { text(of: .decoder) }

  /// The reason for users.
  ///
  /// - Parameter program: that of the process.
  package func text(of program: HelperProgram) -> String {
    let (one, name) = program == .decoder ? ("a decoder", "decoder") : ("an encoder", "encoder")
    return switch self {
    case .notFound: "\(program.name) was not found"
    case .notExecutable(let path): "\(path.printable) may not be executed"
    case .cannotStart(let path, let error):
      "the system does not start the program \(path.printable): \(systemText(error.rawValue))"
    case .refused(let error): "the system refuses \(one) what it needs: \(systemText(error.rawValue))"
    case .startTimedOut(let limit): "\(one) was not ready within \(limit)"
    case .wrongProgram(let path):
      "\(path.printable) is no \(name) of this version of thumbjob, or lacks a library that it needs"
    case .stackTooSmall:
      "\(one) needs a stack of \(ByteCount.limit(Int(CDECODING_WHOLE_STACK))), and the hard limit (ulimit -Hs) is lower"
    case .unfenced(let shortfall): shortfall
    case .crashed(let signal): "the \(name) crashed: \(Self.text(of: signal))"
    case .forbiddenCall: "the \(name) made a forbidden system call, and the kernel killed it"
    case .killed(SIGKILL): "the \(name) was killed (\(Self.text(of: SIGKILL))), perhaps because memory ran out"
    case .killed(let signal): "another process killed the \(name): \(Self.text(of: signal))"
    case .ended(let status): "the \(name) ended with exit status \(status)"
    case .brokenProtocol(let what): "the \(name) sent \(what)"
    case .staleReply: "the \(name) sent a second reply to an earlier request"
    case .endedIdle: "the \(name) ended before it took the picture"
    case .memoryLimit(let bytes): "the \(name) needs more memory than \(ByteCount.limit(bytes))"
    case .cancelled: "the \(name) was cancelled"
    case .badRequest: "the request to the \(name) contradicts itself"
    case .undecodable(_, let reason): reason
    }
  }

  private static func text(of signal: CInt) -> String { "signal \(signal), \(String(cString: strsignal(signal)))" }
}
