#if Endpoint
import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 server on a listening socket, with one thread that does everything: it reads requests, runs the tasks that answer
/// them, and writes the answers.
///
/// *Concurrency*: ``quiesce()`` and ``stop(_:)`` from any thread, ``stop(_:)`` once.
package final class HTTPServer: Sendable {
  /// How connections are read.
  package struct Rules: Sendable {
    /// The most bytes of all headers of a request.
    var headerBytes: Int
    var headerCount: Int
    /// How often a connection is read before another one has its turn. Each time, up to 64 KiB are read.
    var readsPerTurn: Int
    /// Whether a client that sends nothing more still gets its answer. Otherwise it has left.
    var keepsHalfClosed: Bool

    package init(headerBytes: Int, headerCount: Int, readsPerTurn: Int, keepsHalfClosed: Bool) {
      (self.headerBytes, self.headerCount) = (headerBytes, headerCount)
      (self.readsPerTurn, self.keepsHalfClosed) = (readsPerTurn, keepsHalfClosed)
    }
  }

  private let group: MultiThreadedEventLoopGroup
  private let listener: any Channel
  private let connections: Connections
  /// Entered for each connection; left when its task has ended.
  private let tasks: DispatchGroup

  /// How long each step of stopping may take: finishing answers, and closing connections.
  private static let timeout = DispatchTimeInterval.milliseconds(400)

  /// Starts the server.
  ///
  /// - Parameters:
  ///   - socket: the server closes it, also if it cannot start.
  ///   - group: has one thread. The server ends it.
  ///   - connections: the open ones, up to its limit.
  ///   - prepare: adds the first handlers of a connection, which see bytes.
  ///   - handlers: those that see requests and answers.
  ///   - respond: answers a request.
  /// - Throws: errors of NIO.
  package init(
    _ socket: ListeningSocket, on group: MultiThreadedEventLoopGroup, _ rules: Rules, _ connections: Connections,
    logger: Logger, prepare: @escaping @Sendable (any Channel) throws -> Void = { _ in },
    handlers: @escaping @Sendable () -> [any RemovableChannelHandler],
    respond: @escaping HTTP1Channel.Responder
  ) throws {
    (self.group, self.connections) = (group, connections)
    let tasks = DispatchGroup()
    self.tasks = tasks
    let executor = LoopExecutor(group.next())
    let http = HTTP1Channel(
      responder: respond,
      configuration: .init(
        additionalChannelHandlers: handlers(),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: rules.headerBytes, maxHeaderListSize: rules.headerBytes,
          maxHeaderFieldCount: rules.headerCount)))
    let bootstrap = ServerBootstrap(group: group)
      .childChannelOption(.allowRemoteHalfClosure, value: rules.keepsHalfClosed)
      .childChannelOption(.maxMessagesPerRead, value: UInt(rules.readsPerTurn))
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 16 << 10, high: 32 << 10))
      .childChannelInitializer { channel in
        guard connections.admit(channel) else { return channel.close() }
        channel.closeFuture.whenComplete { _ in connections.forget(channel) }
        do { try prepare(channel) } catch { return channel.eventLoop.makeFailedFuture(error) }
        return http.setup(channel: channel, logger: logger).flatMapThrowing { value in
          let pipeline = channel.pipeline.syncOperations
          let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
          try pipeline.addHandlers(LastRequest(), RequestTargetCheck(), position: .after(decoder))
          tasks.enter()
          Task(executorPreference: executor) {
            await http.handle(value: value, logger: logger)
            tasks.leave()
          }
        }
      }
    do { listener = try bootstrap.withBoundSocket(socket.descriptor).wait() } catch {
      try? group.syncShutdownGracefully()
      throw error
    }
  }

  /// Accepts no more connections, closes idle ones now and the others after their answers.
  package func quiesce() {
    stopListening()
    connections.quiesce()
  }

  private func stopListening() {
    let hasStopped = DispatchSemaphore(value: 0)
    listener.close().whenComplete { _ in hasStopped.signal() }
    _ = hasStopped.wait(timeout: .now() + Self.timeout)
  }

  /// Accepts no more connections, finishes the answers in progress, and closes all connections, within about a second.
  ///
  /// - Parameter end: ends answers that have no end of their own.
  package func stop(_ end: () -> Void = {}) {
    stopListening()
    end()
    connections.quiesce()
    if tasks.wait(timeout: .now() + Self.timeout) == .timedOut {
      connections.closeAll()
      // If a task does not end even then, its thread must keep running, or the task would never be released.
      guard tasks.wait(timeout: .now() + Self.timeout) == .success else { return }
    }
    let ended = DispatchSemaphore(value: 0)
    group.shutdownGracefully(queue: DispatchQueue(label: "thumbjob.http")) { _ in ended.signal() }
    _ = ended.wait(timeout: .now() + Self.timeout)
  }
}
#endif
