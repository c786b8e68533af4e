import Foundation
import Locking

/// The variant's side of the pipe to the process that watches it: tells how far it is every 50 ms, from a thread that does
/// nothing else.
///
/// *Concurrency*: every member may be called from any thread; a line is never torn.
public final class VariantReporter: Sendable {
  public static let interval = Duration.milliseconds(50)

  private let counts: @Sendable () -> VariantCounts
  private let onOrphaned: @Sendable () -> Void
  /// Guards the order of lines.
  private let pipe: Locked<CInt>

  /// - Parameters:
  ///   - descriptor: where to write.
  ///   - counts: how far the variant is.
  ///   - onOrphaned: called when nobody reads any more, which is when whoever watched has died.
  public init(
    to descriptor: CInt, counts: @escaping @Sendable () -> VariantCounts, onOrphaned: @escaping @Sendable () -> Void
  ) {
    pipe = Locked(descriptor)
    self.counts = counts
    self.onOrphaned = onOrphaned
  }

  public func start() {
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

  /// Says how many bytes of memory its operations may hold.
  public func hasBudget(_ bytes: Int) { send(.budget(bytes)) }

  /// Says why it cannot begin.
  public func cannotBegin(_ reason: String) { send(.problem(reason)) }

  /// Its last words.
  public func end() {
    send(.counts(counts()))
    send(.ended(peakMemory: ProcessStatus.own?.peakResident ?? 0))
  }

  private func send(_ message: VariantMessage) {
    let line = Array((message.line + "\n").utf8)
    let isHeard = pipe.withLock { descriptor in
      var rest = line[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 && errno != EINTR { return false }
        rest = rest.dropFirst(max(0, count))
      }
      return true
    }
    if !isHeard { onOrphaned() }
  }
}
