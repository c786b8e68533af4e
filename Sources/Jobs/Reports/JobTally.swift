import BoundedQueue
import Files
import Sourcing
import Thumbnails

/// Counters of a job's sources by result.
///
/// Every source found is counted in exactly one of `made`, `upToDate`, `notImages`, `ownThumbnails`, `unsupported`,
/// `duplicates`, `failed`, `cancelled` and `gone`, unless it is still on the queue or on its way there.
package struct JobTally: Sendable, Equatable {
  /// Sources that the walk has reached.
  package internal(set) var found = 0
  /// Sources whose thumbnails were made.
  package internal(set) var made = 0
  package internal(set) var upToDate = 0
  /// Files that are not images.
  package internal(set) var notImages = 0
  /// Thumbnails that thumbjob has made. They are never sources.
  package internal(set) var ownThumbnails = 0
  /// Images of types that are not supported yet.
  package internal(set) var unsupported: [ImageType: Int] = [:]
  package internal(set) var duplicates = 0
  package internal(set) var failed = 0
  /// Failed sources that failed for good in an earlier run, and were not tried again.
  package internal(set) var failedEarlier = 0
  /// When the first of these failed first, in seconds since 1970.
  package internal(set) var failedSince: Int?
  /// Failed sources whose output disk is full or faulty.
  package internal(set) var diskFaults = 0
  package internal(set) var cancelled = 0
  /// Sources that were removed before their thumbnails were made, of a job that watches its folders.
  package internal(set) var gone = 0
  /// Cancelled sources that a user cancelled, one by one or all at once.
  package internal(set) var cancelledByUser = 0
  /// Failed sources that need more memory than one operation may reserve, and the largest such need in bytes.
  package internal(set) var refusedMemory = 0
  package internal(set) var mostMemoryNeeded = 0
  /// Cancellations by memory pressure after which the source was queued again.
  package internal(set) var requeued = 0
  /// How often the level of memory pressure became a warning, and critical.
  package internal(set) var pressureWarnings = 0
  package internal(set) var pressureCriticals = 0
  /// Errors of the walk: arguments that do not exist, and everything else that it could not read.
  package internal(set) var missingArguments = 0
  package internal(set) var walkErrors = 0
  /// Of these, folders and lists that could not be read.
  package internal(set) var unreadable = 0
  /// Thumbnails written, and their bytes.
  package internal(set) var thumbnails = 0
  package internal(set) var bytesWritten = 0
  /// Thumbnails removed because their sources are gone.
  package internal(set) var removed = 0
  /// Bytes of the sources whose thumbnails were made.
  package internal(set) var bytesRead = 0

  /// The sum of ``unsupported``.
  package var unsupportedImages: Int { unsupported.values.reduce(0, +) }

  /// Sources that are done, with any result.
  package var ended: Int {
    made + upToDate + notImages + ownThumbnails + unsupportedImages + duplicates + failed + cancelled + gone
  }

  /// Sources of which nothing remains to be done.
  package var done: Int { ended - cancelled }

  mutating func count(_ report: SourceReport) {
    thumbnails += report.thumbnails.count
    bytesWritten = report.thumbnails.reduce(bytesWritten) { $0.saturating(plus: $1.bytes) }
    switch report.result {
    case .made:
      made += 1
      bytesRead = bytesRead.saturating(plus: report.bytes ?? 0)
    case .notImage: notImages += 1
    case .thumbnail: ownThumbnails += 1
    case .unsupported(let type): unsupported[type, default: 0] += 1
    case .duplicate: duplicates += 1
    case .gone: gone += 1
    case .failed(let failure):
      failed += 1
      if let first = failure.firstEarlier {
        failedEarlier += 1
        failedSince = min(failedSince ?? first, first)
      }
      if failure.kind == .disk { diskFaults += 1 }
      if let needed = failure.bytesNeeded {
        refusedMemory += 1
        mostMemoryNeeded = max(mostMemoryNeeded, needed)
      }
    case .cancelled(let reason):
      cancelled += 1
      if reason == .user { cancelledByUser += 1 }
    }
  }

  mutating func count(_ error: WalkError) {
    if error.kind == .missingArgument { missingArguments += 1 } else { walkErrors += 1 }
    switch error.kind {
    case .unreadable, .tooManyOpenFiles, .notListed: unreadable += 1
    default: break
    }
  }
}
