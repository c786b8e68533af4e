/// An operation at one moment, or, once it has ended, at its end.
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
  /// What it does and to what, for people.
  public var description: String
  /// The path of the source, as text.
  public var source: String
  public var state: State
  /// The stage its work is in, in a word; nil before the first.
  public var stage: String?
  /// How much of the work is done, from 0 to 1; nil while unknown.
  public var fraction: Double?
  /// Seconds since it was submitted; until it ended, once it has.
  public var ageSeconds: Double
  /// Seconds it has waited for a place, or waited before it ran.
  public var waitedSeconds: Double
  /// Seconds it has run, or ran.
  public var ranSeconds: Double
  /// Bytes of the budget that it has reserved.
  public var reservedBytes: Int
  /// What it waits for, while it waits: a place, or memory.
  public var waitReason: String?
  /// Why it failed or was cancelled, or, while it has not ended, why it was asked to stop.
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
  ///   - waitedSeconds: so long for a place.
  ///   - ranSeconds: so long at work. Both together are its age.
  public init(
    id: Int, description: String, source: String, state: State, stage: String? = nil, fraction: Double? = nil,
    waitedSeconds: Double, ranSeconds: Double, reservedBytes: Int = 0, waitReason: String? = nil,
    reason: String? = nil
  ) {
    (self.id, self.description, self.source, self.state) = (id, description, source, state)
    (self.stage, self.fraction) = (stage, fraction)
    (self.waitedSeconds, self.ranSeconds) = (waitedSeconds, ranSeconds)
    ageSeconds = waitedSeconds + ranSeconds
    (self.reservedBytes, self.waitReason, self.reason) = (reservedBytes, waitReason, reason)
  }
}
