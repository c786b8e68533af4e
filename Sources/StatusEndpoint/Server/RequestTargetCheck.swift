#if Endpoint
import NIOCore
import NIOHTTP1

/// Adds the host of an absolute URI to the Host headers, unless they name it already. The server above drops such a
/// host; with two Host headers, ``AccessRules`` refuses the request.
///
/// *Source*: RFC 9112, 3.2.2 (absolute-form).
///
/// *Concurrency*: on the event loop of its channel.
final class RequestTargetCheck: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data), let host = Self.host(of: head.uri),
      head.headers["Host"].map({ $0.lowercased() }) != [host]
    else { return context.fireChannelRead(data) }
    head.headers.add(name: "Host", value: host)
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  /// The authority of an absolute URI, in lower case; nil for a path.
  static func host(of uri: String) -> String? {
    guard let scheme = uri.range(of: "://"), !uri[..<scheme.lowerBound].contains("/") else { return nil }
    return uri[scheme.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
  }
}
#endif
