#if Endpoint
import ArgumentParser
import BoundedQueue
import Files
import Foundation
import JobSettings
import Locking
import PictureMaking
import PreviewEndpoint
import Previews
import StatusEndpoint
import TraceRecording

/// A server of previews with everything that the command adds: messages, the access log, signals and the status endpoint.
///
/// *Concurrency*: call ``run()`` once, on the main thread. Signals are handled on a thread of their own, and never wait.
final class ServeSession: Sendable {
  private let settings: ServeSettings
  private let reader: ServeSettingsReader
  private let console = Console()
  private let messages: Messages
  private let output = JSONLinesOutput()
  private let tally = ServeTally()
  private let refusals = RefusalLog()
  private let serviceManager = ServiceManager()
  private let ending = EndingSignal()
  private let listing = ListingRequests()
  /// Signalled by the signal that ends the server.
  private let end = TimedSignal()
  /// Carries out what a signal asks for, so that the signal thread is always free for the next one.
  private let actions = SerialThread(name: "actions")
  private let status = Locked<ServeEndpoint?>(nil)

  private static let lastWait = Duration.seconds(1)
  /// How often to see whether requests are left at the end.
  private static let step = Duration.milliseconds(50)

  init(_ settings: ServeSettings, _ reader: ServeSettingsReader) {
    (self.settings, self.reader) = (settings, reader)
    messages = Messages(console)
  }

  /// Serves until a signal ends it.
  func run() -> ExitCode {
    do {
      let trace = try TraceRecorder.open(settings.trace)
      let code = Result { () throws(StartError) in try serve(trace) }
      let isTraced = trace.close(on: console)
      let status = try code.get()
      return isTraced ? status : ExitStatus.ioError.code
    } catch {
      messages.drain(upTo: Self.lastWait)
      console.print(error.text, .failure)
      return error.status.code
    }
  }

  private func serve(_ trace: TraceRecorder?) throws(StartError) -> ExitCode {
    if let problem = ProcessLimits.problem(max: settings.previews.maxInUse, connections: settings.connections) {
      throw StartError(problem, .systemLimit)
    }
    let service = try makeService(trace)
    if let obstacle = PictureDecoders.obstacle {
      messages.print(StyledText("thumbjob: \(Advice.warning(of: obstacle, settings.previews.isolate))", .warning))
    }
    let endpoint: PreviewEndpoint
    do {
      endpoint = try PreviewEndpoint(
        listeningSocket(), service, key: settings.key,
        version: Version.current, connections: settings.connections, onAnswer: { [self] in handle($0) })
    } catch let error as StatusEndpointError {
      throw StartError("\(error.place): \(error.reason)", .noStatusAddress)
    } catch {
      throw StartError("\(settings.address): \(error)", .noStatusAddress)
    }
    let statusEndpoints: [StatusEndpoint]
    do throws(StartError) {
      statusEndpoints = try openStatus(service, address: endpoint.address)
      do { try service.start() } catch { throw StartError("\(error)", .usage) }
      guard SignalListener.listen({ [self] in handle($0, service, endpoint, statusEndpoints) }) else {
        throw StartError(ProcessLimits.noThread, .systemLimit)
      }
    } catch {
      endpoint.close()
      throw error
    }
    if !settings.quiet {
      messages.print(StyledText("thumbjob: previews at \(Self.link(endpoint.address))"))
      messages.print(StyledText("thumbjob: \(limits(of: service))"))
    }
    serviceManager?.send("READY=1")
    let alive = aliveTicker(service)
    _ = end.wait(upTo: .seconds(1 << 33))
    serviceManager?.send("STOPPING=1")
    finish(service, endpoint)
    alive?.stop()
    for endpoint in statusEndpoints { endpoint.close() }
    printSummary(service)
    return ExitCode(128 + ending.number)
  }

  /// The socket of the service manager, or else one for the address in the settings.
  private func listeningSocket() throws(StatusEndpointError) -> ListeningSocket {
    guard let socket = try ListeningSocket.activated() else { return try ListeningSocket.open(settings.address) }
    if let address = settings.givenAddress {
      messages.print(
        StyledText(
          "thumbjob: \(address): not used, because the service manager has opened a socket", .warning))
    }
    return socket
  }

  private func makeService(_ trace: TraceRecorder?) throws(StartError) -> PreviewService {
    do {
      return try PreviewService(
        settings.previews, connections: settings.connections, trace: trace,
        onOpening: { [self] reports in
          if let text = PressureText.text(reports, isVerbose: settings.verbose) {
            messages.printLine("thumbjob: \(text)")
          }
        },
        onNote: { [self] note in
          status.withLock { $0 }?.handle(note)
          if note.level != .normal || !settings.quiet {
            messages.print(PressureText.text(note, namesLimit: settings.verbose ? .max : 5))
          }
        },
        onShortfall: { [self] text in messages.print(StyledText("thumbjob: \(text)", .warning)) })
    } catch {
      let folder = settings.previews.spoolFolder ?? "/tmp"
      throw StartError("--spool: \(folder.printable): \(error)", .cannotCreateOutput)
    }
  }

  /// Answers the requests that are here, within the time that one may wait, and closes everything.
  private func finish(_ service: PreviewService, _ endpoint: PreviewEndpoint) {
    service.beginToEnd()
    endpoint.stopListening()
    let deadline = ContinuousClock.now + settings.previews.hold
    while endpoint.openConnections > 0, .now < deadline { Thread.sleep(forTimeInterval: Self.step / .seconds(1)) }
    service.cancelAll(.shutdown)
    endpoint.close()
    service.finish()
  }

  private func openStatus(_ service: PreviewService, address: StatusAddress) throws(StartError) -> [StatusEndpoint] {
    if settings.status == .off { return [] }
    let source = ServeEndpoint(service, tally, address: Self.link(address))
    status.withLock { $0 = source }
    do {
      let chosen = settings.status == nil ? nil : try StatusToken.chosen()
      var endpoints: [StatusEndpoint] = []
      for place in [nil, settings.status] where place != nil || endpoints.isEmpty {
        let opened = try StatusEndpoint.open(
          place, dataSource: source, control: source, feed: source.queues.feed, times: source.queues.times,
          token: place == nil ? AccessToken() : chosen ?? AccessToken())
        guard let opened else { continue }
        endpoints.append(opened)
        if let link = opened.pageLink(withToken: chosen == nil) { console.print("thumbjob: status at \(link)") }
      }
      return endpoints
    } catch let error as TextError {
      throw StartError("\(error)", .usage)
    } catch {
      throw StartError(Advice.line(error), .noStatusAddress)
    }
  }

  /// What the server may do, so that nobody has to guess what its defaults are here.
  private func limits(of service: PreviewService) -> String {
    let previews = settings.previews
    let memory = ByteCount.memory(service.queue.limits.budget?.bytes ?? 0)
    return "\(previews.maxInUse) at once in \(memory) of memory; pictures of up to "
      + "\(ByteCount.memory(service.limitBytes)), \(ByteCount.memory(service.spool.bytes)) of them at once in "
      + "\(service.spool.isInMemory ? "memory" : service.spool.folder.printable); "
      + (settings.key == nil ? "no key is needed" : "with a key")
  }

  private static func link(_ address: StatusAddress) -> String {
    if case .tcp = address { "http://\(address)" } else { "\(address)" }
  }

  private func aliveTicker(_ service: PreviewService) -> Ticker? {
    guard let serviceManager else { return nil }
    return Ticker(name: "service", every: min(.seconds(5), serviceManager.watchdogPause ?? .seconds(5))) {
      let counters = service.queue.counters
      serviceManager.send("STATUS=\(counters.running) running, \(counters.waiting) waiting")
      serviceManager.send("WATCHDOG=1")
    }
  }

  // MARK: Answers

  private func handle(_ request: AnsweredRequest) {
    tally.count(request)
    if settings.json { output.write(AccessLine(request)) }
    if settings.verbose {
      let size = "\(ByteCount.file(request.bytesReceived)) → \(ByteCount.file(request.bytesSent))"
      let reason = request.error.map { ": \($0.message)" } ?? ""
      messages.printLine(
        "\(request.status) \(request.method) \(printableText(of: Array(request.path.utf8))) \(size) "
          + "in \(Units.time(request.time))\(reason)")
    } else if let line = refusals.line(for: request) {
      messages.print(StyledText(line, .warning))
    }
  }

  private func printSummary(_ service: PreviewService) {
    if !settings.quiet {
      let counters = tally.asRunCounters
      messages.print(
        StyledText(
          "thumbjob: \(Units.count(counters["previews"], "preview")) · \(counters["refused"] + counters["faults"]) refused · "
            + "\(counters["turned_away"]) turned away · \(counters["left"]) left · at most "
            + "\(service.queue.counters.peakRunning) running, \(service.queue.counters.peakWaiting) waiting · peak memory "
            + ByteCount.memory(service.peakMemory)))
    }
    messages.drain(upTo: Self.lastWait)
  }

  // MARK: Signals

  /// Handles a signal on the signal thread. Other threads print and cancel.
  private func handle(
    _ signal: CInt, _ service: PreviewService, _ endpoint: PreviewEndpoint, _ statusEndpoints: [StatusEndpoint]
  ) {
    switch signal {
    case SIGUSR1:
      listing.print(to: messages) { columns, ellipsis in
        QueueListing.text(
          previews: service.queue.snapshot(waitingLimit: ListingRequests.longest),
          bodies: service.bodies.snapshot(waitingLimit: ListingRequests.longest), service.pressure, columns: columns,
          ellipsis)
      }
    case SIGUSR2:
      actions.async { [self] in
        let cancelled = service.cancelAll(.user)
        messages.print(
          StyledText(
            "thumbjob: cancelled by USR2: \(cancelled.running) running, \(cancelled.waiting) waiting; their clients get 503",
            .warning))
      }
    case SIGHUP: actions.async { [self] in readAgain(service) }
    default:
      let name = signal == SIGINT ? "INT" : "TERM"
      switch ending.take(signal) {
      case .first:
        status.withLock { $0 }?.end("stopped by \(name)")
        messages.print(
          StyledText(
            "thumbjob: stopped by \(name): taking no more requests, answering those that are here; a second \(name) exits at once",
            .warning))
        end.signal()
      case .same: break
      case .second:
        endpoint.removeSocket()
        for endpoint in statusEndpoints { endpoint.removeSocket() }
        console.abandonBottom()
        _exit(128 + signal)
      }
    }
  }

  /// Reads the settings again, and applies the limits among them.
  private func readAgain(_ service: PreviewService) {
    do {
      let fresh = try reader.read()
      if let problem = ProcessLimits.problem(max: fresh.previews.maxInUse) {
        throw TextError("max: the process \(problem)")
      }
      service.changeLimits(
        max: fresh.previews.maxInUse, backlog: fresh.previews.backlog,
        budget: fresh.previews.memory?.bytes(of: service.memory.limit.bytes))
      let limits = service.queue.limits
      messages.print(
        StyledText(
          "thumbjob: HUP: max \(limits.maxConcurrentOperations), backlog \(limits.backlog), memory "
            + "\(ByteCount.memory(limits.budget?.bytes ?? 0)); other settings need a new start"))
    } catch {
      messages.print(StyledText("thumbjob: HUP: nothing is changed: \(error)", .failure))
    }
  }
}

/// The line of the access log. It has no parameters of requests, which may have keys.
private struct AccessLine: Encodable {
  let event = "answer"
  let id, method, path, client: String
  /// When it was answered (ISO 8601, UTC).
  let time: String
  let dialect, reason, message: String?
  let status, bytesReceived, bytesSent: Int
  let seconds: Double
  let left: Bool

  enum CodingKeys: String, CodingKey {
    case event, time, id, method, path, client, dialect, reason, message, status, seconds, left
    case bytesReceived = "bytes_received"
    case bytesSent = "bytes_sent"
  }

  init(_ request: AnsweredRequest) {
    (id, method, path, client) = (request.id, request.method, request.path, request.client)
    (dialect, status) = (request.dialect, request.status)
    (reason, message) = (request.error?.reason.rawValue, request.error?.message)
    time = Date.now.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true))
    (bytesReceived, bytesSent, left) = (request.bytesReceived, request.bytesSent, request.isAbandoned)
    seconds = request.time / .seconds(1)
  }
}
#endif
