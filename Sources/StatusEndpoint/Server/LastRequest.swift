#if Endpoint
import DequeModule
import NIOCore
import NIOHTTP1

/// Closes a connection after the answer to a request that has to be its last one, and says so in the answer. The server above
/// knows the word `close` only, and frames answers as for HTTP/1.1.
///
/// The last one is a request that says so, one of HTTP/1.0, and one that expects `100 Continue`: if it is answered before its
/// body has come, that body may still come or not. Only HTTP/1.1 has expectations and chunks. After `Upgrade` or CONNECT,
/// NIO's parser stops for good, although this server speaks HTTP only.
///
/// *Source*: RFC 9112, 9.3, 9.6 and 6.1; RFC 9110, 10.1.1 and 9.3.2.
///
/// *Concurrency*: on the event loop of its channel.
final class LastRequest: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private struct Request {
    let isLast, isOld, isHead: Bool
  }

  /// The requests that are not answered yet, oldest first.
  private var requests: Deque<Request> = []
  /// Whether the answer that is written has no body, although its header does not tell.
  private var isCut = false
  /// Whether the end of the last request has not come.
  private var isReading = false
  /// Whether an answer is dropped, because its request has one already.
  private var isDropping = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data) else {
      if case .end = unwrapInboundIn(data) { isReading = false }
      return context.fireChannelRead(data)
    }
    isReading = true
    let isOld = (head.version.major, head.version.minor) < (1, 1)
    if isOld { head.headers.remove(name: "Expect") }
    let isLast =
      isOld || !head.isKeepAlive || head.headers.contains(name: "Expect") || head.headers.contains(name: "Upgrade")
      || head.method == .CONNECT
    if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
    requests.append(Request(isLast: isLast, isOld: isOld, isHead: head.method == .HEAD))
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var head):
      guard head.status.code >= 200 else { return context.write(data, promise: promise) }
      guard let request = requests.popFirst() else {
        // The answer to what could not be read: a request, or the rest of one that was answered before it had come.
        guard isReading else { return context.write(data, promise: promise) }
        isDropping = true
        promise?.succeed()
        return context.close(promise: nil)
      }
      let isFramed = head.headers.contains(name: "Content-Length")
      isCut = request.isHead && !isFramed
      if request.isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
      // Its end is that of the connection.
      if request.isOld, !isFramed { head.version = .http1_0 }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body where isDropping, .end where isDropping: promise?.succeed()
    case .end where isCut:
      // Without the last chunk, which would be taken for the next answer.
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: promise)
    case .body, .end: context.write(data, promise: promise)
    }
  }
}
#endif
