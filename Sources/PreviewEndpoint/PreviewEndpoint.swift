#if Endpoint
import Foundation
import Locking
import Logging
import NIOCore
import NIOPosix
import Previews
import StatusEndpoint

/// An HTTP server for requests of preview servers' clients, in front of a `PreviewService`.
///
/// One thread reads all requests and writes all answers. It reads only as much of a body as the service asks for. So it answers
/// `/health` at once, however many requests wait.
///
/// From the outside in: the `HTTPServer` accepts connections. ``RequestPace`` closes those whose client sends too slowly, and tells
/// when one has left. The ``PreviewResponder`` has the `PreviewDialects` understand a request, passes it on to the service with
/// its body (``HTTPBody``), and sends the answer.
///
/// *Concurrency*: every member may be called from any thread.
package final class PreviewEndpoint: Sendable {
  /// The address, with the actual port.
  package let address: StatusAddress
  private let server: HTTPServer
  private let socket: ListeningSocket
  private let connections: Connections

  /// Starts the server on a socket, which it closes.
  ///
  /// - Parameters:
  ///   - key: what clients must know; nil if anyone may ask.
  ///   - connections: the most clients at once.
  ///   - onAnswer: receives each answer, on the server's thread.
  /// - Throws: errors of NIO.
  package init(
    _ socket: ListeningSocket, _ service: PreviewService, key: String?, version: String, connections: Int,
    onAnswer: @escaping @Sendable (AnsweredRequest) -> Void
  ) throws {
    self.socket = socket
    address = socket.address
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let responder = PreviewResponder(
      service: service, dialects: PreviewDialects(key: key), version: version, executor: LoopExecutor(group.next()),
      onAnswer: onAnswer)
    let registry = Connections(capacity: connections)
    self.connections = registry
    server = try HTTPServer(
      socket, on: group,
      HTTPServer.Rules(headerBytes: 16 << 10, headerCount: 64, readsPerTurn: 1, keepsHalfClosed: false),
      registry, logger: Logger(label: "thumbjob.serve") { _ in SwiftLogNoOpLogHandler() },
      handlers: { [RequestPace(registry, hold: service.settings.hold)] },
      respond: { try await responder.respond(to: $0, $1, on: $2) })
  }

  /// Accepts no more connections, and ends those that are idle. Requests that are here are answered.
  package func stopListening() { server.quiesce() }

  /// Closes what is left. Takes at most about a second.
  package func close() {
    socket.file?.remove()
    server.stop()
  }

  /// Only removes the socket's file, for a thread that ends the process. Takes no lock and does not allocate.
  package func removeSocket() { socket.file?.remove() }

  /// The connections that are open: after ``stopListening()``, those whose answers are not sent.
  package var openConnections: Int { connections.count }
}

/// A request that was answered.
package struct AnsweredRequest: Sendable {
  package let id: String
  package let method: String
  /// Without parameters, which may have a key.
  package let path: String
  /// Nil if no dialect knows the request.
  package let dialect: String?
  package let client: String
  package let status: Int
  /// Why there is no preview.
  package let error: PreviewError?
  package let bytesReceived: Int
  package let bytesSent: Int
  package let time: Duration
  /// Whether the client has left before.
  package let isAbandoned: Bool
}
#endif
