import ArgumentParser
import BoundedQueue
import Files
import Foundation
import JobSettings
import Jobs
import Locking
import PictureMaking
import StatusEndpoint
import Synchronization
import Thumbnails
import TraceRecording

/// One job with everything that the command adds: messages, events, progress, signals, the status endpoint, and the
/// exit status.
///
/// It is in six files: the course of the run (this one), its settings (`RunSession+Reading`), the job's events
/// (`RunSession+Events`), what is removed after it (`RunSession+Prune`), what only a watch does (`RunSession+Watch`), and
/// signals (`RunSession+Signals`).
///
/// *Concurrency*: call ``run()`` once, on the main thread. Signals are handled on threads of their own.
final class RunSession: Sendable {
  /// The parts that exist while the job runs.
  struct Open {
    let job: Job
    var endpoints: JobEndpoints?
  }

  let settings: RunSettings
  let console: Console
  let output = JSONLinesOutput()
  /// Nil until the job can start.
  let open = Locked<Open?>(nil)
  /// What a message has said once for all pictures of a type or format that is not read.
  let named = Locked<Set<ThumbnailError>>([])
  /// The causes of a stop that a message has named, so that a flood of signals is not a flood of messages. Guarded by
  /// its lock.
  let announced = Locked<[StopCause]>([])
  /// The service manager that has started the process; nil if none has, or the job does not watch its folders.
  let serviceManager: ServiceManager?
  let ending = EndingSignal()
  let listing = ListingRequests()
  /// Stops the job, so that the signal thread is always free for the next signal.
  let stopper = SerialThread(name: "stop")
  /// Prints everything that is said while the job runs, and the summary.
  let messages: Messages

  /// How long a process that is told to end waits for a reader of standard error that does not read.
  private static let lastWait = Duration.seconds(1)

  init(_ settings: RunSettings) {
    self.settings = settings
    console = Console()
    messages = Messages(console)
    serviceManager = settings.job.watch == nil ? nil : ServiceManager()
  }

  /// Runs the job and returns the exit status of the process.
  func run() -> ExitCode {
    do {
      let job = try openAll()
      defer { closeEndpoints() }
      return try run(job, endpoints: open.withLock { $0?.endpoints })
    } catch {
      messages.drain(upTo: Self.lastWait)
      console.print(error.text, .failure)
      return error.status.code
    }
  }

  private func closeEndpoints() {
    let open = open.withLock { open in
      defer { open = nil }
      return open
    }
    open?.endpoints?.close()
  }

  private func run(_ job: Job, endpoints: JobEndpoints?) throws(StartError) -> ExitCode {
    guard SignalListener.listen({ [self] signal in handle(signal, job, endpoints) }) else {
      // Threads of the endpoint may have the job for longer than this process lives.
      job.closeOutputs()
      throw StartError(ProcessLimits.noThread, .systemLimit)
    }
    let display = progressDisplay(of: job)
    let ticker = display?.start()
    let service = job.settings.watch == nil ? nil : startService(job)
    let digest = job.settings.watch == nil ? nil : startDigest(job)
    defer {
      ticker?.stop()
      service?.stop()
      digest?.stop()
    }
    var report: JobReport
    do {
      report = try job.run()
    } catch {
      endpoints?.finish(RunOutcome(.failed, text: "\(error)", exitStatus: Int(ExitStatus.usage.rawValue)))
      throw StartError("\(error)", .usage)
    }
    ticker?.stop()
    digest?.stop()
    display?.finish()
    report.gone = job.gone(after: report)
    report.pruned = prune(job, after: &report)
    let isTraced = job.trace.close(on: console)
    let handled = ending.number
    let signal = handled != 0 ? handled : SignalListener.pendingEnd ?? 0
    let code = exitCode(of: report, ending: signal, isTraced: isTraced)
    // Before the last lines are written, because a reader that does not read them would delay it.
    endpoints?.finish(RunOutcome(report, exitCode: code, isDryRun: settings.job.dryRun))
    if settings.json {
      let numbers = report.tally.numbers(for: .summary, isDryRun: settings.job.dryRun)
      output.write(MergedLine(SummaryLine(report, settings.job, exitCode: code), numbers))
    }
    printSummary(report)
    // Determined again, because writing the last line may have failed.
    let last = exitCode(of: report, ending: signal, isTraced: isTraced)
    endpoints?.finish(RunOutcome(report, exitCode: last, isDryRun: settings.job.dryRun))
    return writeMetrics(report, last)
  }

  private func exitCode(of report: JobReport, ending signal: CInt, isTraced: Bool) -> ExitCode {
    report.exitCode(
      ending: signal, outputError: output.error, isTraced: isTraced, known: settings.job.knownFailures)
  }

  /// - Returns: the exit status; another one than before if the file cannot be written.
  private func writeMetrics(_ report: JobReport, _ code: ExitCode) -> ExitCode {
    guard let path = settings.metricsFile, !settings.job.dryRun else { return code }
    let place = settings.job.places.first.map { ($0.isURL ? nil : $0.absolute) ?? $0 }
    var file = MetricsFile(path, job: place?.printable ?? "")
    do throws(Errno) {
      try file.write(report, exitStatus: code.rawValue, now: Int(Date().timeIntervalSince1970))
      return code
    } catch {
      messages.print(StyledText("thumbjob: --metrics-file \(path.printable): \(systemText(error.rawValue))", .failure))
      messages.drain(upTo: Self.lastWait)
      return code == ExitStatus.success.code ? ExitStatus.ioError.code : code
    }
  }

  // MARK: Opening

  private func openAll() throws(StartError) -> Job {
    let trial = ProcessLimits.trial(max: settings.job.operationsInUse)
    if let problem = ProcessLimits.problem(max: settings.job.operationsInUse, trial) {
      throw StartError(problem, .systemLimit)
    }
    if settings.job.lacksWorkingFolder {
      throw StartError("the working folder cannot be found, and relative paths start from it", .noSuchSource)
    }
    if settings.job.watch != nil, let missing = settings.job.missingSource {
      throw StartError("\(missing): no such folder", .noSuchSource)
    }
    // The recorder has a thread.
    if settings.trace != nil { trial.end() }
    let trace = try TraceRecorder.open(settings.trace)
    let thumbnails = settings.status == .off || !BuildTrait.endpoint.isBuilt ? nil : LatestThumbnails()
    let job: Job
    do {
      job = try Job(settings.job, trace: trace, onThumbnail: thumbnails.map(Self.insert)) { [weak self] event in
        trace.span("RunSession.handle") { self?.handle(event) }
      }
    } catch {
      trace.close(on: console)
      throw StartError(Advice.line(error), error.isOutOfSpace ? .ioError : .cannotCreateOutput)
    }
    trial.end()
    open.withLock { $0 = Open(job: job) }
    if settings.verbose {
      let pid = getpid()
      console.print("process \(pid): kill -USR1 \(pid) lists its operations, kill -USR2 \(pid) cancels them")
    }
    printGallerySizes()
    printMemory(job.memory)
    do {
      if let thumbnails { try openEndpoints(job, thumbnails) }
    } catch {
      job.closeOutputs()
      trace.close(on: console)
      throw error
    }
    return job
  }

  private static func insert(into thumbnails: LatestThumbnails) -> ThumbnailHandler {
    { operation, source, thumbnail in
      thumbnails.insert(
        thumbnail.bytes, type: thumbnail.format.mediaType, operation: operation, source: source,
        width: thumbnail.pixels.width,
        height: thumbnail.pixels.height)
    }
  }

  private func openEndpoints(_ job: Job, _ thumbnails: LatestThumbnails) throws(StartError) {
    do {
      let endpoints = try JobEndpoints(settings.status, job, thumbnails) { [self] in
        stop(job, .cancelled(by: JobEndpoints.sender))
      } onLink: { link in
        // Even with --quiet: it has the token.
        console.print("thumbjob: status at \(link)")
      } onProblem: { [self] problem in
        if !settings.quiet { messages.print(StyledText("thumbjob: \(problem)", .warning)) }
      }
      open.withLock { $0?.endpoints = endpoints }
    } catch let error as TextError {
      throw StartError("\(error)", .usage)
    } catch {
      throw StartError(Advice.line(error), .noStatusAddress)
    }
  }

  private func progressDisplay(of job: Job) -> ProgressDisplay? {
    // A watch has no total, and most of the time nothing to do.
    if settings.quiet || settings.job.watch != nil { return nil }
    let style: ProgressDisplay.Style
    switch settings.progress {
    // Lines of data on the same terminal show the progress themselves, and a bar would be in their way.
    case .auto where console.isTerminal && output.isTerminal && settings.printsData: return nil
    case .auto: style = console.isTerminal ? .bar : .plain
    case .bar: style = .bar
    case .plain: style = .plain
    case .none: return nil
    }
    job.countAhead()
    return ProgressDisplay(job, console, style)
  }

  /// Says which sizes a gallery has, unless they were asked for.
  private func printGallerySizes() {
    guard let sizes = settings.job.sizesForGallery, !settings.quiet else { return }
    let text = sizes.map(\.description).joined(separator: " and ")
    console.print("gallery: in the sizes \(text); -s chooses others")
  }

  /// Warns of a budget that the process may not use. The run goes on all the same.
  private func printMemory(_ memory: MemoryPlan) {
    let budget = memory.budget
    if let warning = Advice.warning(of: memory, isRequested: settings.job.memory != nil), !settings.quiet {
      console.print("thumbjob: \(warning)", .warning)
    } else if settings.verbose {
      let alone = budget.largest > budget.bytes ? ", one alone up to \(ByteCount.memory(budget.largest))" : ""
      console.print("memory: a budget of \(ByteCount.memory(budget.bytes))\(alone), of \(memory.limit)")
    }
  }

  /// Prints the summary after all other messages.
  private func printSummary(_ report: JobReport) {
    messages.print { [self] console in
      if let error = output.error, error != EPIPE {
        let reason = error == EAGAIN ? "its reader does not read" : systemText(error)
        console.print("thumbjob: standard output: \(reason)", .failure)
      }
      guard output.error != EPIPE else { return }
      let summary = Summary(report: report, settings: settings)
      let text = settings.quiet ? summary.warnings : summary.text(columns: console.terminal.columns)
      if let text { console.print(text) }
    }
    switch report.stopCause {
    case .cancelled, .shutdown: messages.drain(upTo: Self.lastWait)
    default: messages.drain()
    }
  }

  /// From now on, writes wait only for a limited time for a reader that does not read.
  func limitWrites() {
    console.deadline.begin()
    output.deadline.begin()
  }
}
