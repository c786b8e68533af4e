import BoundedQueue
import Files
import Sourcing
import Thumbnails

/// Counters of a job's sources by result.
///
/// A new one is a property, the place that counts, and its declaration in ``counters``.
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
  /// Those of known formats.
  package internal(set) var otherFormats: [OtherFormat: Int] = [:]
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
  /// The same, where they are told apart from failures: see ``withKnown``.
  package private(set) var known = 0
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

  /// Sources that can have no thumbnails of their own.
  package var passedOver: Int { notImages + ownThumbnails + unsupportedImages + duplicates }

  /// Sources that are done, with any result.
  package var ended: Int { made + upToDate + passedOver + failed + known + cancelled + gone }

  /// The counters that are told, in the order in which the summary tells them.
  package static let counters: [TallyCounter] = [
    TallyCounter("found", \.found, "Sources found so far.", metric: .total("sources_found")),
    TallyCounter("made", inDryRun: "would_make", \.made, "Sources whose thumbnails were made.", metric: .outcome),
    TallyCounter("failed", \.failed, "Sources that failed.", metric: .outcome, isFault: true) { tally in
      let isAll = tally.failedEarlier == tally.failed
      let earlier = "\(isAll ? "" : "\(tally.failedEarlier) of them ")in an earlier run, and not tried again"
      return "\(tally.failed) failed\(tally.failedEarlier == 0 ? "" : " (\(earlier))")"
    },
    TallyCounter(
      "failed_earlier", \.failedEarlier, "Of these, sources that failed for good in an earlier run.", for: .summary),
    TallyCounter("known_failures", \.known, "Sources that failed in an earlier run, which is no failure.", for: []) {
      "\(Units.count($0.known, "known failure"))\($0.failedSince.map { ", first on \(Units.day($0))" } ?? "")"
    },
    TallyCounter("missing", \.missingArguments, "Sources that do not exist.", for: .summary, isFault: true) {
      Units.count($0.missingArguments, "source") + " missing"
    },
    TallyCounter("walk_problems", \.walkErrors, "Places that could not be read.", for: .summary, isFault: true) {
      Units.count($0.walkErrors, "place") + " could not be read"
    },
    TallyCounter(
      "up_to_date", \.upToDate, "Sources whose thumbnails were up to date.", metric: .outcome,
      // If nothing was made, the answer of the summary says it.
      words: { $0.made + $0.thumbnails > 0 ? "\($0.upToDate) up to date" : nil }),
    TallyCounter("removed", \.removed, "Thumbnails removed because their sources are gone.", for: []) {
      Units.count($0.removed, "thumbnail") + " removed"
    },
    TallyCounter("gone", \.gone, "Sources that were removed before their thumbnails were made.", for: []) {
      "\($0.gone) gone before they were made"
    },
    TallyCounter(
      "passed_over", \.passedOver, "Files that are not images, are of an unsupported type, or are duplicates.",
      for: .status, metric: .outcome),
    TallyCounter("passed_over", \.notImages, "Files that are not images.", for: .summary),
    TallyCounter("not_read", \.unsupportedImages, "Images of other kinds.", for: .summary),
    TallyCounter("own_thumbnails", \.ownThumbnails, "Thumbnails that thumbjob has made.", for: .summary),
    TallyCounter("duplicates", \.duplicates, "Files that were given more than once.", for: .summary),
    TallyCounter("cancelled", \.cancelled, "Sources that were cancelled.", metric: .outcome),
    TallyCounter(
      "requeued", \.requeued, "Operations that memory pressure cancelled and that were submitted again.",
      metric: .total("operations_requeued")),
    TallyCounter("pressure_warnings", \.pressureWarnings, "How often pressure became a warning.", for: .summary),
    TallyCounter("pressure_criticals", \.pressureCriticals, "How often pressure became critical.", for: .summary),
    TallyCounter("thumbnails", inDryRun: "would_make_thumbnails", \.thumbnails, "Thumbnails written."),
    TallyCounter("bytes_written", \.bytesWritten, "Bytes of thumbnails written.", metric: .total("written_bytes")),
    TallyCounter(
      "bytes_read", \.bytesRead, "Bytes of sources whose thumbnails were made.", metric: .total("read_bytes")),
  ]

  /// The counters of a job for which sources that failed in an earlier run are no failures.
  package var withKnown: JobTally {
    var tally = self
    (tally.known, tally.failed, tally.failedEarlier) = (failedEarlier, failed - failedEarlier, 0)
    return tally
  }

  /// Sources of which nothing remains to be done.
  package var done: Int { ended - cancelled }

  mutating func count(_ report: SourceReport) {
    thumbnails += report.thumbnails.count
    var paths: Set<Path> = []
    for thumbnail in report.thumbnails where paths.insert(thumbnail.path).inserted {
      bytesWritten = bytesWritten.saturating(plus: thumbnail.bytes)
    }
    switch report.result {
    case .made:
      made += 1
      bytesRead = bytesRead.saturating(plus: report.bytes ?? 0)
    case .notImage(let format):
      notImages += 1
      if let format { otherFormats[format, default: 0] += 1 }
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
