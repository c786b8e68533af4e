#if Endpoint
import Logging
import NIOCore
import NIOPosix

/// The HTTP server of a ``StatusEndpoint``.
///
/// *Concurrency*: ``stop()`` from any thread, once.
final class StatusServer: Sendable {
  private let server: HTTPServer
  private let feed: EventFeed

  /// Starts the server.
  ///
  /// - Parameters:
  ///   - socket: the server closes it.
  ///   - eachSecond: called on the server's thread, each second.
  /// - Throws: errors of NIO; the socket is closed then.
  init(
    _ socket: ListeningSocket, _ responder: Responder, limits: EndpointLimits, logger: Logger,
    eachSecond: @escaping @Sendable () -> Void
  ) throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let connections = Connections(capacity: limits.connections)
    feed = responder.feed
    let turns: Turns
    do {
      turns = try Turns(group.next())
    } catch {
      socket.close()
      try? group.syncShutdownGracefully()
      throw error
    }
    server = try HTTPServer(
      socket, on: group,
      HTTPServer.Rules(
        headerBytes: limits.headerBytes, headerCount: limits.headerCount, readsPerTurn: 4, keepsHalfClosed: true),
      connections, logger: logger,
      prepare: { channel in try channel.pipeline.syncOperations.addHandler(PollObserver(turns)) },
      handlers: { [ConnectionDeadline(connections, limits)] },
      respond: { try await responder.respond(to: $0, $1, on: $2, turns) })
    group.next().scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { _ in eachSecond() }
  }

  /// Accepts no more connections, finishes the answers in progress, and closes all connections, within about a second.
  func stop() { server.stop { feed.close() } }
}
#endif
