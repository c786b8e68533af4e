import BoundedQueue
import Files
import Foundation
import Locking
import Marks
import PictureMaking
import Sourcing
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
    var digest: SHA256Digest?
    var contents: SourceContents?
    /// Whether the server says that the source has not changed.
    var isUnchanged = false
    /// Whether the operation has had a reservation.
    var hasHeldMemory = false
  }

  /// The reason of a failure: the source was written to while it was read.
  private static let change = "changed while it was read; the next run reads it again"

  /// The bounds of the buffer, in bytes.
  private static let bufferSize = 4 << 10...1 << 20

  private let shared: Shared
  private let progress = Locked(Progress())

  /// - Parameter task: the operation that fetches its source is submitted already.
  init(_ task: SourceTask, shared: Shared) {
    self.shared = shared
    super.init(SourceWork(rawValue: "checksum"), task, memory: shared.memory)
  }

  override var hasHeldMemory: Bool { progress.withLock { $0.hasHeldMemory } }

  override var success: SourceTask.Ending { progress.withLock { $0.isUnchanged } ? .unchanged : .made(.made) }

  override var findings: SourceFindings { progress.withLock { $0.findings } }

  /// Nil before it was computed.
  var digest: SHA256Digest? { progress.withLock { $0.digest } }

  /// What its server tells of the contents; nil for a file, and if the server tells nothing.
  var contents: SourceContents? { progress.withLock { $0.contents } }

  override func execute() throws {
    try retrying(shared.retries) { failure in
      if case .other(Self.change) = failure { true } else { failure.mayBeTemporary }
    } _: {
      try shared.trace.span("ChecksumOperation.compute") { try compute() }
    }
  }

  private func compute() throws {
    report(stage: "opening")
    guard let file = try open() else { return progress.withLock { $0.isUnchanged = true } }
    progress.withLock { $0.findings.file = file.version }
    let digest = try digest(of: file)
    let line = ChecksumLine(digest, source.path)
    progress.withLock { progress in
      progress.digest = digest
      progress.findings.line = LineResult(
        line.bytes, text: "\(digest)  \(source.path.printable)", fields: ChecksumFields(sha256: digest.description))
    }
  }

  /// Opens the source; nil if its server says that it has not changed.
  private func open() throws -> SourceFile? {
    switch try fetched() {
    case nil: return try SourceFile(source.path)
    case .unchanged: return nil
    case .file(let file):
      progress.withLock { $0.contents = file.contents }
      return try SourceFile(file)
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
      if file.hasChanged { throw SourceFailure.other(Self.change) }
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
      reportProgress(min(1, Double(done) / Double(max(1, file.size))))
    }
  }
}

/// The fields of a checksum in JSON.
package struct ChecksumFields: Encodable, Sendable {
  let sha256: String
}
