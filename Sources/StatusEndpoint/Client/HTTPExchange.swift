#if Endpoint
import Files
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// One HTTP/1.1 request and its answer, on its own connection, before a deadline.
struct HTTPExchange {
  private let address: StatusAddress
  private let token: AccessToken?
  private let deadline: NIODeadline

  /// The most bytes of an answer; a longer one is not from thumbjob.
  private static let longestAnswer = 16 << 20
  /// The thread of all exchanges. The first starts it, and it lasts as long as the process.
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  init(_ client: StatusClient) {
    (address, token, deadline) = (client.address, client.token, .now() + TimeAmount(client.timeout))
  }

  /// Blocks until the answer is complete, or the deadline has passed.
  ///
  /// - Returns: the HTTP status and the body.
  func ask(_ method: String, _ target: String, _ body: Data?) throws(StatusClientError) -> (status: Int, body: Data) {
    let body = body.map { ByteBuffer(bytes: $0) }
    let answer = Self.group.next().makePromise(of: NIOHTTPClientResponseFull.self)
    let timer = Self.group.next().scheduleTask(deadline: deadline) { answer.fail(timedOut) }
    let connection = connect(sending: head(HTTPMethod(rawValue: method), target, body), body, answer: answer)
    connection.whenFailure { answer.fail($0) }
    defer {
      timer.cancel()
      connection.whenSuccess { $0.close(promise: nil) }
    }
    do {
      let answer = try answer.futureResult.wait()
      return (Int(answer.head.status.code), Data(answer.body?.readableBytesView ?? ByteBufferView()))
    } catch {
      throw statusError(error)
    }
  }

  private func head(_ method: HTTPMethod, _ target: String, _ body: ByteBuffer?) -> HTTPRequestHead {
    let host = if case .tcp = address { "\(address)" } else { "localhost" }
    var head = HTTPRequestHead(version: .http1_1, method: method, uri: target)
    head.headers = ["Host": host, "Connection": "close"]
    if let token { head.headers.add(name: "Authorization", value: "Bearer \(token.text)") }
    if body != nil { head.headers.add(name: "Content-Type", value: "application/json") }
    if method != .GET { head.headers.add(name: "Content-Length", value: "\(body?.readableBytes ?? 0)") }
    return head
  }

  private func connect(
    sending head: HTTPRequestHead, _ body: ByteBuffer?, answer: EventLoopPromise<NIOHTTPClientResponseFull>
  ) -> EventLoopFuture<any Channel> {
    let bootstrap = ClientBootstrap(group: Self.group)
      .connectTimeout(deadline - .now())
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHTTPClientHandlers()
          try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: Self.longestAnswer))
          try pipeline.addHandler(ExchangeHandler(head, body, answer))
        }
      }
    switch address {
    case .off: return Self.group.next().makeFailedFuture(error(.notRunning, "the address off has no endpoint"))
    case .tcp(let host, let port): return bootstrap.connect(host: host, port: port)
    case .unix(let path):
      return bootstrap.connect(unixDomainSocketPath: path).flatMapError { [self] error in
        // The backlog of the socket is full. No event tells when it has room again.
        guard (error as? IOError)?.errnoCode == EAGAIN else { return Self.group.next().makeFailedFuture(error) }
        // A try at the deadline may come before the timer.
        guard .now() < deadline else { return Self.group.next().makeFailedFuture(timedOut) }
        return Self.group.next().scheduleTask(in: .milliseconds(10)) {}.futureResult
          .flatMap { connect(sending: head, body, answer: answer) }
      }
    }
  }

  // MARK: Errors

  private func statusError(_ error: any Error) -> StatusClientError {
    switch error {
    case let error as StatusClientError: error
    case let error as NIOConnectionError:
      (error.connectionErrors.last?.error ?? error.dnsAError).map(statusError) ?? self.error(.connection, "no address")
    case let error as IOError where [ECONNREFUSED, ENOENT].contains(error.errnoCode):
      self.error(.notRunning, "no process listens there")
    case let error as IOError where error.errnoCode == ETIMEDOUT: timedOut
    case let error as IOError: self.error(.connection, systemText(error.errnoCode))
    case let error as SocketAddressError.UnknownHost:
      self.error(.connection, "no such host: \(error.errorDescription)")
    case SocketAddressError.unixDomainSocketPathTooLong:
      self.error(.connection, "the path is longer than a socket may have")
    case ChannelError.connectTimeout: timedOut
    case ChannelError.eof: self.error(.connection, "hung up")
    case let error as NIOHTTPObjectAggregatorError where error == .frameTooLong:
      self.error(.garbled, "the answer does not end")
    case HTTPParserError.invalidEOFState: self.error(.garbled, "its answer is cut off")
    default: self.error(.garbled, "its answer is not one of thumbjob")
    }
  }

  private var timedOut: StatusClientError { error(.timedOut, "did not answer in time") }

  private func error(_ kind: StatusClientError.Kind, _ reason: String) -> StatusClientError {
    StatusClientError(kind, address, reason)
  }
}

/// Sends the request as soon as it is connected, and passes the answer or the error to the promise.
private final class ExchangeHandler: ChannelInboundHandler {
  typealias InboundIn = NIOHTTPClientResponseFull
  typealias OutboundOut = HTTPClientRequestPart

  private let head: HTTPRequestHead
  private let body: ByteBuffer?
  private let answer: EventLoopPromise<NIOHTTPClientResponseFull>

  init(_ head: HTTPRequestHead, _ body: ByteBuffer?, _ answer: EventLoopPromise<NIOHTTPClientResponseFull>) {
    (self.head, self.body, self.answer) = (head, body, answer)
  }

  func channelActive(context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if let body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { answer.succeed(unwrapInboundIn(data)) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A reset may follow a complete answer; `channelInactive` follows it.
    if (error as? IOError)?.errnoCode != ECONNRESET { answer.fail(error) }
  }

  /// Without effect after the answer or an error.
  func channelInactive(context: ChannelHandlerContext) { answer.fail(ChannelError.eof) }
}
#endif
