import Foundation
import Locking
import NIOCore
import NIOPosix

/// Lets the event loop go round between answers, however many are asked for at once: after some milliseconds of answering
/// without a look at the sockets the rest waits, until the loop has looked at them.
///
/// Without it a client that sends a thousand requests in one go would keep the loop from all others until it is answered:
/// the loop looks at its sockets only when no task is left to run, and each answer is a task that makes the next.
///
/// *Concurrency*: used on the loop's thread, which it never blocks.
final class Turns: Sendable {
  private let rounds: Rounds
  /// A pipe from the loop to itself. What is written arrives with the loop's next look at its sockets, and not before; a
  /// task scheduled for later may come before, if the tasks in between take long.
  private let pipe: any Channel

  /// - Throws: what NIO throws where there is no pipe to be had.
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

  /// Waits for a turn, if others wait or the round is used up.
  func waitForTurn() async {
    await withCheckedContinuation { continuation in
      switch rounds.enter(continuation) {
      case .goOn: continuation.resume()
      case .wait(let isFirst): if isFirst { pipe.writeAndFlush(RoundStarter.byte, promise: nil) }
      }
    }
  }

  /// Answers, and counts how long that takes.
  func counting<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    let start = Self.now
    defer { rounds.count(Self.now - start) }
    return try await body()
  }

  /// The loop has just looked at its sockets: a round begins by itself.
  func didPollSockets() { rounds.renew() }

  /// The processor time of this thread, because others may have the processor in between.
  private static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

/// How much of a round is used up, and who waits for the next.
///
/// *Concurrency*: the lock guards all.
private final class Rounds: Sendable {
  enum Entry {
    case goOn
    /// - isFirst: a round has to be asked for.
    case wait(isFirst: Bool)
  }

  private struct State {
    /// First come, first served.
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// Time that answers have taken in this round.
    var spent = Duration.zero
    /// What an answer has taken lately.
    var usual = Duration.microseconds(100)
  }

  /// For answers, of each round.
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

  /// Lets as many go on as a round has time for.
  ///
  /// - Returns: whether others wait for the next round.
  func begin() -> Bool {
    let (going, isMore) = state.withLock { state in
      state.spent = .zero
      let count = max(1, Int(Self.share / max(state.usual, .microseconds(1))))
      let going = state.waiting.prefix(count)
      state.waiting.removeFirst(going.count)
      return (going, !state.waiting.isEmpty)
    }
    for continuation in going { continuation.resume() }
    return isMore
  }
}

/// Stands in the pipeline of the pipe, and begins a round when the byte that asks for one arrives.
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

/// Stands first in every connection's pipeline, where bytes come from the socket, and tells that the loop has looked at it.
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
