import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Locking

/// Those that trap do so in a process of their own.
@Suite(.timeLimit(.minutes(5))) struct ConfinedTests {
  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func theOwnerMayTouchItAtAnyTime() async throws {
    let queue = DispatchQueue(label: "owner")
    let inner = DispatchQueue(label: "inner", target: queue)
    try await onThread {
      let (own, ofQueue) = (Own(.firstThread), Own(.queue(queue)))
      for _ in 0..<3 { own.value.withValue { $0 += 1 } }
      #expect(own.value.withValue { $0 } == 3)
      for queue in [queue, inner] { queue.sync { ofQueue.value.withValue { $0 += 1 } } }
      #expect(queue.sync { ofQueue.value.withValue { $0 } } == 2)
    }
  }

  @Test func whatIsHandedOverHasANewOwner() async throws {
    let own = Own(.firstThread)
    try await onThread {
      own.value.withValue { $0 += 1 }
      own.value.handOver()
    }
    #expect(try await onThread { own.value.withValue { $0 } } == 1)
  }

  @Test func anotherThreadTrapsAndBothAreNamed() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      silenceBacktracer()
      let own = Own(.firstThread)
      await onNamedThread("owner") { touchFirst(own) }
      await onNamedThread("intruder") { touchLater(own) }
    }
    let report = text(result)
    #expect(report.contains("Confined<Int> (LockingTests/ConfinedTests.swift:"), "\(report)")
    let owner = try #require(report.range(of: "owner: thread owner"), "\(report)")
    #expect(report[..<owner.lowerBound].contains("is touched by thread intruder"), "\(report)")
    #if DEBUG
    #expect(report[..<owner.lowerBound].contains("touchLater"), "\(report)")
    #expect(report[owner.lowerBound...].contains("touchFirst"), "\(report)")
    #endif
  }

  @Test func anotherQueueTrapsAndBothAreNamed() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      silenceBacktracer()
      let own = Own(.queue(DispatchQueue(label: "its queue")))
      DispatchQueue(label: "another queue").sync { own.value.withValue { $0 += 1 } }
    }
    #expect(text(result).contains("is touched by queue another queue"), "\(text(result))")
    #expect(text(result).contains("owner: queue its queue"), "\(text(result))")
  }

  @Test func anotherOperationOnTheSameThreadTrapsAndBothAreNamed() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      silenceBacktracer()
      let own = Own(.firstOperation)
      CurrentOperation.with(1, "thumbnail a.jpg") {
        own.value.withValue { $0 += 1 }
        CurrentOperation.with(2, "inner") {}
        own.value.withValue { $0 += 1 }
      }
      CurrentOperation.with(3, "thumbnail b.jpg") { own.value.withValue { $0 += 1 } }
    }
    #expect(text(result).contains("is touched by operation #3 thumbnail b.jpg"), "\(text(result))")
    #expect(text(result).contains("owner: operation #1 thumbnail a.jpg"), "\(text(result))")
  }

  @Test func noOperationTraps() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      silenceBacktracer()
      Own(.firstOperation).value.withValue { $0 += 1 }
    }
    #expect(text(result).contains("is touched by no operation, on thread "), "\(text(result))")
  }

  @Test func anAccessWithinAnAccessTraps() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      silenceBacktracer()
      let own = Own(.firstThread)
      own.value.withValue { _ in own.value.withValue { $0 += 1 } }
    }
    #expect(text(result).contains("while another access to it is under way"), "\(text(result))")
  }
}

private final class Own: Sendable {
  let value: Confined<Int>

  init(_ owner: ConfinedOwner) { value = Confined(0, to: owner) }
}

@inline(never) private func touchFirst(_ own: Own) { own.value.withValue { $0 += 1 } }

@inline(never) private func touchLater(_ own: Own) { own.value.withValue { $0 += 1 } }
