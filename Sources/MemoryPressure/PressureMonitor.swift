import Foundation
import Locking

/// Watches how tight memory is, and passes every change of the level, and other events, to a handler.
///
/// ```swift
/// let monitor = try PressureMonitor { event in
///   switch event {
///   case .changed(_, to: .critical, let cause), .criticalAgain(_, let cause): print("giving memory back:", cause)
///   default: break
///   }
/// }
/// print("memory is", monitor.snapshot.level)
/// ```
///
/// *Concurrency*: a monitor has its own thread, so that busy thread pools do not delay it. The thread waits in poll(2)
/// and uses less than a thousandth of a processor. A monitor stops when its last reference is released.
public final class PressureMonitor: Sendable {
  private let state: PressureState
  /// Nil if the choice is `off`: then there is no thread to wake.
  private let wakePipe: WakePipe?

  /// Starts watching.
  ///
  /// - Parameters:
  ///   - choice: the signals to watch. `auto` selects the first that can be used: at once if the environment requests
  ///     some, otherwise after ``PressureRules/openingDelay``.
  ///   - rules: the thresholds and times by which the level rises and falls.
  ///   - onOpening: receives a report on each kind of signals that was tried, in the order of trying; none for `off`.
  ///     Called before this initializer returns or, if the signals are opened later, on the monitor's thread, as
  ///     `handler` is; never if the monitor is stopped first.
  ///   - handler: called on the monitor's thread without any lock held, one event at a time. The monitor notices
  ///     nothing else until the handler returns.
  /// - Throws: ``PressureSignalError`` if signals are chosen by name and cannot be used, or if the system has no pipe
  ///   left.
  public convenience init(
    signals choice: PressureSignalChoice = .auto, rules: PressureRules = PressureRules(),
    onOpening: @escaping @Sendable ([PressureSignalReport]) -> Void = { _ in },
    handler: @escaping @Sendable (PressureEvent) -> Void
  ) throws(PressureSignalError) {
    try self.init(signals: choice, rules: rules, in: Surroundings(), onOpening: onOpening, handler: handler)
  }

  /// - Parameter limit: the memory limit, if the caller knows it; default: the limit found in the surroundings.
  package init(
    signals choice: PressureSignalChoice, rules: PressureRules, under limit: MemoryLimit? = nil,
    in surroundings: Surroundings, onOpening: @escaping @Sendable ([PressureSignalReport]) -> Void = { _ in },
    handler: @escaping @Sendable (PressureEvent) -> Void
  ) throws(PressureSignalError) {
    let limit = limit ?? MemoryLimit.find(in: surroundings)
    let opensLater = choice == .auto && !PressureSignalSelection.isRequested(in: surroundings)
    let selection = opensLater ? nil : try PressureSignalSelection(choice, in: surroundings, under: limit)
    let usage = UsageReader(limit: limit, surroundings: surroundings)
    let inUse = choice == .off ? .off : selection?.provider.map { type(of: $0).name } ?? .rss
    state = PressureState(PressureSnapshot(signals: inUse, usage: usage.read(), limit: limit))
    guard choice != .off else {
      wakePipe = nil
      onOpening([])
      return
    }
    let pipe: WakePipe
    do {
      pipe = try WakePipe()
    } catch {
      throw PressureSignalError(signals: choice, reason: "\(error)")
    }
    wakePipe = pipe
    let providers = [selection?.provider, UsageSignals(limit: limit, rules: rules)].compactMap(\.self)
    var later: PressureLoop.DeferredSignals?
    if let selection {
      onOpening(selection.reports)
    } else {
      later = PressureLoop.DeferredSignals(
        time: .now + rules.openingDelay, open: { .automatic(in: surroundings, under: limit) },
        onOpening: onOpening)
    }
    // Only the monitor's thread uses it from now on.
    let loop = Confined(
      PressureLoop(
        providers: providers, later: later, usage: usage, limit: limit, rules: rules, wakePipe: pipe, state: state,
        handler: handler))
    let thread = Thread { loop.withValue { $0.run() } }
    thread.name = "memory pressure"
    thread.start()
  }

  deinit { stop() }

  /// The current level, its cause, and the memory in use.
  public var snapshot: PressureSnapshot { state.snapshot }

  /// Stops watching. After this returns, at most one call of the handler or of `onOpening` is still made or still running:
  /// one that the monitor's thread had already decided on.
  ///
  /// *Concurrency*: call it on any thread and any number of times, even in the handler; it does not block.
  public func stop() {
    state.stop()
    wakePipe?.wake()
  }

  /// The processor time that the thread used; nil until the thread has ended and closed its files. Only tests use it.
  var processorTime: Duration? { state.processorTime }
}
