import Foundation
import Locking

/// Watches how tight memory is, and tells when that changes.
///
/// ```swift
/// let monitor = try PressureMonitor { event in
///   if case .changed(_, to: .critical, let cause) = event { print("giving memory back:", cause) }
/// }
/// print("memory pressure from", monitor.snapshot.signals)
/// ```
///
/// *Concurrency*: a monitor has one thread of its own, however busy the pools are. It waits in poll(2) and costs less than
/// a thousandth of a processor. A monitor nobody holds any more stops.
public final class PressureMonitor: Sendable {
  /// What every source answered that was asked whether it can be used, in the order of asking.
  public let reports: [PressureSignalReport]
  private let state: PressureState
  /// Nil where nothing is watched.
  private let wakePipe: WakePipe?

  /// Begins to watch.
  ///
  /// - Parameter handler: called on the monitor's thread, outside every lock, one event at a time. As long as it has not
  ///   returned nothing else is noticed.
  /// - Throws: ``PressureSignalError`` where a source is chosen by name and cannot be used.
  public convenience init(
    signals choice: PressureSignalChoice = .auto, rules: PressureRules = PressureRules(),
    handler: @escaping @Sendable (PressureEvent) -> Void
  ) throws(PressureSignalError) {
    try self.init(signals: choice, rules: rules, in: Surroundings(), handler: handler)
  }

  /// - Parameter limit: where it is known already; looked up in the surroundings if not.
  package init(
    signals choice: PressureSignalChoice, rules: PressureRules, under limit: MemoryLimit? = nil,
    in surroundings: Surroundings,
    handler: @escaping @Sendable (PressureEvent) -> Void
  ) throws(PressureSignalError) {
    let limit = limit ?? MemoryLimit.find(in: surroundings)
    let selection = try PressureSignalSelection(choice, in: surroundings, under: limit)
    let usage = UsageReader(limit: limit, surroundings: surroundings)
    let inUse = choice == .off ? .off : selection.provider.map { type(of: $0).name } ?? .rss
    reports = selection.reports
    state = PressureState(PressureSnapshot(signals: inUse, usage: usage.read(), limit: limit))
    guard choice != .off else {
      wakePipe = nil
      return
    }
    let pipe: WakePipe
    do {
      pipe = try WakePipe()
    } catch {
      throw PressureSignalError(signals: choice, reason: "\(error)")
    }
    wakePipe = pipe
    let providers = [selection.provider, UsageSignals(limit: limit, rules: rules)].compactMap(\.self)
    let loop = PressureLoop(
      providers: providers, usage: usage, limit: limit, rules: rules, wakePipe: pipe, state: state, handler: handler)
    let thread = Thread { loop.run() }
    thread.name = "memory pressure"
    thread.start()
  }

  deinit { stop() }

  /// How tight memory is now.
  public var snapshot: PressureSnapshot { state.snapshot }

  /// Ends the watching. When this returns no event will be told any more; one that is being told at this moment on the
  /// monitor's thread may still be.
  ///
  /// *Concurrency*: from any thread, any number of times, also from within the handler; waits for nobody.
  public func stop() {
    state.stop()
    wakePipe?.wake()
  }

  /// What the thread used of a processor, once it has ended and its files are closed; for tests.
  var processorTime: Duration? { state.processorTime }
}
