import AccessRecording
import Foundation
import Locking
import Synchronization

/// Records what ran when, and on which thread, in a file that Perfetto and Chrome open: asynchronous spans, spans on
/// threads, and counters over time.
///
/// Events are written as they happen, one on each line. So a trace of a million operations needs no more memory than
/// one of ten, and the trace of a killed run can still be read. If the file cannot be written, or not as fast as events
/// happen, the trace is incomplete and ``close()`` throws; the run continues.
///
/// *Concurrency*: every member may be called from any thread.
///
/// *Source*: the Trace Event Format, as a JSON array, whose closing bracket may be missing.
public final class TraceRecorder: Sendable {
  /// Guarded by its lock.
  private struct State {
    /// The events that are not submitted to the file yet.
    var block = Array("[\n".utf8)
    var eventsInBlock = 0
    /// Threads whose names are written.
    var named: Set<Int> = []
    /// Events in blocks that the file has dropped.
    var lost = 0
    var isClosed = false

    mutating func append(_ line: TraceLine, _ process: Int, _ thread: Int) {
      block += line.bytes(process: process, thread: thread)
      block += TraceLine.separator
      eventsInBlock += 1
    }

    mutating func submit(to file: TraceFile) {
      if !file.write(block) {
        lost += eventsInBlock
        named = []  // the block may have contained names
      }
      block.removeAll()
      eventsInBlock = 0
    }
  }

  private static let blockSize = 64 << 10

  private let file: TraceFile
  private let state = Locked(State())
  private let start = ContinuousClock.now
  private let lastArrow = Atomic(0)
  private let processID = Int(ProcessInfo.processInfo.processIdentifier)

  /// Creates the file, or overwrites an earlier trace.
  ///
  /// - Parameter name: the path in its printable form, for errors; nil for the path itself.
  /// - Throws: ``TraceError`` if the file cannot be written, or holds something else than a trace.
  public init(path: UnsafePointer<CChar>, name: String? = nil) throws(TraceError) {
    file = try TraceFile(path: path, name: name ?? String(cString: path))
  }

  // MARK: Recording

  /// Runs `body`, and records when and how long it ran on this thread. An ``AccessRecorder`` that is on records it too.
  ///
  /// - Parameter method: the name of the span, such as `Job.take`. ``ThreadReport`` adds up the spans of a name.
  public func span<Result, Failure: Error>(
    _ method: StaticString, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let begin = ContinuousClock.now
    defer {
      let duration = TraceLine.microseconds(ContinuousClock.now - begin)
      write(TraceLine("X", "\(method)", at: time(begin), number: ("dur", duration)))
    }
    return try AccessRecorder.record(method, body)
  }

  /// Begins a span that may end on another thread: that of an operation, or of a stage of an operation.
  ///
  /// - Parameters:
  ///   - name: the name that is displayed.
  ///   - id: the same for all spans of one operation.
  public func begin(_ name: String, of id: Int, at instant: ContinuousClock.Instant = .now) {
    write(TraceLine("b", name, at: time(instant), id: id))
  }

  /// Ends the span of this name and operation.
  ///
  /// - Parameter note: how it ended, for display.
  public func end(_ name: String, of id: Int, at instant: ContinuousClock.Instant = .now, note: String? = nil) {
    write(TraceLine("e", name, at: time(instant), id: id, note: note))
  }

  /// Marks this moment on this thread, so that arrows can begin or end here.
  ///
  /// - Parameters:
  ///   - name: the name that is displayed.
  ///   - id: the operation that the mark is about.
  public func mark(_ name: String, of id: Int) -> TraceMark {
    let mark = TraceMark(time: time(.now), thread: ThreadIdentity.current.id)
    // Viewers attach arrows to spans only.
    write(TraceLine("X", name, at: mark.time, id: id, lasting: TraceMark.duration))
    return mark
  }

  /// Records an arrow between two marks.
  public func arrow(_ name: StaticString, from first: TraceMark, to last: TraceMark) {
    let id = lastArrow.add(1, ordering: .relaxed).newValue
    write(TraceLine(arrow: "s", name, at: first.time, id: id), thread: first.thread)
    write(TraceLine(arrow: "f", name, at: last.time, id: id), thread: last.thread)
  }

  /// Records the current values of related numbers, which are displayed in one chart.
  public func count(_ name: StaticString, _ values: [(name: StaticString, value: Int)]) {
    write(TraceLine("C", "\(name)", at: time(.now), values: values))
  }

  /// Writes the remaining events; later events are not recorded. Waits for the file, as long as it accepts data.
  ///
  /// - Throws: ``TraceError`` if the trace is incomplete.
  public func close() throws(TraceError) {
    let last = TraceLine(processName: "thumbjob").bytes(process: processID, thread: ThreadIdentity.current.id)
    let lost = state.withLock { state in
      if !state.isClosed {
        state.isClosed = true
        state.block += last + Array("]\n".utf8)
        state.submit(to: file)
      }
      return state.lost
    }
    try file.finish()
    if lost > 0 {
      throw TraceError(
        path: file.path, reason: "\(lost) events are missing, because they came faster than the file was written")
    }
  }

  // MARK: Writing

  private func time(_ instant: ContinuousClock.Instant) -> Int { TraceLine.microseconds(instant - start) }

  /// - Parameter number: the thread that the event is about; nil for the current one.
  private func write(_ line: TraceLine, thread number: Int? = nil) {
    let thread = ThreadIdentity.current
    state.withLock { state in
      guard !state.isClosed else { return }
      if state.named.insert(thread.id).inserted {
        state.append(TraceLine(threadName: thread.name), processID, thread.id)
      }
      state.append(line, processID, number ?? thread.id)
      if state.block.count >= Self.blockSize { state.submit(to: file) }
    }
  }
}

/// A moment on a thread, from ``TraceRecorder/mark(_:of:)``.
public struct TraceMark: Sendable {
  /// Microseconds since the start of the trace.
  let time: Int
  let thread: Int

  /// The microseconds that a mark is displayed as. Without a duration, it would contain no moment.
  static let duration = 1
}

extension TraceRecorder? {
  /// ``TraceRecorder/span(_:_:)``; without a trace, only an ``AccessRecorder`` that is on records the call.
  @inlinable public func span<Result, Failure: Error>(
    _ method: StaticString, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let self else { return try AccessRecorder.record(method, body) }
    return try self.span(method, body)
  }
}
