import Foundation

/// A variant's own counts of its operations, at one moment.
public struct VariantCounts: Codable, Sendable, Equatable {
  /// Sources that the producer is done with: it has handed them on.
  public var submitted = 0
  public var waiting = 0
  public var running = 0
  /// Sources whose thumbnail is made.
  public var done = 0
  public var failed = 0
  public var peakWaiting = 0
  public var peakRunning = 0

  public init() {}

  /// The sources that are done or failed.
  var processed: Int { done + failed }

  /// False for numbers that no variant counts to, and that could overflow a sum.
  fileprivate var isPlausible: Bool {
    [submitted, waiting, running, done, failed, peakWaiting, peakRunning].allSatisfy { 0...Int(UInt32.max) ~= $0 }
  }
}

/// A source without a thumbnail, and the reason.
public struct VariantFailure: Codable, Sendable, Equatable {
  /// The path in its printable form.
  public let source: String
  public let error: String
}

/// A message from a variant's process: a JSON object on a line of its own.
enum VariantMessage: Codable, Equatable {
  case counts(VariantCounts)
  /// The variant was asked to list its operations and has listed this many.
  case listed(operations: Int)
  /// The variant was told to stop; its counts at that moment.
  case toldToStop(VariantCounts)
  case traits(VariantTraits)
  case failed(VariantFailure)
  /// The variant could not do its work.
  case gaveUp(reason: String)
  /// The variant has ended; the most memory it has held.
  case ended(peakBytes: Int)

  /// The end of a line. Within an encoded message it is escaped.
  static let newline = UInt8(ascii: "\n")

  var line: [UInt8] {
    guard let json = try? JSONEncoder().encode(self) else { preconditionFailure("a message has only plain values") }
    return Array(json) + [Self.newline]
  }

  /// - Parameter line: without its end.
  /// - Returns: nil for a line that is not a message, such as one that was cut off when the process was killed.
  init?(line: [UInt8]) {
    guard let message = try? JSONDecoder().decode(Self.self, from: Data(line)) else { return nil }
    switch message {
    case .counts(let counts), .toldToStop(let counts): if !counts.isPlausible { return nil }
    default: break
    }
    self = message
  }
}
