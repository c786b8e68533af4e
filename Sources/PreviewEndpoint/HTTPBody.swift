#if Endpoint
import HTTPTypes
import HummingbirdCore
import Locking
import NIOCore
import NIOHTTPTypes
import Previews

/// The body of an HTTP request.
///
/// *Concurrency*: one task reads it. The lock guards the count, which others read.
final class HTTPBody: PreviewBody, @unchecked Sendable {  // only the task that reads uses the iterator
  let length: Int?
  /// Whether the client waits for `100 Continue`.
  private var isAwaited: Bool
  private let channel: any Channel
  private var pieces: RequestBody.AsyncIterator
  private var isOver = false
  private let count = Locked(0)

  init(_ request: Request, on channel: any Channel) {
    length = request.headers[.contentLength].flatMap { Int($0) }
    isAwaited = request.headers[.expect] != nil
    self.channel = channel
    pieces = request.body.makeAsyncIterator()
  }

  /// The bytes so far.
  var received: Int { count.withLock { $0 } }

  func begin() async throws {
    guard isAwaited else { return }
    isAwaited = false
    do { try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue))).get() } catch {
      throw CancellationError()
    }
  }

  func next() async throws -> [UInt8]? {
    if isOver { return nil }
    // After an error, nothing more comes.
    isOver = true
    let piece: ByteBuffer?
    do { piece = try await pieces.next() } catch is SlowSender {
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
    isOver = false
    count.withLock { $0 += piece.readableBytes }
    return Array(buffer: piece)
  }

  /// Passes over what is still coming. A connection that is closed with bytes unread would lose the answer.
  func drain() async throws {
    if isAwaited { return }
    while try await next() != nil {}
  }
}
#endif
