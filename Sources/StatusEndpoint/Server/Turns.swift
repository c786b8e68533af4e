#if Endpoint
import DequeModule
import Foundation
import Locking
import NIOCore
import NIOPosix

/// Limits how long the event loop answers requests before it polls its sockets again: after some milliseconds, the
/// remaining requests wait for the next poll.
///
/// Without this limit, a client that sends a thousand requests at once would block all others: the loop polls its
/// sockets only when no task is left to run, and each answer is a task that starts the next.
///
/// *Concurrency*: used on the loop's thread, which it never blocks.
final class Turns: Sendable {
  private let rounds: Rounds
  /// A pipe from the loop to itself. A byte written to it arrives at the next poll and not before; a scheduled task
  /// could run earlier, if the tasks in between take long.
  private let pipe: any Channel

  /// - Throws: errors of the pipe.
  init(_ loop: any EventLoop) throws {
    let rounds = Rounds()
    var ends: [CInt] = [-1, -1]
    guard Foundation.pipe(&ends) == 0 else { throw IOError(errnoCode: errno, reason: "pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    pipe = try NIOPipeBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(RoundStarter(rounds))
        }
      }
      .takingOwnershipOfDescriptors(input: ends[0], output: ends[1]).wait()
    self.rounds = rounds
  }

  /// Suspends if others wait already or the time of this round is used up.
  func waitForTurn() async {
    await withCheckedContinuation { continuation in
      switch rounds.enter(continuation) {
      case .goOn: continuation.resume()
      case .wait(let isFirst): if isFirst { pipe.writeAndFlush(RoundStarter.byte, promise: nil) }
      }
    }
  }

  /// Runs `body`, and counts its processor time towards the round.
  func counting<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    let start = Self.now
    defer { rounds.count(Self.now - start) }
    return try await body()
  }

  /// Starts a new round, because the loop has just polled its sockets.
  func didPollSockets() { rounds.renew() }

  /// The processor time of this thread; wall time would include the time of other threads.
  private static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

/// The time used of the current round, and the requests that wait for the next.
///
/// *Concurrency*: the lock guards all state.
private final class Rounds: Sendable {
  enum Entry {
    case goOn
    /// - isFirst: true if the caller must request the next round.
    case wait(isFirst: Bool)
  }

  private struct State {
    /// First come, first served.
    var waiting: Deque<CheckedContinuation<Void, Never>> = []
    /// The time that answers took in this round.
    var spent = Duration.zero
    /// The recent average time of an answer.
    var usual = Duration.microseconds(100)
  }

  /// The time for answers in each round.
  private static let share = Duration.milliseconds(10)

  private let state = Locked(State())

  func enter(_ continuation: CheckedContinuation<Void, Never>) -> Entry {
    state.withLock { state in
      if state.waiting.isEmpty, state.spent < Self.share { return .goOn }
      state.waiting.append(continuation)
      return .wait(isFirst: state.waiting.count == 1)
    }
  }

  func count(_ duration: Duration) {
    state.withLock { state in
      state.spent += duration
      state.usual = (state.usual * 7 + duration) / 8
    }
  }

  func renew() { state.withLock { $0.spent = .zero } }

  /// Starts a round: resumes as many requests as it has time for.
  ///
  /// - Returns: whether others wait for the next round.
  func begin() -> Bool {
    let (going, isMore) = state.withLock { state in
      state.spent = .zero
      let count = max(1, Int(Self.share / max(state.usual, .microseconds(1))))
      // A copy, because a slice would share the storage and make the removal copy all of it.
      let going = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(going.count)
      return (going, !state.waiting.isEmpty)
    }
    for continuation in going { continuation.resume() }
    return isMore
  }
}

/// The pipe's channel handler: starts a round when the byte that requests one arrives.
private final class RoundStarter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  static let byte = ByteBuffer(bytes: [1])

  private let rounds: Rounds

  init(_ rounds: Rounds) { self.rounds = rounds }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if rounds.begin() { context.writeAndFlush(wrapOutboundOut(Self.byte), promise: nil) }
  }
}

/// The first channel handler of every connection: reports that the loop has polled the sockets.
final class PollObserver: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let turns: Turns

  init(_ turns: Turns) { self.turns = turns }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    turns.didPollSockets()
    context.fireChannelRead(data)
  }
}
#endif
