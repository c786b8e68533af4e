import Files
import Foundation
import Locking
import Synchronization

/// The variant's side of the pipe to the process that watches it: the only one that writes to it.
///
/// *Concurrency*: every member may be called from any thread; a line is never torn.
public final class VariantReporter: Sendable {
  public static let interval = Duration.milliseconds(50)
  /// Failures that are told one by one; of all others only the number is.
  public static let namedFailures = 5

  private let onOrphaned: @Sendable () -> Void
  /// Guards the order of lines.
  private let pipe: Locked<CInt>
  private let failures = Atomic(0)

  /// - Parameters:
  ///   - descriptor: where to write.
  ///   - onOrphaned: called when nobody reads any more, which is when whoever watched has died.
  public init(to descriptor: CInt, onOrphaned: @escaping @Sendable () -> Void) {
    pipe = Locked(descriptor)
    self.onOrphaned = onOrphaned
  }

  /// Tells every 50 ms how far the variant is, from a thread that does nothing else.
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

  /// Says that it was asked for its operations, and has named so many.
  public func listed(_ operations: Int) { send(.listed(operations)) }

  /// Says how many operations may wait, and how many bytes of memory those that run may hold.
  public func hasBounds(backlog: Int, budget: Int) { send(.bounds(backlog: backlog, budget: budget)) }

  /// Says that a source has no thumbnail, and why.
  public func failed(_ source: String, _ error: String) {
    guard failures.add(1, ordering: .relaxed).newValue <= Self.namedFailures else { return }
    send(.failure(VariantFailure(source: source, error: error)))
  }

  /// Says why the variant ends before it is done.
  public func givesUp(_ reason: String) { send(.problem(reason)) }

  /// Its last words.
  public func end(_ counts: VariantCounts) {
    send(.counts(counts))
    send(.ended(peakMemory: ProcessStatus()?.memory?.peakResident ?? 0))
  }

  private func send(_ message: VariantMessage) {
    let line = Array((message.line + "\n").utf8)
    let isHeard = pipe.withLock { (try? writeAll(line, to: $0)) != nil }
    if !isHeard { onOrphaned() }
  }
}
