import BoundedQueue
import TestSupport
import Testing

@testable import MemoryPressure
@testable import PictureMaking

@Suite(.timeLimit(.minutes(5))) struct PressureGovernorTests {
  private let received = LockedBox<[String]>([])

  private func governor() -> PressureGovernor {
    PressureGovernor(
      queue: BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 0), response: .ignore,
      stop: { preconditionFailure("`ignore` stops nothing") }, shrink: {},
      onNote: { [received] note in received.change { $0.append("\(note.level)") } })
  }

  /// Signals may be opened while a job ends. The job's last line must stay the last one.
  @Test func aMessageComesBetweenTheNotesAndNotAfterTheEnd() async throws {
    try await onThread {
      let governor = governor()
      let cause = PressureCause(signals: .psi, reason: "")
      governor.handle(.changed(from: .normal, to: .warning, cause))
      governor.deliver { [received] in received.change { $0.append("opened") } }
      governor.handle(.changed(from: .warning, to: .normal, cause))
      governor.finish()
      #expect(received.value == ["warning", "opened", "normal"])
      governor.deliver { [received] in received.change { $0.append("late") } }
      governor.finish()
      #expect(received.value.last == "normal")
    }
  }
}
