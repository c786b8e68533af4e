import Files
import Foundation
import Ledger

/// What ledgers remember, counted by folder and by reason.
struct LedgerReport {
  private struct Counts {
    var made = 0
    var failed = 0
    var suspect = 0
    var thumbnails = 0
    var gone = 0
    var goneThumbnails = 0
    var last = 0

    mutating func count(_ entry: LedgerEntry, isGone: Bool) {
      last = max(last, entry.time)
      switch entry.outcome.verdict {
      case .made(let count, _) where isGone: (gone, goneThumbnails) = (gone + 1, goneThumbnails + count)
      case .made(let count, _): (made, thumbnails) = (made + 1, thumbnails + count)
      case .failed: failed += 1
      case .suspect: suspect += 1
      }
    }
  }

  private var all = Counts()
  private var folders: [Path: Counts] = [:]
  /// How often each reason was given, without what is particular to one file.
  private var reasons: [String: Int] = [:]

  /// - Parameters:
  ///   - source: the path of the entry's source for people.
  ///   - isGone: whether the source was made and is gone.
  mutating func count(_ entry: LedgerEntry, _ source: Path, isGone: Bool) {
    all.count(entry, isGone: isGone)
    folders[source.parent, default: Counts()].count(entry, isGone: isGone)
    guard let reason = Self.reason(entry.outcome) else { return }
    reasons[String(reason.prefix { $0 != ":" && $0 != "(" }.trimmingCharacters(in: .whitespaces)), default: 0] += 1
  }

  /// A table of the folders and one of the reasons.
  ///
  /// - Parameter isFailedOnly: leaves out folders whose sources were all made, and everything if there are no others.
  func text(failedOnly isFailedOnly: Bool) -> String {
    let sources = all.made + all.failed + all.suspect + all.gone
    if isFailedOnly, all.failed + all.suspect == 0 { return "" }
    if sources == 0 { return "no source in the ledger\n" }
    var text = "\(Units.count(sources, "source")): \(all.made) made (\(Units.count(all.thumbnails, "thumbnail")))"
    if all.failed > 0 { text += ", \(all.failed) failed" }
    if all.suspect > 0 { text += ", \(all.suspect) under way when a run died" }
    if all.gone > 0 { text += ", \(all.gone) gone (\(Units.count(all.goneThumbnails, "thumbnail")))" }
    text += "; last change \(Units.day(all.last))\n\n"
    var rows = [["MADE", "FAILED", "SUSPECT", "GONE", "LAST", "FOLDER"]]
    for (folder, counts) in folders.sorted(by: { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) })
    where !isFailedOnly || counts.failed + counts.suspect > 0 {
      let name = folder.isEmpty ? "." : folder.printable
      rows.append(
        ["\(counts.made)", "\(counts.failed)", "\(counts.suspect)", "\(counts.gone)", Units.day(counts.last), name])
    }
    text += Columns.text(rows, right: [0, 1, 2, 3])
    if reasons.isEmpty { return text }
    let reasons = reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return text + "\n" + Columns.text([["COUNT", "REASON"]] + reasons.map { ["\($0.value)", $0.key] }, right: [0])
  }

  /// The line of a source that was not made; nil for one that was.
  static func line(_ entry: LedgerEntry, _ source: Path) -> String? {
    guard let reason = reason(entry.outcome) else { return nil }
    let times = entry.times == 1 ? "" : ", \(entry.times) times since \(Units.day(entry.since))"
    return "\(source.printable): \(reason) (\(Units.day(entry.time))\(times))"
  }

  static func reason(_ outcome: LedgerEntry.Outcome) -> String? {
    switch outcome.verdict {
    case .made: nil
    case .failed(_, let reason): reason
    case .suspect(let deaths): "under way when a run died: \(Units.count(deaths, "time"))"
    }
  }
}

/// A source in a ledger, as a line of JSON.
struct LedgerLine: Encodable {
  let event = "remembered"
  let out, source: JSONPath
  let outcome: String
  /// Whether the source was made and is gone; nil if it is not.
  var gone: Bool?
  var bytes, thumbnails, deaths: Int?
  /// The path of one of the thumbnails.
  var thumbnail: JSONPath?
  var kind, error: String?
  /// In seconds since 1970.
  let time, since: Int
  let times: Int
  let program: String

  init(_ entry: LedgerEntry, _ source: Path, in out: Path, isGone: Bool) {
    gone = isGone ? true : nil
    self.out = JSONPath(out)
    self.source = JSONPath(source)
    bytes = entry.version?.bytes
    (time, since, times, program) = (entry.time, entry.since, entry.times, entry.program)
    switch entry.outcome.verdict {
    case .made(let count, let place):
      (outcome, thumbnails, thumbnail) = ("made", count, place.map { JSONPath(out.appending($0)) })
    case .failed(let kind, let reason): (outcome, self.kind, error) = ("failed", kind, reason)
    case .suspect(let deaths): (outcome, self.deaths) = ("suspect", deaths)
    }
  }
}
