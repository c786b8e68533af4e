import ArgumentParser
import Comparison
import Files
import Foundation
import QueueBaselines
import Synchronization
import ThumbnailJobs

/// One run of a variant, under its limit, with its reactions to signals.
///
/// *Concurrency*: ``run()`` is called once, on the main thread.
final class VariantSession: Sendable {
  /// Standard input, opened anew: each process begins at the start of the list.
  private static let list: Path = "/proc/self/fd/0"
  /// Threads besides those of operations, whose stacks count in a limit on address space.
  private static let otherThreads = 20
  /// The part of a limit on address space that operations do not get, in bytes.
  private static let reserve = 64 << 20

  private let variant: Variant
  private let naive: NaivePayload
  private let settings: JobSettings
  private let group: String?
  private let addressSpace: Int?
  private let isStopped = Atomic(false)
  private let reporter: VariantReporter

  init(_ variantSettings: VariantSettings) {
    (variant, naive) = (variantSettings.variant, variantSettings.naive)
    (group, addressSpace) = (variantSettings.group, variantSettings.addressSpace)
    // After the death of `compare`, this process removes what `compare` would have removed.
    reporter = VariantReporter(to: Self.takeStandardOutput()) {
      [group, working = variantSettings.working] in
      CompareFolder.remove(working)
      if let group { Confinement.abandon(group: group) }
      _exit(ExitStatus.ioError.rawValue)
    }
    var settings = JobSettings()
    settings.sources = [.list(SourceList(file: Self.list, separator: .nul))]
    settings.outputs[0].folder = variantSettings.out
    settings.max = variantSettings.max
    // A job takes half of its cgroup's limit by itself. It does not see a limit on address space, and gets half here.
    settings.memory = addressSpace.map { .bytes(Swift.max(8 << 20, ($0 - Self.reserve) / 2)) }
    self.settings = settings
  }

  func run() -> ExitCode {
    guard isConfined() else { return giveUp("cannot be put under its memory limit", .systemLimit) }
    return variant == .bounded ? runBounded() : runBaseline()
  }

  /// Takes standard output for messages. From now on, anything else that is printed there goes to standard error, so
  /// that it cannot corrupt a message.
  private static func takeStandardOutput() -> CInt {
    let messages = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    dup2(STDERR_FILENO, STDOUT_FILENO)
    return messages
  }

  private func giveUp(_ reason: String, _ status: ExitStatus) -> ExitCode {
    reporter.gaveUp(reason)
    return status.code
  }

  private func isConfined() -> Bool {
    if let group { return Confinement.join(group: group) }
    guard let addressSpace else { return true }
    return Confinement.limitAddressSpace(to: addressSpace, threads: settings.maxInUse + Self.otherThreads)
  }

  // MARK: Bounded

  /// Runs the job as `thumbjob run` does.
  private func runBounded() -> ExitCode {
    let job: Job
    do {
      job = try Job(settings) { [self] event in
        guard case .source(let report) = event, case .failed(let failure) = report.result else { return }
        reporter.failed(report.source.path.printable, line(failure))
      }
    } catch {
      return giveUp(Advice.line(error), .cannotCreateOutput)
    }
    let listens = SignalListener.listen { [reporter] signal in
      switch signal {
      case SIGUSR1:
        let status = job.status(waitingLimit: 10_000)
        // Makes the text too, although it is not printed: that is part of the time to answer.
        _ = QueueListing.text(status)
        reporter.listed(status.queue.running.count + status.queue.waiting.count)
      case SIGUSR2:
        reporter.toldToStop(VariantCounts(job))
        job.stop(.cancelled(by: "USR2"))
      default: break
      }
    }
    guard listens else { return giveUp(ProcessLimits.noThread, .systemLimit) }
    reporter.bounds(backlog: job.queue.limits.backlog, budgetBytes: job.memory.budget.bytes)
    reporter.start { VariantCounts(job) }
    let report: JobReport
    do {
      report = try job.run()
    } catch {
      return giveUp("\(error)", .systemLimit)
    }
    reporter.ended(VariantCounts(job))
    return report.exitCode(ending: 0, outputError: nil, isTraced: true)
  }

  /// The line about a failed source. The options that `Advice` names for a job are not those of `compare`.
  private func line(_ failure: SourceFailure) -> String {
    guard case .memory = failure, group != nil || addressSpace != nil else { return "\(failure)" }
    return "\(failure); a higher --memory-limit would allow it"
  }

  // MARK: Baselines

  private func runBaseline() -> ExitCode {
    let work: BaselineWork
    do { work = try BaselineWork(settings) } catch { return giveUp(Advice.line(error), .cannotCreateOutput) }
    let prepare = { @Sendable [self] (source: BaselineWork.Placed) throws -> BaselineWork.Payload in
      try reportingFailure(of: source.path) { naive == .read ? try work.read(source) : try work.decode(source) }
    }
    let make = { @Sendable [self] (payload: BaselineWork.Payload) throws in
      try reportingFailure(of: payload.source) { try work.make(payload) }
    }
    let baseline: any Baseline<BaselineWork.Placed>
    if variant == .naive {
      // Without a limit the machine itself may run out of memory: then the kernel is to kill this process (proc(5)).
      try? "1000".write(toFile: "/proc/self/oom_score_adj", atomically: false, encoding: .utf8)
      baseline = NaiveQueue(prepare: prepare, work: make)
    } else {
      baseline = SerialLoop(prepare: prepare, work: make)
    }
    let listens = SignalListener.listen { [self] signal in
      // Neither has a list to print.
      guard signal == SIGUSR2 else { return }
      reporter.toldToStop(VariantCounts(baseline.counters))
      // The naive variant goes on, because it cannot cancel a block.
      if variant == .serial { isStopped.store(true, ordering: .releasing) }
    }
    guard listens else { return giveUp(ProcessLimits.noThread, .systemLimit) }
    reporter.start { VariantCounts(baseline.counters) }
    work.walk(shouldStop: { isStopped.load(ordering: .acquiring) }, visit: { baseline.submit($0) })
    baseline.drain()
    reporter.ended(VariantCounts(baseline.counters))
    return (baseline.counters.failed == 0 ? ExitStatus.success : .someFailed).code
  }

  private func reportingFailure<Result>(of source: Path, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      reporter.failed(source.printable, "\(error)")
      throw error
    }
  }
}

extension VariantCounts {
  fileprivate init(_ job: Job) {
    let status = job.status(waitingLimit: 0)
    let counters = status.queue.counters
    self.init()
    (waiting, running, done, failed) = (counters.waiting, counters.running, status.tally.made, status.tally.failed)
    (peakWaiting, peakRunning) = (counters.peakWaiting, counters.peakRunning)
  }

  fileprivate init(_ counters: BaselineCounters) {
    self.init()
    (waiting, running, done, failed) = (counters.waiting, counters.running, counters.done, counters.failed)
    (peakWaiting, peakRunning) = (counters.peakWaiting, counters.peakRunning)
  }
}
