#if Endpoint
import NIOCore
import NIOHTTP1

/// Adds the host of an absolute URI to the Host headers, unless they name it already. The server above drops such a
/// host; with two Host headers, ``AccessRules`` refuses the request. A request of HTTP/1.1 without any host gets an empty one, so
/// that it can be told from one of HTTP/1.0.
///
/// *Source*: RFC 9112, 3.2 and 3.2.2 (absolute-form).
///
/// *Concurrency*: on the event loop of its channel.
final class RequestTargetCheck: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    let given = head.headers["Host"].map { $0.lowercased() }
    if let host = Self.host(of: head.uri) {
      if given != [host] { head.headers.add(name: "Host", value: host) }
    } else if given.isEmpty, head.version != .http1_0 {
      head.headers.add(name: "Host", value: "")
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  /// The authority of an absolute URI, in lower case; nil for a path.
  static func host(of uri: String) -> String? {
    guard let scheme = uri.range(of: "://"), !uri[..<scheme.lowerBound].contains("/") else { return nil }
    return uri[scheme.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
  }
}
#endif
