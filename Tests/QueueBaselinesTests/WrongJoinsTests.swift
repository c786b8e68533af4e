import Dispatch
import QueueBaselines
import TestSupport
import Testing

/// Each wrong way to wait for two requests goes wrong.
@Suite(.timeLimit(.minutes(1))) struct WrongJoinsTests {
  @Test func aGroupThatIsLeftEarlyDoesNotWaitForTheAnswers() async throws {
    let answered = Gate()
    let threads = DispatchQueue(label: "requests", attributes: .concurrent)
    let request: WrongJoins.Request<Int> = { completion in
      threads.async {
        answered.pass()
        completion(1)
      }
    }
    let known = LockedBox<[Int]?>(nil)
    try await onThread { WrongJoins.leavingAGroupEarly(request, request) { answers in known.change { $0 = answers } } }
    #expect(known.value == [])
    answered.open()
  }

  @Test func aSemaphoreHeldByTheLastThreadIsNeverSignalled() async throws {
    let (pool, answered) = (DispatchQueue(label: "a pool with one thread"), LockedBox<Bool?>(nil))
    WrongJoins.waitingOnTheLastThreadOfAPool(pool, patience: .milliseconds(50)) { result in
      answered.change { $0 = result }
    }
    #expect(try await eventually { answered.value != nil })
    #expect(answered.value == false)
  }

  @Test func aCountWithoutALockLosesAnAnswer() {
    let hasBegun = LockedBox(false)
    let join = WrongJoins.SharingACountWithoutALock { hasBegun.change { $0 = true } }
    // The second answer comes while the first one is between reading and writing.
    join.answered { join.answered() }
    #expect(!hasBegun.value)
  }
}
