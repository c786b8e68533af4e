import Foundation
import TestSupport

/// A clock that stands still until a test moves it.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    func duration(to other: Instant) -> Duration { other.offset - offset }

    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var last = 0
    var sleepers: [Int: (until: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
  }

  private let state = LockedBox(State())

  var now: Instant { state.value.now }
  var minimumResolution: Duration { .nanoseconds(1) }
  /// How many tasks sleep.
  var sleepers: Int { state.value.sleepers.count }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.change { state in
      state.last += 1
      return state.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        state.change { $0.sleepers[number] = (deadline, continuation) }
        if Task.isCancelled { wake(number) }
      }
    } onCancel: {
      wake(number)
    }
  }

  private func wake(_ number: Int) {
    state.change { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(throwing: CancellationError())
  }

  func advance(by duration: Duration) {
    let woken = state.change { state in
      state.now = state.now.advanced(by: duration)
      let woken = state.sleepers.filter { $0.value.until <= state.now }
      for number in woken.keys { state.sleepers[number] = nil }
      return woken.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }
}
