import Files

/// The state of an operation at one moment, or at its end.
public struct OperationStatus: Codable, Sendable, Equatable, Identifiable {
  public enum State: String, Codable, Sendable, CaseIterable {
    case waiting, running
    /// Ended, its work done.
    case finished
    case failed, cancelled

    public var isEnded: Bool { self != .waiting && self != .running }
  }

  /// Counts up from 1 in the order of submission.
  public var id: Int
  /// A description of the work, for people.
  public var description: String
  public var source: JSONPath
  public var state: State
  /// The current stage of the work, in one word; nil before the first stage.
  public var stage: String?
  /// Progress from 0 to 1; nil while unknown.
  public var fraction: Double?
  /// Seconds from its submission until now, or until its end.
  public var ageSeconds: Double
  /// Seconds that it has waited for a place.
  public var waitedSeconds: Double
  /// Seconds that it has run.
  public var ranSeconds: Double
  /// Bytes of the budget that it has reserved.
  public var reservedBytes: Int
  /// Why it waits for a place or for memory; nil if it does not wait.
  public var waitReason: String?
  /// Why it failed, was cancelled, or is being cancelled.
  public var reason: String?

  enum CodingKeys: String, CodingKey {
    case id, description, source, state, stage, fraction, reason
    case ageSeconds = "age_seconds"
    case waitedSeconds = "waited_seconds"
    case ranSeconds = "ran_seconds"
    case reservedBytes = "reserved_bytes"
    case waitReason = "why_it_waits"
  }

  /// - Parameters:
  ///   - waitedSeconds: the time it waited for a place.
  ///   - ranSeconds: the time it ran. The sum of both is its age.
  public init(
    id: Int, description: String, source: Path, state: State, stage: String? = nil, fraction: Double? = nil,
    waitedSeconds: Double, ranSeconds: Double, reservedBytes: Int = 0, waitReason: String? = nil,
    reason: String? = nil
  ) {
    (self.id, self.description, self.source, self.state) = (id, description, JSONPath(source), state)
    (self.stage, self.fraction) = (stage, fraction)
    (self.waitedSeconds, self.ranSeconds) = (waitedSeconds, ranSeconds)
    ageSeconds = waitedSeconds + ranSeconds
    (self.reservedBytes, self.waitReason, self.reason) = (reservedBytes, waitReason, reason)
  }
}
