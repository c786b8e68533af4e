import ArgumentParser
import BoundedQueue
import Foundation
import Locking
import Synchronization
import ThumbnailJobs
import Thumbnails

/// One job with everything around it that a command needs: console, events, progress, signals, exit status.
///
/// *Concurrency*: ``run()`` is called once, on the main thread. Signals are answered from threads of their own.
final class RunSession: Sendable {
  private let settings: JobSettings
  private let console = Console()
  private let output = OutputStream()
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
    if let problem = ProcessLimits.problem(max: settings.maxInUse) {
      console.say("thumbjob: \(problem)")
      return ExitStatus.systemLimit.code
    }
    let job: Job
    do {
      job = try Job(settings) { [weak self] in self?.told($0) }
    } catch {
      console.say("thumbjob: \(error)")
      return (error.isOutOfRoom ? ExitStatus.ioError : .cannotCreateOutput).code
    }
    theJob.withLock { $0 = job }
    tellMemory(job.memory)
    SignalListener.listen { [self] in answer($0, job) }
    let progress = display(job)
    let ticking = progress?.start()
    defer { ticking?.stop() }
    let report: JobReport
    do {
      report = try job.run()
    } catch {
      console.say("thumbjob: \(error)")
      return ExitStatus.usage.code
    }
    ticking?.stop()
    progress?.finish()
    let exitCode = { [self] in
      report.exitCode(ending: ending.load(ordering: .acquiring), outputError: output.error)
    }
    if settings.json { output.write(SummaryLine(report, isDryRun: settings.dryRun, exitCode: exitCode())) }
    sayLastWords(report)
    return exitCode()
  }

  /// The job, for what it tells: it tells nothing before it runs.
  private let theJob = Locked<Job?>(nil)

  /// What was asked for is done, also where it cannot end well.
  private func tellMemory(_ memory: MemoryPlan) {
    let budget = memory.budget
    if budget.bytes > memory.available, !settings.quiet {
      console.say(
        "thumbjob: --memory \(Units.memory(budget.bytes)) is more than this process may use, \(memory.limit); it may be "
          + "killed")
    } else if settings.verbose {
      let alone = budget.largest > budget.bytes ? ", one alone up to \(Units.memory(budget.largest))" : ""
      console.say("memory: a budget of \(Units.memory(budget.bytes))\(alone), of \(memory.limit)")
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
        console.say("thumbjob: standard output: \(String(cString: strerror(error)))")
      }
      guard !settings.quiet, output.error != EPIPE else { return }
      let signal = ending.load(ordering: .acquiring)
      console.say(Summary.text(report, ending: signal, isDryRun: settings.dryRun))
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
      put(PressureLine(note))
      // Behind nobody who does not read, as answers to signals are.
      if !settings.quiet { answers.async { [self] in console.say(PressureText.text(note)) } }
    case .problem(let problem):
      put(ProblemLine(problem))
      console.say("thumbjob: \(problem)")
    }
  }

  private func put(_ line: some Encodable) {
    if settings.json, !output.write(line) { outputLost() }
  }

  private func outputLost() {
    theJob.withLock { $0 }.map { job in _ = job.stop(.outputLost) }
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
    case .cancelled(let reason): if settings.verbose { console.say("\(name): cancelled \(reason)") }
    case .passedOver: if settings.verbose { console.say("\(name): not an image") }
    case .duplicate(let first): if settings.verbose { console.say("\(name): the same file as \(first.printable)") }
    }
  }

  // MARK: Signals

  private func answer(_ signal: CInt, _ job: Job) {
    switch signal {
    case SIGUSR1:
      guard !isListing.exchange(true, ordering: .acquiringAndReleasing) else { return }
      answers.async { [self] in
        isListing.store(false, ordering: .releasing)
        console.say(QueueListing.text(job.status(waitingLimit: Self.listed)))
      }
    case SIGUSR2: stop(job, .cancelled, "USR2")
    case SIGHUP: stop(job, .noMore, "HUP")
    default:
      if ending.load(ordering: .acquiring) != 0 {
        // The second time: at once. What others are writing is removed, not waited for.
        job.closeOutputs()
        _exit(128 + signal)
      }
      ending.store(signal, ordering: .releasing)
      stop(job, .shutdown, signal == SIGINT ? "INT" : "TERM")
    }
  }

  private func stop(_ job: Job, _ cause: StopCause, _ name: String) {
    stopping.async { [self] in
      let cancelled = job.stop(cause)
      answers.async { [self] in
        console.say(QueueListing.text(cancelled, by: name))
      }
    }
  }
}
