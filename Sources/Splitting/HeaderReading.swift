import BoundedQueue
import Files
import Locking
import Sourcing

/// Reads the headers of sources while the walk goes on, many at a time: on a network file system each read is a wait for an
/// answer.
///
/// *Concurrency*: ``add(_:)`` and ``finish()`` are called on one thread.
final class HeaderReading {
  struct Found: Sendable {
    /// The cost of each source; 0 for a file that is none.
    var costs: [UInt32] = []
    var (sources, bytes, withoutPixels, notImages, ownThumbnails) = (0, 0, 0, 0, 0)

    mutating func count(_ header: SourceHeader, at index: Int) {
      switch header {
      case .notImage: notImages += 1
      case .thumbnail: ownThumbnails += 1
      case .source(let cost, let hasPixels, let size):
        costs[index] = cost.units
        (sources, bytes) = (sources + 1, bytes.saturating(plus: size))
        if !hasPixels { withoutPixels += 1 }
      }
    }
  }

  /// What all threads have found. Guarded by its lock.
  private final class Findings: Sendable {
    let found = Locked(Found())
  }

  /// Files that are open at once.
  private static let width = 16
  private static let batchSize = 256

  private let queue = BoundedOperationQueue(name: "headers", maxConcurrentOperations: width, backlog: width)
  private let findings = Findings()
  private var batch: [Source] = []

  /// Waits while many sources are to be read.
  func add(_ source: Source) {
    batch.append(source)
    if batch.count == Self.batchSize { submit() }
  }

  private func submit() {
    let (batch, first) = (batch, findings.found.withLock { $0.costs.count })
    self.batch.removeAll(keepingCapacity: true)
    findings.found.withLock { $0.costs += repeatElement(0, count: batch.count) }
    let reading = ResultOperation(title: "headers") { [findings] in
      let headers = batch.map { SourceHeader(of: $0) }
      findings.found.withLock { found in
        for (index, header) in headers.enumerated() { found.count(header, at: first + index) }
      }
    }
    do throws(SubmitError) { try queue.submitBlocking(reading) } catch {
      preconditionFailure("nothing stops or closes this queue before its end: \(error)")
    }
  }

  /// Waits until all headers are read.
  func finish() -> Found {
    submit()
    queue.drainBlocking()
    queue.close()
    return findings.found.withLock { found in
      defer { found = Found() }
      return found
    }
  }
}
