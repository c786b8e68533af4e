import Locking
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct TimedSignalTests {
  @Test func aSignalThatCameBeforeIsTakenAtOnce() async throws {
    let signal = TimedSignal()
    signal.signal()
    #expect(try await onThread { signal.wait(upTo: .zero) })
    #expect(try await onThread { !signal.wait(upTo: .zero) }, "it is taken once")
  }

  @Test func withoutASignalTheWaitEndsAfterItsLimitAndNotBefore() async throws {
    let signal = TimedSignal()
    let took = try await onThread { ContinuousClock().measure { #expect(!signal.wait(upTo: .milliseconds(30))) } }
    #expect(took >= .milliseconds(30))
  }

  @Test(arguments: [Duration.nanoseconds(-1), .milliseconds(-1500), .seconds(-1 << 40), .seconds(Int64.min)])
  func aNegativeWaitEndsAtOnce(limit: Duration) async throws {
    let signal = TimedSignal()
    #expect(try await onThread { !signal.wait(upTo: limit) })
    signal.signal()
    #expect(try await onThread { signal.wait(upTo: limit) })
  }

  @Test func aVeryLongWaitEndsAtASignal() async throws {
    let signal = TimedSignal()
    async let taken = onThread { signal.wait(upTo: .seconds(Int64.max / 2)) }
    signal.signal()
    #expect(try await taken)
  }

  @Test func eachSignalEndsOneWait() async throws {
    let (signal, ended) = (TimedSignal(), LockedBox(0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await onThread {
            if signal.wait(upTo: .seconds(60)) { ended.change { $0 += 1 } }
          }
        }
      }
      for _ in 0..<8 { signal.signal() }
      try await group.waitForAll()
    }
    #expect(ended.value == 8)
    #expect(try await onThread { !signal.wait(upTo: .zero) })
  }
}

@Suite(.timeLimit(.minutes(1))) struct SerialThreadTests {
  @Test func closuresAreCarriedOutInOrder() async throws {
    let (thread, numbers) = (SerialThread(name: "test"), LockedBox<[Int]>([]))
    for number in 0..<100 { thread.async { numbers.change { $0.append(number) } } }
    #expect(try await onThread { thread.drain() })
    #expect(numbers.value == Array(0..<100))
  }

  @Test func waitingForABusyThreadHasALimit() async throws {
    let (thread, gate) = (SerialThread(name: "test"), Gate())
    thread.async { gate.pass() }
    #expect(try await onThread { !thread.drain(upTo: .milliseconds(10)) })
    gate.open()
    #expect(try await onThread { thread.drain() })
  }

  @Test func closuresOfAThreadThatIsReleasedAreStillCarriedOut() async throws {
    let (gate, isDone) = (Gate(), LockedBox(false))
    do {
      let thread = SerialThread(name: "test")
      thread.async { gate.pass() }
      thread.async { isDone.change { $0 = true } }
    }
    gate.open()
    #expect(try await eventually { isDone.value })
  }
}
