import Files
import Foundation
import Ledger
import Marks
import PictureMaking
import Sourcing

/// A source that has been found, and what is to be done about it.
struct Candidate {
  enum Verdict {
    /// Its results are to be made.
    case make
    /// They are up to date.
    case upToDate
    /// There can be none, whatever the source is. The version is that of the source; nil if it is not known.
    case refuse(SourceFailure, SourceFile.Version?)
    /// This is to be done first.
    case start(SourceTask)
    /// This is to be done last, and alone.
    case postpone(SourceTask)
    /// A dry run takes its results for made.
    case planned
    /// It was seen before, and nothing is to be done. It is not even counted.
    case passOver
    /// The job is stopping.
    case stop
  }

  let source: Source
  /// The place of its results, from ``OutputPlan``.
  let place: Path
  /// Its status; nil if it cannot be read, or the source is on the network.
  let status: stat?
  /// Whether it was seen before, or may have been.
  let isAgain: Bool
  /// Whether results are made although they are up to date.
  let isForced: Bool
  /// The files in the places of its results, as ``JobKind/look(at:)`` has found them: a list for each output.
  var found: [[stat?]] = []
  /// The state of the files in the places of its results; nil if one is missing or is the source itself.
  var files: FileState?
  /// How many results there are, and the place of one of them, if all are up to date and ``files`` is their state.
  var results: (count: Int, first: Path)?
  /// Whether its results are up to date but for its time: they are of contents that have its size, and its first and last
  /// bytes.
  var isTouched = false
  /// What a ledger remembers of it; nil if that is nothing.
  var entry: LedgerEntry?
  /// Whether its results are up to date, and none is refused.
  private(set) var isUpToDate = false
  /// Whether that is remembered from an earlier run.
  private(set) var isRemembered = false
  /// Its number in the order in which sources are started; nil if it is started when it is found.
  var startNumber: UInt64?
  /// Nil while it is undecided.
  var verdict: Verdict?

  init(_ source: Source, at place: Path, status: stat?, isAgain: Bool, isForced: Bool) {
    (self.source, self.place, self.status) = (source, place, status)
    (self.isAgain, self.isForced) = (isAgain, isForced)
  }

  /// Notes that the results are up to date.
  mutating func foundUpToDate(isRemembered: Bool = false) {
    (isUpToDate, self.isRemembered) = (true, isRemembered)
    verdict = isForced ? .make : .upToDate
  }

  /// Notes that the results have to be made all the same.
  mutating func foundOutdated() { (isUpToDate, verdict) = (false, .make) }
}
