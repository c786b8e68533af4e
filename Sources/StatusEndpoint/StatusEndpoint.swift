import Foundation
import Locking
import Logging

/// Answers, over HTTP on a socket, what a run is doing, and passes on what somebody wants done to it.
///
/// ```swift
/// let endpoint = try StatusEndpoint.open(address, dataSource: run, control: run, feed: feed)
/// defer { endpoint?.close() }
/// ```
///
/// It has one thread, which looks at the run once a second while nobody asks, and never waits for the pools that work is
/// done on.
///
/// It works until it is closed, whether or not anybody holds it.
///
/// *Concurrency*: from any thread.
public final class StatusEndpoint: Sendable {
  /// With the real port.
  public let address: StatusAddress
  /// What changes have to be asked with over TCP.
  public let token: AccessToken
  private let file: SocketFile?
  /// Guards whether it has been stopped: nil then.
  private let server: Locked<StatusServer?>

  private init(_ socket: ListeningSocket, _ server: StatusServer, _ token: AccessToken) {
    (address, file, self.token) = (socket.address, socket.file, token)
    self.server = Locked(server)
  }

  /// Begins to answer; returns once it does.
  ///
  /// - Parameters:
  ///   - address: nil for a socket in the user's runtime folder.
  ///   - feed: where state changes are posted; closed with the endpoint.
  ///   - environment: `XDG_RUNTIME_DIR` and `TMPDIR` say where the runtime folder is.
  ///   - log: told, from the endpoint's thread, what goes wrong without being anybody's request.
  /// - Returns: nil where the address is `off`.
  /// - Throws: ``StatusEndpointError``
  public static func open(
    _ address: StatusAddress?, dataSource: any RunDataSource, control: any RunControl, feed: EventFeed = EventFeed(),
    thumbnails: LatestThumbnails = LatestThumbnails(), times: RunTimes = RunTimes(), token: AccessToken = AccessToken(),
    environment: [String: String] = ProcessInfo.processInfo.environment,
    log: (@Sendable (String) -> Void)? = nil
  ) throws(StatusEndpointError) -> StatusEndpoint? {
    try open(
      address, dataSource: dataSource, control: control, feed: feed, thumbnails: thumbnails, times: times, token: token,
      environment: environment, limits: EndpointLimits(), log: log)
  }

  static func open(
    _ address: StatusAddress?, dataSource: any RunDataSource, control: any RunControl, feed: EventFeed,
    thumbnails: LatestThumbnails, times: RunTimes, token: AccessToken, environment: [String: String],
    limits: EndpointLimits, log: (@Sendable (String) -> Void)? = nil
  ) throws(StatusEndpointError) -> StatusEndpoint? {
    let socket: ListeningSocket
    let host: String
    switch address {
    case .off: return nil
    case .unix(let path): (socket, host) = (try .unix(path), "localhost")
    case .tcp(let name, let port): (socket, host) = (try .tcp(name, port), name)
    case nil: (socket, host) = (try .inRuntimeFolder(environment), "localhost")
    }
    let reach: AccessRules.Reach =
      if socket.file != nil { .file } else if socket.isLocal { .machine } else {
        .network(isWildcard: socket.isWildcard)
      }
    let history = RunHistory()
    let routes = EndpointRoutes(
      dataSource: dataSource, control: control, feed: feed, thumbnails: thumbnails, times: times, history: history,
      limits: limits)
    let responder = Responder(
      table: RouteTable(routes.all), rules: AccessRules(reach: reach, host: host, token: token), limits: limits,
      dataSource: dataSource,
      feed: feed)
    let logger = Logger(label: "thumbjob.status") { _ in
      if let log { LineLog(log) } else { SwiftLogNoOpLogHandler() }
    }
    do {
      let server = try StatusServer(socket, responder, limits: limits, logger: logger) {
        history.add(dataSource.status(listing: 0))
      }
      return StatusEndpoint(socket, server, token)
    } catch {
      socket.file?.remove()
      throw StatusEndpointError("\(socket.address)", "\(error)")
    }
  }

  /// Where the page for people is; nil for a unix socket, which no browser opens.
  ///
  /// - Parameter withToken: the link is for the eyes of whoever started the run only, and changes can be asked for with it.
  public func pageLink(withToken: Bool) -> String? {
    guard case .tcp(let host, let port) = address else { return nil }
    let shown = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
    return "http://\(StatusAddress.tcp(host: shown, port: port))/" + (withToken ? "#token=\(token.text)" : "")
  }

  /// Takes no more requests, ends what clients wait for, and removes the socket. Takes a second at the most.
  ///
  /// *Concurrency*: any number of times; a second call does not wait for the first. Not from within a call of
  /// ``RunDataSource`` or ``RunControl``, which are on the thread that it waits for.
  public func close() {
    removeSocket()
    let server = server.withLock { server in
      defer { server = nil }
      return server
    }
    server?.stop()
  }

  /// Removes the socket and no more: for a thread that ends the process at once. Takes no lock, allocates nothing.
  public func removeSocket() { file?.remove() }
}
