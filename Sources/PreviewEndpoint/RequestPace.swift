#if Endpoint
import NIOCore
import NIOHTTPTypes
import StatusEndpoint

/// A client sends its request too slowly.
struct SlowSender: Error {}

/// Reads no more of a body than is wanted, ends requests whose client takes too long to send them or to read the answer, and tells
/// when a client has left.
///
/// While ``windowBytes`` of a body lie here untaken, it reads nothing, and the client waits.
///
/// A body must come so fast that it is whole within the time that a request may wait, and at least with ``leastBytes`` in each
/// ``bodyTime``. The time in which the server does not ask for more does not count.
///
/// *Concurrency*: on the event loop of its channel.
final class RequestPace: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private enum State {
    /// No request has begun.
    case idle
    /// A body is coming.
    case body
    /// The answer was sent before the body, which is passed over.
    case passing
    /// The request is complete, and not answered.
    case answering
  }

  /// How long a new connection may take for a head, and how long one may be idle.
  private static let headTime = TimeAmount.seconds(10)
  private static let idleTime = TimeAmount.seconds(60)
  /// How long a client may go on to send a body after its answer.
  private static let passingTime = TimeAmount.seconds(60)
  /// How long a client may take no part of an answer.
  private static let stalledTime = TimeAmount.seconds(20)
  private static let bodyTime = TimeAmount.seconds(10)
  private static let leastBytes = 16 << 10
  private static let windowBytes = 64 << 10

  private let connections: Connections
  /// How long a request may wait.
  private let hold: TimeAmount
  private var state = State.idle
  /// Requests that have begun and are not answered. There may be several, of which all but the last are complete.
  private var unanswered = 0
  private var timer: Scheduled<Void>?
  private var stalledTimer: Scheduled<Void>?
  /// Of the body, since the time began anew, and how many must come in that time.
  private var count = 0
  private var least = RequestPace.leastBytes
  /// What is left of the time for the next bytes, while the server asks for none.
  private var left = RequestPace.bodyTime
  private var since = NIODeadline.now()
  private var isAsking = false
  /// Whether the connection ends with its present answer.
  private var isLast = false
  /// The part of a body that came with one read of the connection. A client may send each byte as a chunk, and each piece that is
  /// passed on takes time.
  private var gathered: ByteBuffer?
  /// The bytes of the body that were passed on and are not taken yet.
  private var untaken = 0
  /// Whether a read waits until some of them are taken.
  private var holdsRead = false
  private var context: ChannelHandlerContext?
  /// Called once if the client leaves.
  var onClose: (() -> Void)?

  init(_ connections: Connections, hold: Duration) {
    self.connections = connections
    self.hold = .nanoseconds(Int64(min(hold / .nanoseconds(1), 1e18)))
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    limit(context, to: Self.headTime)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    timer?.cancel()
    stalledTimer?.cancel()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    stalledTimer?.cancel()
    let close = onClose
    onClose = nil
    close?()
    context.fireChannelInactive()
  }

  private func limit(_ context: ChannelHandlerContext, to time: TimeAmount) {
    timer?.cancel()
    let channel = context.channel
    timer = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }

  // MARK: Bodies

  private func beginWaiting(_ context: ChannelHandlerContext) {
    guard state == .body, !isAsking else { return }
    isAsking = true
    since = .now()
    timer?.cancel()
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: left) { context.fireErrorCaught(SlowSender()) }
  }

  private func endWaiting() {
    guard isAsking else { return }
    isAsking = false
    timer?.cancel()
    left = max(.nanoseconds(0), left - (.now() - since))
  }

  func read(context: ChannelHandlerContext) {
    holdsRead = untaken >= Self.windowBytes
    if holdsRead { return }
    beginWaiting(context)
    context.read()
  }

  /// Someone has taken bytes of the body.
  func take(_ bytes: Int) {
    untaken = max(0, untaken - bytes)
    if holdsRead, let context { read(context: context) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    pass(context)
    context.fireChannelReadComplete()
  }

  /// Passes on what was gathered of a body.
  private func pass(_ context: ChannelHandlerContext) {
    guard let bytes = gathered.take() else { return }
    untaken += bytes.readableBytes
    context.fireChannelRead(wrapInboundOut(.body(bytes)))
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    note(part, context)
    guard case .body(var bytes) = part else {
      pass(context)
      return context.fireChannelRead(data)
    }
    if gathered == nil { gathered = bytes } else { gathered?.writeBuffer(&bytes) }
  }

  private func note(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
    switch part {
    case .head(let head):
      timer?.cancel()
      unanswered += 1
      (state, count, left, isAsking) = (.body, 0, Self.bodyTime, false)
      let length = head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
      least = max(
        Self.leastBytes, Int(Double(length) * min(1, Double(Self.bodyTime.nanoseconds) / Double(hold.nanoseconds))))
      connections.update(context.channel, isAsking: false)
    case .body(let bytes) where state == .body:
      endWaiting()
      count += bytes.readableBytes
      if count >= least { (count, left) = (0, Self.bodyTime) }
    case .body: break
    case .end where state == .body:
      endWaiting()
      timer?.cancel()
      state = .answering
    case .end:
      state = .idle
      becomeIdle(context)
    }
  }

  private func becomeIdle(_ context: ChannelHandlerContext) {
    limit(context, to: Self.idleTime)
    connections.update(context.channel, isAsking: true)
  }

  // MARK: Answers

  /// Ends the connection with its present answer.
  func closeAfterAnswer() { isLast = true }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var head) where head.status.code >= 200:
      if state == .answering { limit(context, to: hold) }
      if isLast { head.headerFields[.connection] = "close" }
      return context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .head, .body: return context.write(data, promise: promise)
    case .end: break
    }
    onClose = nil
    unanswered -= 1
    let isSent = promise ?? context.eventLoop.makePromise()
    let context = NIOLoopBound(context, eventLoop: context.eventLoop)
    let pace = NIOLoopBound(self, eventLoop: context.value.eventLoop)
    isSent.futureResult.whenComplete { _ in pace.value.wasSent(context.value) }
    context.value.write(data, promise: isSent)
  }

  /// An answer is in the hands of the system.
  private func wasSent(_ context: ChannelHandlerContext) {
    guard unanswered == 0 else { return }
    if isLast { return context.close(promise: nil) }
    // What still comes is passed over at once.
    take(untaken)
    switch state {
    case .body:
      endWaiting()
      state = .passing
      limit(context, to: Self.passingTime)
    case .answering:
      state = .idle
      becomeIdle(context)
    case .idle, .passing: break
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    stalledTimer?.cancel()
    let channel = context.channel
    stalledTimer =
      channel.isWritable
      ? nil : context.eventLoop.scheduleTask(in: Self.stalledTime) { channel.close(promise: nil) }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // The handlers above would drop what is not sent yet.
    guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
    isLast = true
    if unanswered == 0 { context.close(promise: nil) }
  }
}
#endif
