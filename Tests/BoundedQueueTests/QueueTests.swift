import BoundedQueue
import TestSupport
import Testing

/// All tests of the queue. They run serially, because their operations block threads at gates.
@Suite(.serialized, .timeLimit(.minutes(5))) struct QueueTests {}

struct Deliberate: Error, CustomStringConvertible {
  var description: String { "deliberate" }
}

/// An operation made of a closure.
final class Work: BoundedOperation, @unchecked Sendable {
  private let body: @Sendable (Work) throws -> Void

  init(_ title: String = "work", _ body: @escaping @Sendable (Work) throws -> Void = { _ in }) {
    self.body = body
    super.init(title: title)
  }

  /// Waits at the gate, then ends.
  convenience init(_ title: String = "gated", at gate: Gate) {
    self.init(title) { _ in gate.pass() }
  }

  /// Runs until cancelled.
  static func endless(_ started: Gate) -> Work {
    Work("endless") { work in
      started.open()
      while true { try work.checkCancelled() }
    }
  }

  override func execute() throws { try body(self) }
}

extension Outcome {
  /// The outcome as text, for comparisons.
  var words: String { "\(self)" }
}

extension QueueCounters {
  var addUp: Bool { submitted == waiting + running + ended }
}
