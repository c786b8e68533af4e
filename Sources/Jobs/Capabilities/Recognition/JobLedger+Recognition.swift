import Files
import Foundation
import Ledger
import Marks
import Sourcing

// What the ledger knows of contents, whatever their path and time.
extension JobLedger {
  /// The entries, with the present settings, of sources that had the size of a file, with their absolute paths; at most a few.
  /// First those that also had its time.
  func entries(like status: stat) -> [(source: Path, entry: LedgerEntry)] {
    ledger.entries(like: .init(status)).filter { $0.settings == settings }.map { (output.following($0.source), $0) }
  }

  /// Whether a source with the same contents as that of an entry would fail, and is not to be tried.
  func isKnownFailure(_ entry: LedgerEntry) -> Bool {
    guard !retriesFailed, entry.settings == settings, entry.program == program, case .failed = entry.outcome else {
      return false
    }
    return true
  }

  /// Remembers that a source has the contents with which another version of it, or another source, has failed.
  func record(failure entry: LedgerEntry, of source: Source, _ file: SourceFile.Version) {
    if isReading { return }
    var copy = LedgerEntry(
      key(of: source), version: version(file), outcome: entry.outcome, settings: settings, program: program,
      time: entry.time)
    (copy.hash, copy.key) = (entry.hash, SourceKey(of: source.path, from: output).number)
    ledger.record(copy)
  }

  /// Remembers a source whose thumbnails were kept because its contents are known.
  ///
  /// - Parameters:
  ///   - file: the version that was compared.
  ///   - recognized: the contents, and what the thumbnails look like.
  ///   - count: how many thumbnails there are.
  ///   - first: the place of one of them in the output folder.
  ///   - states: of all thumbnails together.
  func recordKept(
    _ source: Source, _ file: SourceFile.Version, _ recognized: RecognizedSource, thumbnails count: Int, first: Path,
    _ states: FileState
  ) {
    if isReading { return }
    record(
      key(of: source), version(file), .made(thumbnails: count, first: first), recognized.hash, looks: recognized.looks,
      thumbnails: states)
  }
}
