import ArgumentParser
import BoundedQueue
import Files
import Foundation
import Locking
import StatusEndpoint
import Synchronization
import ThumbnailJobs
import Thumbnails
import TraceRecording

/// One job with everything around it that a command needs: console, events, progress, signals, exit status.
///
/// *Concurrency*: ``run()`` is called once, on the main thread. Signals are answered from threads of their own.
final class RunSession: Sendable {
  /// What is open while the job runs.
  private struct Open {
    let job: Job
    var endpoints: JobEndpoints?
  }

  /// Why the job cannot begin.
  private struct Refusal: Error {
    let text: String
    let status: ExitStatus

    init(_ text: String, _ status: ExitStatus) { (self.text, self.status) = ("thumbjob: \(text)", status) }
  }

  private let settings: JobSettings
  private let console = Console()
  private let output = OutputStream()
  /// Nil until the job can begin; guarded by its lock.
  private let open = Locked<Open?>(nil)
  /// Which types of images not read have been named. Guarded by its lock.
  private let named = Locked<Set<ImageType>>([])
  /// The INT or TERM that ends the process; 0 before.
  private let ending = Atomic<CInt>(0)
  /// True while a listing is asked for and not yet printed: a thousand signals in a row want one, not a thousand.
  private let isListing = Atomic(false)
  /// Where jobs are stopped, so that the signal thread is always ready for the next signal.
  private let stopping = DispatchQueue(label: "thumbjob.stopping")
  /// Where answers to signals are printed. Its own, so that somebody who does not read them cannot keep a job from being
  /// stopped.
  private let answers = DispatchQueue(label: "thumbjob.answers")

  /// How long whoever stopped a job by a signal waits for a standard error that nobody reads.
  private static let patience = DispatchTimeInterval.seconds(1)
  /// Waiting operations listed at most; the rest are counted.
  private static let listed = 10_000

  init(_ settings: JobSettings) { self.settings = settings }

  /// Carries the job through.
  func run() -> ExitCode {
    do {
      let job = try openAll()
      defer { closeEndpoints() }
      return try run(job, endpoints: open.withLock { $0?.endpoints })
    } catch {
      console.say(error.text)
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

  private func run(_ job: Job, endpoints: JobEndpoints?) throws(Refusal) -> ExitCode {
    SignalListener.listen { [self] signal in answer(signal, job, endpoints) }
    let progress = display(job)
    let ticking = progress?.start()
    defer { ticking?.stop() }
    let report: JobReport
    do {
      report = try job.run()
    } catch {
      throw Refusal("\(error)", .usage)
    }
    ticking?.stop()
    progress?.finish()
    let isTraced = close(job.trace)
    let answered = ending.load(ordering: .acquiring)
    let signal = answered != 0 ? answered : SignalListener.pendingEnd ?? 0
    let exitCode = report.exitCode(ending: signal, outputError: output.error, isTraced: isTraced)
    if settings.json { output.write(SummaryLine(report, isDryRun: settings.dryRun, exitCode: exitCode)) }
    sayLastWords(report)
    return report.exitCode(ending: signal, outputError: output.error, isTraced: isTraced)
  }

  // MARK: Opening

  private func openAll() throws(Refusal) -> Job {
    if let problem = ProcessLimits.problem(max: settings.maxInUse) { throw Refusal(problem, .systemLimit) }
    let address: StatusAddress?
    do {
      address = try settings.status.map { text throws(StatusAddressError) in try StatusAddress(text) }
    } catch {
      throw Refusal("--status: \(error)", .usage)
    }
    let trace: TraceRecorder?
    do {
      trace = try settings.trace.map { path throws(TraceError) in
        try path.withCString { cPath throws(TraceError) in try TraceRecorder(path: cPath, name: path.printable) }
      }
    } catch {
      throw Refusal("--trace: \(error)", .cannotCreateOutput)
    }
    let thumbnails = address == .off ? nil : LatestThumbnails()
    let job: Job
    do {
      job = try Job(settings, trace: trace, onThumbnail: thumbnails.map(Self.keep)) { [weak self] event in
        trace.span("RunSession.told") { self?.told(event) }
      }
    } catch {
      _ = close(trace)
      throw Refusal("\(error)", error.isOutOfRoom ? .ioError : .cannotCreateOutput)
    }
    open.withLock { $0 = Open(job: job) }
    tellMemory(job.memory)
    do {
      if let thumbnails { try openEndpoints(address, job, thumbnails) }
    } catch {
      job.closeOutputs()
      _ = close(trace)
      throw error
    }
    return job
  }

  private static func keep(in thumbnails: LatestThumbnails) -> Job.ThumbnailHandler {
    { operation, source, thumbnail in
      thumbnails.insert(
        thumbnail.bytes, operation: operation, source: source.printable, width: thumbnail.pixels.width,
        height: thumbnail.pixels.height)
    }
  }

  private func openEndpoints(
    _ address: StatusAddress?, _ job: Job, _ thumbnails: LatestThumbnails
  ) throws(Refusal) {
    do {
      let endpoints = try JobEndpoints(address, job, thumbnails) { [self] in
        stop(job, .cancelled(by: "the status endpoint"))
      } onNote: { note, isAskedFor in
        // The link is said once, and the only way to it.
        if isAskedFor || !settings.quiet { console.say("thumbjob: \(note)") }
      }
      open.withLock { $0?.endpoints = endpoints }
    } catch let problem as TextProblem {
      throw Refusal("\(problem)", .usage)
    } catch {
      throw Refusal("\(error); --status chooses another address, or off", .noStatusAddress)
    }
  }

  // MARK: Telling

  /// False when not all of it could be written.
  private func close(_ trace: TraceRecorder?) -> Bool {
    do {
      try trace?.close()
      return true
    } catch {
      console.say("thumbjob: --trace: \(error); the trace is not whole")
      return false
    }
  }

  /// What was asked for is done, also where it cannot end well.
  private func tellMemory(_ memory: MemoryPlan) {
    let budget = memory.budget
    if budget.bytes > memory.available, !settings.quiet {
      console.say(
        "thumbjob: --memory \(ByteCount.memory(budget.bytes)) is more than this process may use, \(memory.limit); it may be "
          + "killed")
    } else if settings.verbose {
      let alone = budget.largest > budget.bytes ? ", one alone up to \(ByteCount.memory(budget.largest))" : ""
      console.say("memory: a budget of \(ByteCount.memory(budget.bytes))\(alone), of \(memory.limit)")
    }
  }

  private func display(_ job: Job) -> ProgressDisplay? {
    if settings.quiet { return nil }
    let style: ProgressDisplay.Style
    switch settings.progress {
    case .auto: style = console.isTerminal ? .bar : .plain
    case .bar: style = .bar
    case .plain: style = .plain
    case .none: return nil
    }
    job.countAhead()
    return ProgressDisplay(job, console, style)
  }

  /// Behind what signals have begun to say.
  private func sayLastWords(_ report: JobReport) {
    let said = DispatchGroup()
    answers.async(group: said) { [self] in
      if let error = output.error, error != EPIPE {
        let reason = error == EAGAIN ? "nobody reads it" : String(cString: strerror(error))
        console.say("thumbjob: standard output: \(reason)")
      }
      guard !settings.quiet, output.error != EPIPE else { return }
      console.say(Summary.text(report, isDryRun: settings.dryRun))
    }
    switch report.stopCause {
    case .cancelled, .shutdown: _ = said.wait(timeout: .now() + Self.patience)
    default: said.wait()
    }
  }

  // MARK: What the job tells

  private func told(_ event: JobEvent) {
    switch event {
    case .source(let report):
      put(SourceLine(report, isDryRun: settings.dryRun))
      tell(report)
    case .watching(let reports):
      if let text = PressureText.text(reports, isVerbose: settings.verbose), !settings.quiet { console.say(text) }
    case .pressure(let note):
      open.withLock { $0 }?.endpoints?.heard(note)
      put(PressureLine(note))
      // Behind nobody who does not read, as answers to signals are.
      if !settings.quiet { answers.async { [self] in console.say(PressureText.text(note)) } }
    case .stopping:
      beginToLosePatience()
      open.withLock { $0 }?.endpoints?.heardStop()
    case .problem(let problem):
      put(ProblemLine(problem))
      console.say("thumbjob: \(problem)")
    }
  }

  private func put(_ line: some Encodable) {
    if settings.json, !output.write(line) { outputLost() }
  }

  private func outputLost() {
    open.withLock { $0 }?.job.stop(.outputLost)
  }

  private func tell(_ report: SourceReport) {
    let name = report.source.path.printable
    switch report.result {
    case .made:
      for thumbnail in report.thumbnails {
        let line = "\(name) → \(thumbnail.path.printable) \(thumbnail.pixels)"
        if settings.dryRun && !settings.json {
          if !output.write(text: line + "\n") { outputLost() }
        } else if settings.verbose {
          console.say(line)
        }
      }
      if settings.verbose { for warning in report.warnings { console.say("\(name): \(warning)") } }
    case .failed(let failure): console.say("thumbjob: \(name): \(failure)")
    case .notRead(let type):
      guard named.withLock({ $0.insert(type).inserted }), !settings.quiet else { return }
      console.say("thumbjob: \(name): \(type.displayName) images are not read yet; this and any others are passed over")
    case .cancelled(.pressure) where settings.onPressure == .requeue:
      console.say("thumbjob: \(name): cancelled by memory pressure; left for another run")
    case .cancelled(.user) where open.withLock({ $0?.job.isStopping }) == false:
      // Of all together there is a list.
      console.say("thumbjob: \(name): cancelled by the user")
    case .cancelled(let reason): if settings.verbose { console.say("\(name): cancelled \(reason)") }
    case .passedOver: if settings.verbose { console.say("\(name): not an image") }
    case .duplicate(let first): if settings.verbose { console.say("\(name): the same file as \(first.printable)") }
    }
  }

  private func beginToLosePatience() {
    console.patience.begin()
    output.patience.begin()
  }

  // MARK: Signals

  private func answer(_ signal: CInt, _ job: Job, _ endpoints: JobEndpoints?) {
    switch signal {
    case SIGUSR1:
      guard !isListing.exchange(true, ordering: .acquiringAndReleasing) else { return }
      answers.async { [self] in
        isListing.store(false, ordering: .releasing)
        console.say(QueueListing.text(job.status(waitingLimit: Self.listed)))
      }
    case SIGUSR2: stop(job, .cancelled(by: "USR2"))
    case SIGHUP: stop(job, .noMore)
    default:
      if ending.load(ordering: .acquiring) != 0 {
        // The second time: at once. What others are writing is removed, not waited for.
        job.closeOutputs()
        endpoints?.removeSockets()
        _exit(128 + signal)
      }
      ending.store(signal, ordering: .releasing)
      stop(job, .shutdown(by: signal == SIGINT ? "INT" : "TERM"))
    }
  }

  private func stop(_ job: Job, _ cause: StopCause) {
    beginToLosePatience()
    stopping.async { [self] in
      let cancelled = job.trace.span("Job.stop") { job.stop(cause) }
      answers.async { [self] in
        console.say(QueueListing.text(cancelled, why: "stopped \(cause)"))
      }
    }
  }
}
