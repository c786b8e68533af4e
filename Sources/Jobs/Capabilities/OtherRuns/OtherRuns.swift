import Files
import Locking
import Places
import Synchronization

/// Tells of the runs of other processes that already work on the outputs of a job, and waits for them if it is asked to.
///
/// A run waits only for those that began before it did, so no two runs wait for each other.
///
/// *Concurrency*: from any thread.
final class OtherRuns: JobCapability {
  /// What is still waited for, besides what began later; empty before and after.
  private let awaited = Locked<[RunIdentity]>([])
  private let outputs: [ThumbnailOutput]
  private let waits: Bool
  private let isEnding = Atomic(false)
  /// Signalled when the job is stopping.
  private let ending = TimedSignal()
  private let own: RunIdentity
  private let onOther: @Sendable (RunIdentity, Path) -> Void

  /// How often it looks whether the others have ended. A look takes less than a millisecond.
  private static let pause = Duration.milliseconds(200)

  convenience init?(_ parts: JobParts) {
    self.init(parts.outputs, RunIdentity(parts.settings), waits: parts.settings.waits) {
      [onEvent = parts.onEvent] in onEvent(.otherRun($0, output: $1))
    }
  }

  private init?(
    _ outputs: [ThumbnailOutput], _ own: RunIdentity, waits: Bool,
    onOther: @escaping @Sendable (RunIdentity, Path) -> Void
  ) {
    (self.outputs, self.own, self.waits, self.onOther) = (outputs, own, waits, onOther)
    if found(\.others).isEmpty { return nil }
  }

  /// Those that are not meant to work at once with this one, each with the first output on which it works.
  private func found(_ runs: (RunFolder) -> [RunIdentity]) -> [(run: RunIdentity, output: Path)] {
    var found: [(RunIdentity, Path)] = []
    for output in outputs {
      for run in output.folder.map({ runs($0.run) }) ?? []
      where !run.isShareBeside(own) && !found.contains(where: { $0.0 == run }) { found.append((run, output.path)) }
    }
    return found
  }

  func start(_ engine: Engine) {
    let others = found(\.others)
    // This comes before the message that the run waits, because the user may ask at once which runs it waits for.
    if waits { awaited.withLock { $0 = others.map(\.run) } }
    for (run, output) in others { onOther(run, output) }
    if !waits { return }
    while !isEnding.load(ordering: .acquiring), case let left = found({ $0.othersAlive() }).map(\.run), !left.isEmpty {
      awaited.withLock { $0 = left }
      _ = ending.wait(upTo: Self.pause)
    }
    awaited.withLock { $0 = [] }
    for output in outputs { output.lookAgain() }
  }

  func stopping(_ cause: StopCause) {
    isEnding.store(true, ordering: .releasing)
    ending.signal()
  }

  func tell(_ status: inout JobStatus, waitingLimit: Int) { status.awaited = awaited.withLock { $0 } }
}
