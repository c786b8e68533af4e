#if Endpoint
import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP server on a listening socket, with one thread that answers all requests.
///
/// *Concurrency*: ``stop()`` from any thread, once.
final class StatusServer: Sendable {
  private let group: MultiThreadedEventLoopGroup
  private let listener: any Channel
  private let connections: Connections
  private let feed: EventFeed
  /// Entered for each connection; left when its task has ended.
  private let tasks: DispatchGroup

  /// How long each step of stopping may take: finishing answers, and closing connections.
  private static let timeout = DispatchTimeInterval.milliseconds(400)

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
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    connections = Connections(capacity: limits.connections)
    tasks = DispatchGroup()
    feed = responder.feed
    do {
      listener = try Self.listen(on: socket, responder, limits, logger, group, connections, tasks)
    } catch {
      try? group.syncShutdownGracefully()
      throw error
    }
    group.next().scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { _ in eachSecond() }
  }

  private static func listen(
    on socket: ListeningSocket, _ responder: Responder, _ limits: EndpointLimits, _ logger: Logger,
    _ group: MultiThreadedEventLoopGroup, _ connections: Connections, _ tasks: DispatchGroup
  ) throws -> any Channel {
    let executor = LoopExecutor(group.next())
    let turns: Turns
    do {
      turns = try Turns(group.next())
    } catch {
      close(socket.descriptor)  // the bootstrap, which closes it otherwise, does not have it yet
      throw error
    }
    let http = HTTP1Channel(
      responder: { try await responder.respond(to: $0, $1, on: $2, turns) },
      configuration: .init(
        additionalChannelHandlers: [ConnectionDeadline(connections, limits)],
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: limits.headerBytes, maxHeaderListSize: limits.headerBytes,
          maxHeaderFieldCount: limits.headerCount)))
    return try ServerBootstrap(group: group)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.maxMessagesPerRead, value: 4)
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 16 << 10, high: 32 << 10))
      .childChannelInitializer { channel in
        guard connections.admit(channel) else { return channel.close() }
        channel.closeFuture.whenComplete { _ in connections.forget(channel) }
        do {
          try channel.pipeline.syncOperations.addHandler(PollObserver(turns))
        } catch {
          return channel.eventLoop.makeFailedFuture(error)
        }
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
      .withBoundSocket(socket.descriptor).wait()
  }

  /// Accepts no more connections, finishes the answers in progress, and closes all connections, within about a second.
  func stop() {
    let hasStoppedListening = DispatchSemaphore(value: 0)
    listener.close().whenComplete { _ in hasStoppedListening.signal() }
    _ = hasStoppedListening.wait(timeout: .now() + Self.timeout)
    feed.close()
    connections.quiesce()
    if tasks.wait(timeout: .now() + Self.timeout) == .timedOut {
      connections.closeAll()
      // If a task does not end even then, its thread must keep running, or the task would never be released.
      guard tasks.wait(timeout: .now() + Self.timeout) == .success else { return }
    }
    let ended = DispatchSemaphore(value: 0)
    group.shutdownGracefully(queue: DispatchQueue(label: "thumbjob.status")) { _ in ended.signal() }
    _ = ended.wait(timeout: .now() + Self.timeout)
  }
}
#endif
