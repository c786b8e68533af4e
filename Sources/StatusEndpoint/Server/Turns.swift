import Foundation
import Locking
import NIOCore

/// Lets the event loop go round between answers, however many are asked for at once: after some milliseconds of answering
/// without a look at the sockets the rest waits, until connections have been opened and closed and others been heard.
///
/// Without it whoever sends a thousand requests in one go would keep the loop from everything else until all are answered.
///
/// *Concurrency*: the lock guards all; used on the loop's thread, which it never blocks.
final class Turns: Sendable {
  private struct State {
    /// Who waits for a turn, first come, first served.
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// Time that answers have taken in this round.
    var spent = Duration.zero
    /// What an answer has taken lately.
    var usual = Duration.microseconds(100)
    var isRoundComing = false
  }

  /// For answers, of each round; the thread's own time, because others may have the processor in between.
  private static let share = Duration.milliseconds(10)
  /// Between two rounds: enough to let the loop look at its sockets.
  private static let pause = TimeAmount.microseconds(200)

  private let state = Locked(State())
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  /// Waits for a turn, if others wait or the round is used up.
  func take() async {
    await withCheckedContinuation { continuation in
      let mayGo = state.withLock { state in
        if state.waiting.isEmpty, state.spent < Self.share { return true }
        state.waiting.append(continuation)
        return false
      }
      if mayGo { continuation.resume() } else { planRound() }
    }
  }

  /// Answers, and counts how long that takes.
  func counting<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    let start = Self.now
    defer {
      let duration = Self.now - start
      state.withLock { state in
        state.spent += duration
        state.usual = (state.usual * 7 + duration) / 8
      }
    }
    return try await body()
  }

  /// The loop has just looked at its sockets: a round begins by itself.
  func looked() { state.withLock { $0.spent = .zero } }

  /// The processor time of this thread.
  private static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  private func planRound() {
    let isFirst = state.withLock { state in
      defer { state.isRoundComing = true }
      return !state.isRoundComing
    }
    if isFirst { loop.scheduleTask(in: Self.pause) { self.beginRound() } }
  }

  private func beginRound() {
    let (going, isMore) = state.withLock { state in
      state.isRoundComing = false
      state.spent = .zero
      let count = max(1, Int(Self.share / max(state.usual, .microseconds(1))))
      let going = state.waiting.prefix(count)
      state.waiting.removeFirst(going.count)
      return (going, !state.waiting.isEmpty)
    }
    for continuation in going { continuation.resume() }
    if isMore { planRound() }
  }
}

/// Stands first in every connection's pipeline, where bytes come from the socket, and tells that the loop has looked at it.
final class TurnKeeper: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let turns: Turns

  init(_ turns: Turns) { self.turns = turns }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    turns.looked()
    context.fireChannelRead(data)
  }
}
