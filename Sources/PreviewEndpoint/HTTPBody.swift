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
/// Who waits for a piece may be cancelled; the piece is there for the next one who asks. A cancelled read of the connection itself
/// would end it, and with it the answer to a client that still sends.
///
/// *Concurrency*: one task at a time reads it. The lock guards what the tasks share.
final class HTTPBody: PreviewBody, @unchecked Sendable {  // only the task that pulls uses the iterator
  private struct State {
    var count = 0
    /// Whether a piece is being pulled, or lies here.
    var isPulling = false
    var pulled: Result<ByteBuffer?, any Error>?
    var waiter: CheckedContinuation<ByteBuffer?, any Error>?
    /// Whether nothing more comes.
    var isOver = false
  }

  let length: Int?
  /// Whether the client waits for `100 Continue`.
  private var isAwaited: Bool
  private let channel: any Channel
  private let executor: LoopExecutor
  private var pieces: RequestBody.AsyncIterator
  private let state = Locked(State())

  init(_ request: Request, on channel: any Channel, _ executor: LoopExecutor) {
    // A length that no number can tell is above every limit.
    length = request.headers[.contentLength].map { Int($0) ?? .max }
    isAwaited = request.headers[.expect] != nil
    (self.channel, self.executor) = (channel, executor)
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
    do { piece = try await pull() } catch is SlowSender {
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
    while try await pull() != nil {}
  }

  /// The next piece; nil at the end, and after an error.
  private func pull() async throws -> ByteBuffer? {
    let begins = state.withLock { state in
      if state.isOver || state.isPulling { return false }
      state.isPulling = true
      return true
    }
    if begins {
      Task(executorPreference: executor) { [self] in
        do { came(.success(try await pieces.next())) } catch { came(.failure(error)) }
      }
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<ByteBuffer?, any Error>? = state.withLock { state in
          if state.isOver { return .success(nil) }
          if let pulled = state.pulled.take() {
            state.isPulling = false
            return pulled
          }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiter = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      state.withLock { $0.waiter.take() }?.resume(throwing: CancellationError())
    }
  }

  private func came(_ result: Result<ByteBuffer?, any Error>) {
    let waiter = state.withLock { state in
      switch result {
      case .success(let piece?): state.count += piece.readableBytes
      case .success(nil), .failure: state.isOver = true
      }
      guard let waiter = state.waiter.take() else {
        // An end needs no one to hear of it.
        state.pulled = state.isOver ? nil : result
        return CheckedContinuation<ByteBuffer?, any Error>?.none
      }
      state.isPulling = false
      return waiter
    }
    waiter?.resume(with: result)
  }
}
#endif
