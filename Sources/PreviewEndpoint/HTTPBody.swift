#if Endpoint
import HTTPTypes
import HummingbirdCore
import Locking
import NIOCore
import NIOHTTPTypes
import Previews
import StatusEndpoint

/// The body of an HTTP request.
///
/// If the task that waits for a piece is cancelled, the next caller gets the piece. The read itself is never cancelled: after that,
/// NIO would read nothing more from the connection, and a client that still sends would not get its answer.
///
/// *Concurrency*: the task of an operation reads it, and afterwards the one that has sent the answer. The first may still be busy
/// then: it has been cancelled, and gets nothing more. The lock guards what they share.
final class HTTPBody: PreviewBody, @unchecked Sendable {  // only the task that pulls uses the iterator and `pieceBytes`
  private struct State {
    var count = 0
    /// Whether a piece is being pulled, or lies here.
    var isPulling = false
    var pulled: Result<ByteBuffer?, any Error>?
    /// Who waits for a piece, with its number.
    var waiter: (number: Int, continuation: CheckedContinuation<ByteBuffer?, any Error>)?
    var waiters = 0
    /// Whether the answer is sent.
    var isDraining = false
    /// Whether nothing more comes.
    var isOver = false
  }

  let length: Int?
  /// Whether the client waits for `100 Continue`.
  private var isAwaited: Bool
  private let channel: any Channel
  private let executor: LoopExecutor
  let pace: NIOLoopBound<RequestPace>
  /// The bytes of the last piece. Its reader has taken it when it asks for the next one.
  private var pieceBytes = 0
  private var pieces: RequestBody.AsyncIterator
  private let state = Locked(State())

  init(_ request: Request, on channel: any Channel, _ executor: LoopExecutor, _ pace: RequestPace) {
    // A length that does not fit into an `Int` is above every limit.
    length = request.headers[.contentLength].map { Int($0) ?? .max }
    isAwaited = request.headers[.expect] != nil
    (self.channel, self.executor) = (channel, executor)
    self.pace = NIOLoopBound(pace, eventLoop: channel.eventLoop)
    pieces = request.body.makeAsyncIterator()
  }

  /// The bytes so far.
  var received: Int { state.withLock { $0.count } }

  func begin() async throws {
    guard isAwaited else { return }
    isAwaited = false
    do { try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue))).get() } catch {
      throw CancellationError()
    }
  }

  func next() async throws -> [UInt8]? {
    let piece: ByteBuffer?
    do { piece = try await pull(drains: false) } catch is SlowSender {
      throw PreviewError(408, .body, "the picture comes too slowly")
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      throw PreviewError(400, .body, "the picture has not come whole")
    }
    guard let piece else {
      if let length, received < length { throw PreviewError(400, .body, "the picture has not come whole") }
      return nil
    }
    return Array(buffer: piece)
  }

  /// Passes over what is still coming. A connection that is closed with bytes unread would lose the answer.
  func drain() async throws {
    if isAwaited { return }
    let operation = state.withLock { state in
      state.isDraining = true
      return state.waiter.take()
    }
    operation?.continuation.resume(throwing: CancellationError())
    while try await pull(drains: true) != nil {}
  }

  /// The next piece; nil at the end, and after an error.
  private func pull(drains: Bool) async throws -> ByteBuffer? {
    let (number, begins) = state.withLock { state in
      state.waiters += 1
      guard !state.isOver, !state.isPulling, drains == state.isDraining else { return (state.waiters, false) }
      state.isPulling = true
      return (state.waiters, true)
    }
    if begins {
      Task(executorPreference: executor) { [self] in
        pace.value.take(pieceBytes)
        do {
          let piece = try await pieces.next()
          pieceBytes = piece?.readableBytes ?? 0
          came(.success(piece))
        } catch { came(.failure(error)) }
      }
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<ByteBuffer?, any Error>? = state.withLock { state in
          if Task.isCancelled || drains != state.isDraining { return .failure(CancellationError()) }
          if state.isOver { return .success(nil) }
          if let pulled = state.pulled.take() {
            state.isPulling = false
            return pulled
          }
          state.waiter = (number, continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiter?.number == number ? $0.waiter.take() : nil }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  private func came(_ result: Result<ByteBuffer?, any Error>) {
    let waiter: CheckedContinuation<ByteBuffer?, any Error>? = state.withLock { state in
      switch result {
      case .success(let piece?): state.count += piece.readableBytes
      case .success(nil), .failure: state.isOver = true
      }
      guard let waiter = state.waiter.take() else {
        // `isOver` tells of the end.
        state.pulled = state.isOver ? nil : result
        return nil
      }
      state.isPulling = false
      return waiter.continuation
    }
    waiter?.resume(with: result)
  }
}
#endif
