import Foundation
import Locking

/// Writes what ran when, and on which thread, into a file that Perfetto and Chrome open: asynchronous spans, spans on the
/// threads they ran on, and counters over time.
///
/// Events go to the file as they happen, one a line, so that a trace of a million operations takes no more memory than one
/// of ten, and that of a run which was killed can still be read. A file that cannot be written any more, or not as fast as
/// things happen, costs the trace and not the run: ``close()`` tells.
///
/// *Concurrency*: every member may be called from any thread.
///
/// *Source*: the Trace Event Format, JSON array form, in which the closing bracket may be missing.
public final class TraceRecorder: Sendable {
  /// What its lock guards.
  private struct State {
    /// What is not handed to the file yet.
    var block = Array("[\n".utf8)
    var eventsInBlock = 0
    /// Threads that have been given their names.
    var named: Set<Int> = []
    /// Events in blocks that the file had no room for.
    var lost = 0
    var isClosed = false

    mutating func append(_ line: TraceLine, _ process: Int, _ thread: Int) {
      block += line.bytes(process: process, thread: thread)
      block += TraceLine.separator
      eventsInBlock += 1
    }

    mutating func handOver(to file: TraceFile) {
      if !file.write(block) {
        lost += eventsInBlock
        named = []  // the names in it are lost too
      }
      block.removeAll()
      eventsInBlock = 0
    }
  }

  private static let blockSize = 64 << 10

  private let file: TraceFile
  private let state = Locked(State())
  private let start = ContinuousClock.now
  private let processID = Int(ProcessInfo.processInfo.processIdentifier)

  /// Makes the file, or begins an earlier trace anew.
  ///
  /// - Parameter name: what the path is called in errors; nil for its text.
  /// - Throws: ``TraceError`` when it cannot be written, or holds something else than a trace.
  public init(path: UnsafePointer<CChar>, name: String? = nil) throws(TraceError) {
    file = try TraceFile(path: path, name: name ?? String(cString: path))
  }

  // MARK: Recording

  /// Does `body`, and records for how long it ran on this thread.
  ///
  /// - Parameter method: what runs, such as `Job.take`. Spans of one name are counted together by ``ThreadReport``.
  public func span<Result, Failure: Error>(
    _ method: StaticString, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let begin = ContinuousClock.now
    defer {
      let duration = TraceLine.microseconds(ContinuousClock.now - begin)
      write(TraceLine("X", "\(method)", at: time(begin), number: ("dur", duration)))
    }
    return try body()
  }

  /// A span that may begin on one thread and end on another begins: an operation's, or that of a stage within it.
  ///
  /// - Parameters:
  ///   - id: the same for all spans of one operation.
  ///   - name: for people.
  public func begin(_ name: String, of id: Int, at instant: ContinuousClock.Instant = .now) {
    write(TraceLine("b", name, at: time(instant), id: id))
  }

  /// The span of this name and operation ends.
  ///
  /// - Parameter note: how, for people.
  public func end(_ name: String, of id: Int, at instant: ContinuousClock.Instant = .now, note: String? = nil) {
    write(TraceLine("e", name, at: time(instant), id: id, note: note))
  }

  /// What several numbers that belong together are at this moment.
  public func count(_ name: StaticString, _ values: [(name: StaticString, value: Int)]) {
    write(TraceLine("C", "\(name)", at: time(.now), values: values))
  }

  /// Writes out what is left; what comes later is not recorded. Waits for the file, unless that takes nothing any more.
  ///
  /// - Throws: ``TraceError`` when not all of it could be written.
  public func close() throws(TraceError) {
    let last = TraceLine(processName: "thumbjob").bytes(process: processID, thread: ThreadIdentity.current.id)
    let lost = state.withLock { state in
      if !state.isClosed {
        state.isClosed = true
        state.block += last + Array("]\n".utf8)
        state.handOver(to: file)
      }
      return state.lost
    }
    try file.finish()
    if lost > 0 { throw TraceError(path: file.path, reason: "\(lost) events are missing, which came too fast for it") }
  }

  // MARK: Writing

  private func time(_ instant: ContinuousClock.Instant) -> Int { TraceLine.microseconds(instant - start) }

  private func write(_ line: TraceLine) {
    let thread = ThreadIdentity.current
    state.withLock { state in
      guard !state.isClosed else { return }
      if state.named.insert(thread.id).inserted {
        state.append(TraceLine(threadName: thread.name), processID, thread.id)
      }
      state.append(line, processID, thread.id)
      if state.block.count >= Self.blockSize { state.handOver(to: file) }
    }
  }
}

extension TraceRecorder? {
  /// ``TraceRecorder/span(_:_:)``; only `body` where nothing is recorded.
  @inlinable public func span<Result, Failure: Error>(
    _ method: StaticString, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let self else { return try body() }
    return try self.span(method, body)
  }
}
