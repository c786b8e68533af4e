import Files
import Foundation
import Locking
import Synchronization

/// Sends the messages of a variant's process to the process that measures it.
///
/// *Concurrency*: every member may be called from any thread; lines are written whole.
public final class VariantReporter: Sendable {
  /// The time between two messages with counts, and between two samples.
  public static let interval = Duration.milliseconds(50)
  /// The number of failures that are reported one by one. The counts contain all of them.
  static let maxFailures = 5

  private let onOrphaned: @Sendable () -> Void
  /// Guards the order of lines.
  private let pipe: Locked<CInt>
  private let failures = Atomic(0)

  /// - Parameters:
  ///   - descriptor: the pipe that the messages are written to.
  ///   - onOrphaned: called when the pipe has no reader any more, because the measuring process has died.
  public init(to descriptor: CInt, onOrphaned: @escaping @Sendable () -> Void) {
    pipe = Locked(descriptor)
    self.onOrphaned = onOrphaned
  }

  /// Starts a thread that sends the counts every 50 ms.
  public func start(_ counts: @escaping @Sendable () -> VariantCounts) {
    let thread = Thread { [self] in
      while true {
        send(.counts(counts()))
        usleep(useconds_t(Self.interval / .microseconds(1)))
      }
    }
    thread.name = "reporter"
    thread.start()
  }

  /// Reports that the variant was asked to list its operations, and how many it has listed.
  public func listed(_ operations: Int) { send(.listed(operations: operations)) }

  /// Reports that the variant was told to stop, and its counts at that moment.
  public func toldToStop(_ counts: VariantCounts) { send(.toldToStop(counts)) }

  /// Reports what the variant is built to guarantee.
  public func built(with traits: VariantTraits) { send(.traits(traits)) }

  /// Reports a source that has no thumbnail, and the reason.
  public func failed(_ source: String, _ error: String) {
    guard failures.add(1, ordering: .relaxed).newValue <= Self.maxFailures else { return }
    send(.failed(VariantFailure(source: source, error: error)))
  }

  /// Reports why the variant could not do its work.
  public func gaveUp(_ reason: String) { send(.gaveUp(reason: reason)) }

  /// Reports the last counts, and the most memory that the process has held.
  public func ended(_ counts: VariantCounts) {
    send(.counts(counts))
    send(.ended(peakBytes: ProcessStatus()?.memory?.peakResident ?? 0))
  }

  private func send(_ message: VariantMessage) {
    let line = message.line
    let isSent = pipe.withLock { (try? writeAll(line, to: $0)) != nil }
    if !isSent { onOrphaned() }
  }
}
