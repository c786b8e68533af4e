import Locking
import Synchronization

/// Records which methods run on which threads, and whether the ``Shared`` values have a guard.
///
/// A class adopts ``Recorded``, and each of its methods begins with `recorded {`. Values that several threads use are declared
/// as ``Shared``. Then a run between ``start()`` and ``stop()``, such as a test, tells what to look at: the state that methods on
/// several threads use, and by name the values that no lock guards.
///
/// There is one recorder for the process, because a program has its threads in common too. While it is off, a recorded
/// method costs one load of a flag.
///
/// *Concurrency*: every member may be called from any thread.
public enum AccessRecorder {
  private struct State {
    var entries: [Key: Entry] = [:]
    var threadNames: [Int: String] = [:]
    var unguarded: [UnguardedValue] = []
  }

  /// A method, at one of the places that record it. Comparing the addresses of texts is quicker than comparing the texts.
  private struct Key: Hashable {
    let type: ObjectIdentifier?
    let method: UnsafePointer<UInt8>
  }

  private struct Entry {
    let name: String
    var calls = 0
    var duration = Duration.zero
    var threads: Set<Int> = []

    init(name: String) { self.name = name }

    /// - Returns: whether the thread is new here.
    mutating func add(_ duration: Duration, on thread: Int) -> Bool {
      calls += 1
      self.duration += duration
      guard !threads.contains(thread), threads.count < ThreadReport.mostThreads else { return false }
      threads.insert(thread)
      return true
    }
  }

  /// More threads have no names in the report.
  private static let mostNames = 10_000
  /// More values are not reported.
  private static let mostUnguarded = 100

  @usableFromInline static let isOn = Atomic(false)
  /// The number of recordings so far. What is known of a value from an earlier one does not count.
  static let recordings = Atomic(0)
  private static let state = Locked(State())

  /// Begins a recording. What an earlier one has found is forgotten.
  public static func start() {
    state.withLock { $0 = State() }
    recordings.add(1, ordering: .relaxed)
    isOn.store(true, ordering: .releasing)
  }

  /// Ends the recording. A method that is still running is not in the report.
  public static func stop() -> AccessReport {
    isOn.store(false, ordering: .relaxed)
    let state = state.withLock { $0 }
    var tally = ThreadReport.Tally()
    for entry in state.entries.values {
      let (seconds, attoseconds) = entry.duration.components
      let microseconds = Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
      tally.add(entry.name, calls: entry.calls, microseconds: microseconds, threads: entry.threads)
    }
    tally.threadNames = state.threadNames
    return AccessReport(threads: tally.report, unguarded: state.unguarded)
  }

  /// Calls `body`, and records it if a recording is under way.
  ///
  /// - Parameter name: the class and the method, such as "Job.take", for what is no class that adopts ``Recorded``.
  @inlinable public static func record<Result, Failure: Error>(
    _ name: StaticString, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard isOn.load(ordering: .relaxed) else { return try body() }
    return try recordNow(nil, name, body)
  }

  @usableFromInline static func recordNow<Result, Failure: Error>(
    _ type: (any Any.Type)?, _ method: StaticString, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let begin = ContinuousClock.now
    defer { note(type, method, ContinuousClock.now - begin) }
    return try body()
  }

  private static func note(_ type: (any Any.Type)?, _ method: StaticString, _ duration: Duration) {
    let thread = ThreadIdentity.current
    let key = Key(type: type.map { ObjectIdentifier($0) }, method: method.utf8Start)
    state.withLock { state in
      let isNew = state.entries[key, default: Entry(name: type.map { "\($0).\(method)" } ?? "\(method)")]
        .add(duration, on: thread.serialNumber)
      if isNew, state.threadNames.count < mostNames { state.threadNames[thread.serialNumber] = thread.name }
    }
  }

  static func note(_ value: UnguardedValue) {
    state.withLock { if $0.unguarded.count < mostUnguarded { $0.unguarded.append(value) } }
  }
}

/// A class whose methods can be recorded by the ``AccessRecorder``.
///
/// ```swift
/// final class NameCache: Recorded, Sendable {
///   func name(of id: Int) -> String? { recorded { names.read { $0[id] } } }
/// }
/// ```
public protocol Recorded {}

extension Recorded {
  /// Calls `body`, the work of a method, and records it if a recording is under way.
  ///
  /// - Parameter method: the name of the method, which the compiler fills in.
  @inlinable public func recorded<Result, Failure: Error>(
    _ method: StaticString = #function, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard AccessRecorder.isOn.load(ordering: .relaxed) else { return try body() }
    return try AccessRecorder.recordNow(type(of: self), method, body)
  }
}
