#if Endpoint
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client takes too long to send a whole request, even byte by byte, or to read an answer.
///
/// *Concurrency*: on the event loop of its channel.
final class ConnectionDeadline: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// How long a connection may stay open after one side has closed it.
  private static let leaving = TimeAmount.seconds(2)

  private let connections: Connections
  private let requestTime: TimeAmount
  private let stalledTime: TimeAmount
  /// Complete requests that are not answered yet; −1 if an answer came before the end of its request.
  private var unanswered = 0
  private var requestTimer: Scheduled<Void>?
  private var stalledTimer: Scheduled<Void>?

  init(_ connections: Connections, _ limits: EndpointLimits) {
    self.connections = connections
    requestTime = .seconds(Int64(limits.requestSeconds))
    stalledTime = .seconds(Int64(limits.stalledSeconds))
  }

  private func expectRequest(_ context: ChannelHandlerContext, within time: TimeAmount) {
    requestTimer?.cancel()
    requestTimer = Self.close(context, in: time)
  }

  private static func close(_ context: ChannelHandlerContext, in time: TimeAmount) -> Scheduled<Void> {
    let channel = context.channel
    return context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }

  func handlerAdded(context: ChannelHandlerContext) { expectRequest(context, within: requestTime) }

  func handlerRemoved(context: ChannelHandlerContext) {
    requestTimer?.cancel()
    stalledTimer?.cancel()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .end = unwrapInboundIn(data) {
      unanswered += 1
      if unanswered > 0 {
        requestTimer?.cancel()
        connections.update(context.channel, isAsking: false)
      }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      unanswered -= 1
      if unanswered <= 0 {
        expectRequest(context, within: requestTime)
        connections.update(context.channel, isAsking: true)
      }
    }
    context.write(data, promise: promise)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    stalledTimer?.cancel()
    stalledTimer = context.channel.isWritable ? nil : Self.close(context, in: stalledTime)
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? ChannelEvent, event == .inputClosed { expectRequest(context, within: Self.leaving) }
    context.fireUserInboundEventTriggered(event)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode == .output { expectRequest(context, within: Self.leaving) }
    context.close(mode: mode, promise: promise)
  }
}
#endif
