/// The state of an operation at one moment.
public struct OperationSnapshot: Sendable {
  public enum State: Sendable {
    /// Not yet submitted, or waiting to run.
    case waiting
    case running
    case ended(Outcome)
  }

  public let id: Int
  /// A one-line description of the work, for people.
  public let title: String
  /// What the operation does, in a word that all operations of its kind share; nil if it has not said.
  public let kind: String?
  /// What it works on; nil if it has not said.
  public let subject: String?
  public let state: State
  /// The current stage of the work, in one word; nil before the first stage.
  public let stage: String?
  /// Progress from 0 to 1; nil while unknown.
  public let fraction: Double?
  /// The bytes of the queue's budget that the operation has reserved. Its work should hold no more than these.
  public let bytesReserved: Int
  /// How long it has waited to run, from its submission.
  public let waited: Duration
  /// How long it has run.
  public let ran: Duration
  /// The part of ``ran`` in which it waited for memory. A wait that is still going on is not included.
  public let waitedForMemory: Duration
  /// Why it waits: for other operations, for others of its key, for a place, or for memory, which it needs to start or has asked for
  /// while running; nil if it does not wait.
  public let waitReason: String?
  /// The reason for its cancellation; nil if it was not cancelled.
  public let cancelReason: CancelReason?
  /// The first of the operations that it depends on and that have not ended; at most ``waitsForLimit``, because an
  /// operation may depend on all others. Empty once it has ended itself.
  public let waitsFor: [OperationName]
  /// How many operations it waits for in all.
  public let waitsForCount: Int
  /// How many operations of any queue wait for this one.
  public let neededBy: Int
  /// The dependency for which it was cancelled; nil if it was not.
  public let failedDependency: FailedDependency?

  /// The most operations that ``waitsFor`` lists.
  public static let waitsForLimit = 100

  init(
    id: Int, title: String, kind: String?, subject: String?, state: OperationState, fraction: Double?,
    bytesReserved: Int, waitReason: String?
  ) {
    neededBy = state.dependencies.neededBy
    failedDependency = state.cancelReason == .dependency ? state.dependencies.failure : nil
    self.id = id
    (self.title, self.kind, self.subject) = (title, kind, subject)
    self.fraction = fraction
    self.bytesReserved = bytesReserved
    if state.outcome == nil {
      (waitsFor, waitsForCount) = (state.dependencies.waitsFor(limit: Self.waitsForLimit), state.dependencies.count)
    } else {
      (waitsFor, waitsForCount) = ([], 0)  // a cancelled operation still had them at the moment of its end
    }
    self.waitReason = Self.text(waitsFor, of: waitsForCount) ?? waitReason
    stage = state.stage
    waitedForMemory = state.waitedForMemory
    cancelReason = state.cancelReason
    switch state.phase {
    case .new: (self.state, waited, ran) = (.waiting, .zero, .zero)
    case .waiting(let since): (self.state, waited, ran) = (.waiting, .now - since, .zero)
    case .running(let since, let waited): (self.state, self.waited, ran) = (.running, waited, .now - since)
    case .ended(let outcome, _, let waited, let ran):
      (self.state, self.waited, self.ran) = (.ended(outcome), waited, ran)
    }
  }
}

extension OperationSnapshot: CustomStringConvertible {
  /// The snapshot as one line, such as `#12 thumbnail a.jpg: running, decoding 43 %, 1.2 s, holds up to 12 MiB`.
  public var description: String {
    var parts: [String] = []
    switch state {
    case .waiting:
      parts.append("waiting \(Self.seconds(waited))")
      if let waitReason { parts.append(waitReason) }
    case .running:
      parts.append("running")
      if let stage { parts.append(fraction.map { "\(stage) \(Int($0 * 100)) %" } ?? stage) }
      parts.append(Self.seconds(ran))
      if bytesReserved > 0 { parts.append("holds up to \(ByteText.text(bytesReserved))") }
      if let waitReason { parts.append(waitReason) }
    case .ended(let outcome):
      parts.append("\(outcome)")
      if let failedDependency { parts.append("\(failedDependency)") }
      parts.append("ran \(Self.seconds(ran))")
    }
    if case .ended = state {} else if let cancelReason { parts.append("being cancelled \(cancelReason)") }
    return "#\(id) \(title): " + parts.joined(separator: ", ")
  }

  /// Such as "waits for #41 and #42".
  private static func text(_ operations: [OperationName], of count: Int) -> String? {
    let shown = operations.prefix(3).map { $0.id.map { "#\($0)" } ?? $0.title }
    let others = count - shown.count
    guard let last = others > 0 ? "\(others) more" : shown.last else { return nil }
    let first = others > 0 ? shown[...] : shown.dropLast()
    return "waits for " + (first.isEmpty ? last : first.joined(separator: ", ") + " and " + last)
  }

  private static func seconds(_ duration: Duration) -> String {
    "\((duration / .seconds(1) * 10).rounded() / 10) s"
  }
}
