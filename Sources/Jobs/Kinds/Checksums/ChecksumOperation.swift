import BoundedQueue
import Files
import Foundation
import Locking
import Marks
import PictureMaking
import Sourcing
import SystemPackage
import Thumbnails
import TraceRecording

/// Computes the checksum of one source, which may be any regular file.
///
/// It reads the file in pieces, with one buffer, for which it reserves memory. If it is cancelled, it ends within a piece.
/// A source from the network is fetched before, by an operation on which this one depends.
final class ChecksumOperation: SourceOperation, @unchecked Sendable {  // locks guard what changes
  /// The values that all operations of a job that computes checksums share.
  struct Shared: Sendable {
    let memory: MemoryPlan
    /// How many more times to try a source after a failure that may be temporary.
    let retries: Int
    let trace: TraceRecorder?
  }

  /// The work so far.
  private struct Progress {
    var findings = SourceFindings()
    var contents: SourceContents?
    /// Whether the server says that the source has not changed.
    var isUnchanged = false
    /// Whether the operation has had a reservation.
    var hasHeldMemory = false
  }

  /// The source was written to while it was read.
  private struct ChangeError: Error, CustomStringConvertible {
    let description = "changed while it was read; the next run reads it again"
  }

  /// The bounds of the buffer, in bytes.
  private static let bufferSize = 4 << 10...1 << 20

  private let shared: Shared
  /// Brings the source here, for this operation or for the one that follows it; nil if the source is a file, or if what was
  /// brought is not needed any more. Guarded by its lock.
  private let supply: Locked<SupplyOperation?>
  /// What was fetched. Set once, in `init`.
  private var fetched: Dependency<FetchedSource>?
  private let progress = Locked(Progress())

  /// - Parameter task: the operation that fetches its source is submitted already.
  init(_ task: SourceTask, shared: Shared) {
    self.shared = shared
    supply = Locked(task.supply)
    // Only `supply` keeps the other operation, so that it can be let go.
    var rest = task
    rest.supply = nil
    super.init(.checksum, rest, memory: shared.memory)
    // If the fetch fails, this operation tells why.
    fetched = task.supply.map { dependency(on: $0, mayFail: true) }
  }

  override var hasHeldMemory: Bool { progress.withLock { $0.hasHeldMemory } }

  override var success: SourceTask.Ending { progress.withLock { $0.isUnchanged } ? .unchanged : .made(.made) }

  override var findings: SourceFindings { progress.withLock { $0.findings } }

  /// What its server tells of the contents; nil for a file, and if the server tells nothing.
  var contents: SourceContents? { progress.withLock { $0.contents } }

  override var taskSoFar: SourceTask {
    var task = task
    task.supply = supply.withLock { $0 }
    return task
  }

  override func release() {
    let released = supply.withLock { $0.take() }
    withExtendedLifetime(released) {}
  }

  override func prepareNext(after ending: SourceTask.Ending) {
    switch ending {
    // What waits to be read again must hold no disk space, for which fetches may wait.
    case .cancelled(.pressure, _), .cancelled(.postponed, _):
      let released = supply.withLock { supply in
        defer { supply = supply?.renewed(whole: false) }
        return supply
      }
      released?.cancel(reason: .pressure)
    default: break
    }
  }

  override func execute() throws {
    for attempt in 0... {
      do {
        return try shared.trace.span("ChecksumOperation.compute") { try compute() }
      } catch {
        try checkCancelled()
        let failure = SourceFailure(error, plan: shared.memory)
        guard attempt < shared.retries, failure.mayBeTemporary || error is ChangeError else { throw failure }
        report(stage: "waiting to try again")
        try pause(milliseconds: 100 << min(attempt, 5))
      }
    }
  }

  private func compute() throws {
    report(stage: "opening")
    guard let file = try open() else { return progress.withLock { $0.isUnchanged = true } }
    progress.withLock { $0.findings.file = file.version }
    let digest = try digest(of: file)
    progress.withLock { $0.findings.digest = digest }
  }

  /// Opens the source; nil if its server says that it has not changed.
  private func open() throws -> SourceFile? {
    guard let fetched else { return try SourceFile(source.path) }
    do {
      switch try fetched.value {
      case .unchanged: return nil
      case .file(let file):
        progress.withLock { $0.contents = file.contents }
        return try SourceFile(file)
      }
    } catch let error as OperationCancelledError {
      cancel(reason: error.reason)
      throw error
    }
  }

  private func digest(of file: SourceFile) throws -> SHA256Digest {
    let bounds = Self.bufferSize
    // One byte more than the file has, so that one call reads a small file and finds its end.
    let wanted = min(max(bounds.lowerBound, file.size.saturating(plus: 1)), bounds.upperBound)
    let size = min(wanted, shared.memory.budget.largest)
    report(stage: "reserving")
    return try withReservation(of: size) {
      progress.withLock { $0.hasHeldMemory = true }
      report(stage: "reading")
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
      defer { buffer.deallocate() }
      let digest = try digest(of: file, with: buffer)
      // Its digest is that of neither the old contents nor the new.
      if file.hasChanged { throw ChangeError() }
      return digest
    }
  }

  private func digest(of file: SourceFile, with buffer: UnsafeMutableRawBufferPointer) throws -> SHA256Digest {
    var (hasher, done) = (SHA256Hasher(), 0)
    while true {
      try checkCancelled()
      let count: Int
      do throws(Errno) { count = try readAll(into: buffer, from: file.descriptor, at: done) } catch {
        throw ThumbnailError.unreadable(error.rawValue)
      }
      hasher.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      done += count
      if count < buffer.count { return hasher.finish() }
      report(fraction: min(1, Double(done) / Double(max(1, file.size))))
    }
  }

  /// Sleeps until the time is over or the operation is cancelled.
  private func pause(milliseconds: Int) throws {
    for _ in 0..<(milliseconds / 10) {
      try checkCancelled()
      usleep(10_000)
    }
  }
}
