#if Endpoint
import Foundation
import Locking
import Logging

/// An HTTP server on a socket that shows what a run is doing and passes commands on to it.
///
/// ```swift
/// let endpoint = try StatusEndpoint.open(address, dataSource: run, control: run, feed: feed)
/// defer { endpoint?.close() }
/// ```
///
/// Its server has its own thread, so that busy thread pools do not delay answers. The thread samples the run once a second.
///
/// It runs until it is closed, even without a reference to it.
///
/// From the outside in: ``open(_:dataSource:control:feed:)`` makes a ``ListeningSocket`` and later a ``StatusServer`` around
/// it: one event loop with one thread, on which tasks run too (``LoopExecutor``). ``Turns`` keeps one client's flood of
/// requests from blocking the others. The ``Responder`` checks a request with the ``AccessRules``, finds its ``Route``
/// in the ``RouteTable``, and sends the ``Answer``. The endpoint reads the state of the run from a ``RunDataSource``,
/// passes commands to a ``RunControl``, and sends the changes that are posted to an ``EventFeed``.
///
/// The page and the description of the routes are files in `Page`, which the build embeds in the program.
/// `DescriptionTests` checks that the description matches the routes. docs/threat-model.md lists what the endpoint
/// defends against.
///
/// *Concurrency*: from any thread.
public final class StatusEndpoint: Sendable {
  /// The address, with the actual port.
  public let address: StatusAddress
  /// The token that changes over TCP need.
  public let token: AccessToken
  private let socket: ListeningSocket
  private let state: Locked<State>

  private enum State {
    /// The socket listens, and nothing accepts connections yet.
    case waiting(start: @Sendable () throws -> StatusServer)
    case started(StatusServer)
    /// If the socket is open, the thread that waits for a client closes it.
    case closed(isSocketOpen: Bool)
  }

  private init(_ socket: ListeningSocket, _ token: AccessToken, start: @escaping @Sendable () throws -> StatusServer) {
    (address, self.socket, self.token) = (socket.address, socket, token)
    state = Locked(.waiting(start: start))
  }

  /// Opens the socket and starts the server; returns once it answers.
  ///
  /// - Parameters:
  ///   - address: nil for a socket in the user's runtime folder.
  ///   - startsLater: whether ``startWhenAsked(within:unless:)``, which has to be called then, starts the server.
  ///   - feed: receives the state changes to send; closed with the endpoint.
  ///   - environment: `XDG_RUNTIME_DIR` and `TMPDIR` give the runtime folder.
  ///   - log: called on the endpoint's thread with errors that no request caused.
  /// - Returns: nil if the address is `off`.
  /// - Throws: ``StatusEndpointError``
  public static func open(
    _ address: StatusAddress?, dataSource: any RunDataSource, control: any RunControl, feed: EventFeed = EventFeed(),
    thumbnails: LatestThumbnails = LatestThumbnails(), times: RunTimes = RunTimes(), token: AccessToken = AccessToken(),
    environment: [String: String] = ProcessInfo.processInfo.environment, startsLater: Bool = false,
    log: (@Sendable (String) -> Void)? = nil
  ) throws(StatusEndpointError) -> StatusEndpoint? {
    try open(
      address, dataSource: dataSource, control: control, feed: feed, thumbnails: thumbnails, times: times, token: token,
      environment: environment, limits: EndpointLimits(), startsLater: startsLater, log: log)
  }

  static func open(
    _ address: StatusAddress?, dataSource: any RunDataSource, control: any RunControl, feed: EventFeed,
    thumbnails: LatestThumbnails, times: RunTimes, token: AccessToken, environment: [String: String],
    limits: EndpointLimits, startsLater: Bool = false, log: (@Sendable (String) -> Void)? = nil
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
    let rules = AccessRules(reach: reach, host: host, token: token)
    let history = RunHistory()
    let routes = EndpointRoutes(
      dataSource: dataSource, control: control, feed: feed, thumbnails: thumbnails, times: times, history: history,
      limits: limits, needsToken: rules.needsToken(for: .changes))
    let responder = Responder(
      table: RouteTable(routes.all), rules: rules, limits: limits, dataSource: dataSource, feed: feed)
    let logger = Logger(label: "thumbjob.status") { _ in
      if let log { LineLog(log) } else { SwiftLogNoOpLogHandler() }
    }
    let endpoint = StatusEndpoint(socket, token) {
      try StatusServer(socket, responder, limits: limits, logger: logger) {
        history.add(dataSource.status(listing: 0))
      }
    }
    if !startsLater { try endpoint.start { nil } }
    return endpoint
  }

  /// Starts the server when a client connects, or when the time is over. Returns once the server answers, or the endpoint is
  /// closed.
  ///
  /// To start a server takes two milliseconds, so a short run ends sooner without one. Clients can connect before. Call this
  /// once, on a thread that may wait.
  ///
  /// - Parameters:
  ///   - limit: the time.
  ///   - obstacle: tells why the server must not start; nil if it may. It is asked just before the start. SwiftNIO ends the
  ///     process if it gets no thread or no file.
  /// - Throws: ``StatusEndpointError``. The endpoint is closed then.
  public func startWhenAsked(
    within limit: Duration, unless obstacle: () -> String? = { nil }
  ) throws(StatusEndpointError) {
    var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&waiting, 1, CInt(min(limit / .milliseconds(1), 1e9)))
    try start(unless: obstacle)
  }

  /// Starts the server, unless it runs or the endpoint has been closed.
  private func start(unless obstacle: () -> String?) throws(StatusEndpointError) {
    let failure: String? = state.withLock { state in
      switch state {
      case .waiting(let start):
        if let reason = obstacle() {
          Foundation.close(socket.descriptor)
          state = .closed(isSocketOpen: false)
          return reason
        }
        do { state = .started(try start()) } catch {
          state = .closed(isSocketOpen: false)
          return "\(error)"
        }
      case .closed(isSocketOpen: true):
        Foundation.close(socket.descriptor)
        state = .closed(isSocketOpen: false)
      case .started, .closed(isSocketOpen: false): break
      }
      return nil
    }
    guard let failure else { return }
    socket.file?.remove()
    throw StatusEndpointError("\(address)", failure)
  }

  /// The link to the page for people; nil for a unix socket, which browsers cannot open.
  ///
  /// - Parameter withToken: adds the token, which allows changes; show such a link only to the user who started the run.
  public func pageLink(withToken: Bool) -> String? {
    guard case .tcp(let host, let port) = address else { return nil }
    let shown = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
    return "http://\(StatusAddress.tcp(host: shown, port: port))/" + (withToken ? "#token=\(token.text)" : "")
  }

  /// Accepts no more requests, ends open streams, and removes the socket. Takes at most a second.
  ///
  /// *Concurrency*: any number of times; a second call does not wait for the first. Do not call it in ``RunDataSource`` or
  /// ``RunControl``, which run on the thread that it waits for.
  public func close() {
    removeSocket()
    let server: StatusServer? = state.withLock { state in
      switch state {
      case .waiting:
        // The thread that waits for a client wakes up, and closes the socket.
        shutdown(socket.descriptor, CInt(SHUT_RDWR))
        state = .closed(isSocketOpen: true)
        return nil
      case .started(let server):
        state = .closed(isSocketOpen: false)
        return server
      case .closed: return nil
      }
    }
    server?.stop()
  }

  /// Only removes the socket, for a thread that ends the process at once. Takes no lock and does not allocate.
  public func removeSocket() { socket.file?.remove() }
}
#endif
