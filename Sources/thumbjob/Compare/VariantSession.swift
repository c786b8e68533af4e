import ArgumentParser
import Comparison
import Files
import Foundation
import JobSettings
import Jobs
import PictureMaking
import QueueBaselines
import Sourcing

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
  private let settings: JobSettings
  private let group: String?
  private let addressSpace: Int?
  private let reporter: VariantReporter

  init(_ variantSettings: VariantSettings) {
    variant = variantSettings.variant
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
    settings.outputs = [variantSettings.output]
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
        _ = QueueListing.text(status, columns: nil, "…")
        reporter.listed(status.queue.running.count + status.queue.waiting.count)
      case SIGUSR2:
        reporter.toldToStop(VariantCounts(job))
        job.stop(.cancelled(by: "USR2"))
      default: break
      }
    }
    guard listens else { return giveUp(ProcessLimits.noThread, .systemLimit) }
    reporter.built(
      with: VariantTraits(
        waitingBound: job.queue.limits.backlog, held: .path, budgetBytes: job.memory.budget.bytes,
        largestBytes: job.memory.budget.largest, tellsWhy: true))
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
    let counted = CountedWork(
      prepare: { [self] (source: BaselineWork.Placed) throws -> BaselineWork.Payload in
        try reportingFailure(of: source.path) { variant == .gcdFile ? try work.read(source) : try work.render(source) }
      },
      finish: { [self] payload in try reportingFailure(of: payload.source) { try work.make(payload) } })
    // Without a limit the machine itself may run out of memory: then the kernel is to kill this process (proc(5)).
    try? "1000".write(toFile: "/proc/self/oom_score_adj", atomically: false, encoding: .utf8)
    let baseline = baseline(of: counted)
    let listens = SignalListener.listen { [self] signal in
      switch signal {
      case SIGUSR1: if let list = baseline.list() { reporter.listed(list.count) }
      case SIGUSR2:
        reporter.toldToStop(VariantCounts(counted.counters))
        // Whatever the variant, its producer can stop.
        counted.stop()
        baseline.cancel()
      default: break
      }
    }
    guard listens else { return giveUp(ProcessLimits.noThread, .systemLimit) }
    reporter.built(with: VariantTraits(baseline.traits))
    reporter.start { VariantCounts(counted.counters) }
    baseline.run(work.walk())
    let counters = counted.counters
    reporter.ended(VariantCounts(counters))
    return (counters.failed == 0 ? ExitStatus.success : .someFailed).code
  }

  private func baseline(
    of work: CountedWork<BaselineWork.Placed, BaselineWork.Payload>
  ) -> any Baseline<BaselineWork.Placed> {
    switch variant {
    case .bounded: preconditionFailure("the bounded queue runs a job")
    case .gcdFile, .gcdPixels: GlobalQueue(work)
    case .gcdPixelsSerial: OneSerialQueue(work)
    case .gcdPath: GlobalQueueOfItems(work)
    case .gcdSemaphore: SemaphoreQueue(work, limit: settings.maxInUse)
    case .operationQueue: PlainOperationQueue(work, limit: settings.maxInUse)
    case .taskGroup: TaskGroupOfItems(work)
    case .taskGroupWindow: WindowedTaskGroup(work, limit: settings.maxInUse)
    case .serial: SerialLoop(work)
    }
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
    submitted = status.tally.found
    (waiting, running, done, failed) = (counters.waiting, counters.running, status.tally.made, status.tally.failed)
    (peakWaiting, peakRunning) = (counters.peakWaiting, counters.peakRunning)
  }

  fileprivate init(_ counters: BaselineCounters) {
    self.init()
    submitted = counters.submitted
    (waiting, running, done, failed) = (counters.waiting, counters.running, counters.done, counters.failed)
    (peakWaiting, peakRunning) = (counters.peakWaiting, counters.peakRunning)
  }
}

extension VariantTraits {
  fileprivate init(_ traits: BaselineTraits) {
    let held: Held =
      switch traits.held {
      case .nothing: .nothing
      case .item: .path
      case .payload: .payload
      }
    self.init(waitingBound: traits.waitingBound, held: held)
  }
}
