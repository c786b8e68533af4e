import ArgumentParser
import Comparison
import Files
import Foundation
import QueueBaselines
import Synchronization
import ThumbnailJobs

/// One variant of a comparison, carried through under its limit, with its answers to signals.
///
/// *Concurrency*: ``run()`` is called once, on the main thread.
final class VariantSession: Sendable {
  private static let list: Path = "/dev/fd/3"
  private static let pipe: CInt = 4
  /// Threads whose stacks count besides those of operations, where address space is what is limited.
  private static let otherThreads = 20
  /// Of a limit on address space: what is left to everything else than operations. Bytes.
  private static let reserve = 64 << 20

  private let variant: Variant
  private let naive: NaivePayload
  private let settings: JobSettings
  private let group: String?
  private let addressSpace: Int?
  private let isStopped = Atomic(false)
  /// The only one that writes to the pipe.
  private let reporter: VariantReporter

  init(_ command: VariantCommand) {
    (variant, naive) = (command.variant, command.naive)
    (group, addressSpace) = (command.group, command.addressSpace)
    // Whoever started this has died where its pipe is closed. Then nobody else removes what it would have removed.
    reporter = VariantReporter(to: Self.pipe) { [group, within = CommandWords.path(of: command.within)] in
      CompareFolder.remove(within)
      if let group { Confinement.abandon(group: group) }
      _exit(ExitStatus.ioError.rawValue)
    }
    var settings = JobSettings()
    settings.sources = [.list(SourceList(file: Self.list, separator: .nul))]
    settings.outputs[0].folder = CommandWords.path(of: command.out)
    settings.max = command.max
    // The job looks for its limit where containers have theirs. Half of this one, as of those.
    settings.memory = addressSpace.map { .bytes(Swift.max(8 << 20, ($0 - Self.reserve) / 2)) }
    self.settings = settings
  }

  func run() -> ExitCode {
    guard isConfined() else { return giveUp("cannot be put under its memory limit", .systemLimit) }
    return variant == .bounded ? runBounded() : runBaseline()
  }

  private func giveUp(_ reason: String, _ status: ExitStatus) -> ExitCode {
    reporter.givesUp(reason)
    return status.code
  }

  private func isConfined() -> Bool {
    if let group { return Confinement.join(group: group) }
    guard let addressSpace else { return true }
    return Confinement.limitAddressSpace(to: addressSpace, threads: settings.maxInUse + Self.otherThreads)
  }

  // MARK: Bounded

  /// The job as `run` has it.
  private func runBounded() -> ExitCode {
    let job: Job
    do {
      job = try Job(settings) { [reporter] event in
        guard case .source(let report) = event, case .failed(let failure) = report.result else { return }
        reporter.failed(report.source.path.printable, Advice.line(failure))
      }
    } catch {
      return giveUp(Advice.line(error), .cannotCreateOutput)
    }
    SignalListener.listen { [reporter] signal in
      switch signal {
      case SIGUSR1:
        let status = job.status(waitingLimit: 10_000)
        // As it would be printed: the work of putting it into words is part of the answer.
        _ = QueueListing.text(status)
        reporter.listed(status.queue.running.count + status.queue.waiting.count)
      case SIGUSR2: job.stop(.cancelled(by: "USR2"))
      default: break
      }
    }
    reporter.hasBounds(backlog: job.queue.limits.backlog, budget: job.memory.budget.bytes)
    reporter.start { VariantCounts(job) }
    let report: JobReport
    do {
      report = try job.run()
    } catch {
      return giveUp("\(error)", .systemLimit)
    }
    reporter.end(VariantCounts(job))
    return report.exitCode(ending: 0, outputError: nil, isTraced: true)
  }

  // MARK: Baselines

  private func runBaseline() -> ExitCode {
    let work: SourceWork
    do { work = try SourceWork(settings) } catch { return giveUp(Advice.line(error), .cannotCreateOutput) }
    let prepare = { @Sendable [self] (source: SourceWork.Placed) throws -> SourceWork.Payload in
      try telling(of: source.path) { naive == .read ? try work.read(source) : try work.render(source) }
    }
    let make = { @Sendable [self] (payload: SourceWork.Payload) throws in
      try telling(of: payload.source) { try work.make(payload) }
    }
    let baseline: any Baseline<SourceWork.Placed>
    if variant == .naive {
      // There is nothing it could do about them: no list to print, no block to take back.
      signal(SIGUSR1, SIG_IGN)
      signal(SIGUSR2, SIG_IGN)
      // Where no limit was asked for and the machine itself runs out of memory, this is the process to go: proc(5).
      try? "1000".write(toFile: "/proc/self/oom_score_adj", atomically: false, encoding: .utf8)
      baseline = NaiveQueue(prepare: prepare, work: make)
    } else {
      SignalListener.listen { [self] in if $0 == SIGUSR2 { isStopped.store(true, ordering: .releasing) } }
      baseline = SerialLoop(prepare: prepare, work: make)
    }
    reporter.start { VariantCounts(baseline.counters) }
    work.walk(shouldStop: { isStopped.load(ordering: .acquiring) }, visit: { baseline.submit($0) })
    baseline.drain()
    reporter.end(VariantCounts(baseline.counters))
    return (baseline.counters.failed == 0 ? ExitStatus.success : .someFailed).code
  }

  private func telling<Result>(of source: Path, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      reporter.failed(source.printable, Advice.line(error))
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
