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
  /// Nil for an operation that has no source of its own, such as one that waits for the thumbnails of others.
  public var source: JSONPath?
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
  /// Why it waits: for other operations, for a place or for memory; nil if it does not wait.
  public var waitReason: String?
  /// The first of the operations that it waits for, by id, at most ``waitsForLimit``; nil if it waits for none.
  public var waitsFor: [Int]?
  /// How many operations it waits for in all; nil if it waits for none.
  public var waitsForCount: Int?
  /// How many operations wait for this one; nil if none does.
  public var neededBy: Int?
  /// Why it failed, was cancelled, or is being cancelled.
  public var reason: String?

  /// The most ids that ``waitsFor`` lists. An operation may wait for as many others as run and wait, and an answer has
  /// hundreds of operations.
  public static let waitsForLimit = 100

  enum CodingKeys: String, CodingKey {
    case id, description, source, state, stage, fraction, reason
    case ageSeconds = "age_seconds"
    case waitedSeconds = "waited_seconds"
    case ranSeconds = "ran_seconds"
    case reservedBytes = "reserved_bytes"
    case waitReason = "why_it_waits"
    case waitsFor = "waits_for"
    case waitsForCount = "waits_for_count"
    case neededBy = "needed_by"
  }

  /// - Parameters:
  ///   - waitedSeconds: the time it waited for a place.
  ///   - ranSeconds: the time it ran. The sum of both is its age.
  ///   - waitsFor: the ids of operations that it waits for, of which the first are kept.
  ///   - waitsForCount: how many operations it waits for; nil for the number of the ids. It is greater if some are not
  ///     given, or have no id.
  ///   - neededBy: how many operations wait for this one.
  public init(
    id: Int, description: String, source: Path?, state: State, stage: String? = nil, fraction: Double? = nil,
    waitedSeconds: Double, ranSeconds: Double, reservedBytes: Int = 0, waitReason: String? = nil,
    waitsFor: [Int] = [], waitsForCount: Int? = nil, neededBy: Int = 0, reason: String? = nil
  ) {
    (self.id, self.description, self.source, self.state) = (id, description, source.map { JSONPath($0) }, state)
    (self.stage, self.fraction) = (stage, fraction)
    (self.waitedSeconds, self.ranSeconds) = (waitedSeconds, ranSeconds)
    ageSeconds = waitedSeconds + ranSeconds
    (self.reservedBytes, self.waitReason, self.reason) = (reservedBytes, waitReason, reason)
    let count = waitsForCount ?? waitsFor.count
    if count > 0 { (self.waitsFor, self.waitsForCount) = (Array(waitsFor.prefix(Self.waitsForLimit)), count) }
    if neededBy > 0 { self.neededBy = neededBy }
  }
}
