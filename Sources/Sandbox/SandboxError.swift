import CDecoding
import Files
import Foundation
import SystemPackage

/// Why a decoder process has given no picture. Except after ``undecodable(_:_:)`` and ``badRequest``, it is replaced.
package enum SandboxError: Error, Equatable {
  /// The program of the decoder is in none of these places.
  case notFound([Path])
  /// The system does not start the program, or gives no memory or descriptor for a request.
  case cannotStart(Errno)
  /// What was started does not say hello as a decoder of this version does.
  case wrongProgram(Path)
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
  /// Decoding takes more memory than this, in bytes.
  case memoryLimit(Int)
  /// The caller's `isCancelled` returned true, or the pool was shut down.
  case cancelled
  /// The request is larger than a decoder accepts, or contradicts itself.
  case badRequest
  /// The decoder's verdict on the file: `CDECODING_READ_FAILED`, `TRUNCATED`, `DAMAGED`, `UNSUPPORTED` or `BAD_CALL`. The text
  /// is the reason, on one line of printable ASCII characters.
  case undecodable(cdecoding_status, String)
}

extension SandboxError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notFound(let places):
      "thumbjob finds no program \(DecoderProgram.name); it looked for "
        + places.map { $0.printable }.joined(separator: ", ")
    case .cannotStart(let error): "the system starts no decoder process: \(systemText(error.rawValue))"
    case .wrongProgram(let path): "\(path.printable) is no decoder of this version of thumbjob"
    case .crashed(let signal): "the decoder crashed: \(Self.text(of: signal))"
    case .forbiddenCall: "the decoder made a forbidden system call, and the kernel killed it"
    case .killed(let signal): "another process or the kernel killed the decoder: \(Self.text(of: signal))"
    case .ended(let status): "the decoder ended with exit status \(status)"
    case .brokenProtocol(let what): "the decoder sent \(what)"
    case .staleReply: "the decoder sent a second reply to an earlier request"
    case .memoryLimit(let bytes): "the decoder needs more memory than \(ByteCount.limit(bytes))"
    case .cancelled: "the decoder was cancelled"
    case .badRequest: "the request to the decoder contradicts itself"
    case .undecodable(_, let reason): reason
    }
  }

  private static func text(of signal: CInt) -> String { "signal \(signal), \(String(cString: strsignal(signal)))" }
}
