import Files

/// What became of a manifest, a contact sheet or a gallery.
public struct JoinReport: Sendable {
  public enum Result: Sendable {
    /// It is in place.
    case made
    /// An equal one was in place, and stays.
    case unchanged
    /// The job stopped before it was made. An older one stays.
    case notMade
    case failed(JoinError)
  }

  public let kind: JoinKind
  public let path: Path
  public let result: Result
  /// How many sources it lists, or pages it has; 0 unless it is in place.
  public let count: Int

  /// Whether it is in place, made by this job or equal to what it would have made.
  public var isInPlace: Bool {
    switch result {
    case .made, .unchanged: true
    case .notMade, .failed: false
    }
  }
}

/// Why a manifest, a contact sheet or a gallery could not be made.
public enum JoinError: Error, Sendable, CustomStringConvertible {
  case output(OutputError)
  /// An error that the job does not know.
  case other(String)

  init(_ error: any Error) {
    self = (error as? OutputError).map { .output($0) } ?? .other("\(error)")
  }

  /// Whether the whole disk is at fault: full, faulty or read-only.
  public var isDiskFault: Bool { if case .output(let error) = self { error.isDiskFault } else { false } }

  /// One line, with the path of an output error.
  public var description: String {
    switch self {
    case .output(let error): "\(error)"
    case .other(let text): text
    }
  }
}
