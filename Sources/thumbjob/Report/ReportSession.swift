import ArgumentParser
import Files
import JobSettings
import Jobs
import Ledger
import Places
import Sourcing

/// Reads ledgers, and prints what they remember.
struct ReportSession {
  enum Style: Equatable {
    /// Folders and reasons.
    case table
    /// A line for each source without thumbnails.
    case failed
    case json(failedOnly: Bool)
  }

  let outputs: [Path]
  /// In seconds since 1970. Older entries are left out.
  let since: Int
  /// Folders with the photos that should be in the ledgers.
  let sources: [Path]
  /// The gallery to make, if any.
  let joins: JoinSettings
  let style: Style
  /// Whether a table has only folders with sources that have no thumbnails.
  let isQuiet: Bool

  /// - Throws: an exit status, after printing the reason.
  func run() throws {
    let console = Console()
    do {
      let sets = try outputs.map { output throws(LedgerError) in try LedgerSet(in: output) }
      try print(sets, console)
      if let gallery = joins.gallery { try write(gallery, sets, console) }
    } catch let error as LedgerError {
      console.print("thumbjob: ledger \(error)", .failure)
      throw (error.kind == .missing ? ExitStatus.noSuchSource : .ioError).code
    } catch let error as ListFolderError {
      console.print("thumbjob: \(error)", .failure)
      throw ExitStatus.noSuchSource.code
    } catch let error as OutputError {
      console.print("thumbjob: \(Advice.line(error))", .failure)
      throw (error.isOutOfSpace ? ExitStatus.ioError : .cannotCreateOutput).code
    }
  }

  /// The path of a source for people: from the working folder if it is below that.
  private func path(_ source: Path) -> Path { Path.workingFolder.flatMap { source.below($0) } ?? source }

  private var isUnmadeOnly: Bool { style == .failed || style == .json(failedOnly: true) }

  private func print(_ sets: [LedgerSet], _ console: Console) throws {
    var report = LedgerReport()
    // Hashes of the sources that a ledger has.
    var known: Set<Int> = []
    var vanished = try Dictionary(
      sets.map { ($0.output, try $0.vanishedSources()) }, uniquingKeysWith: { first, _ in first })
    func isGone(_ entry: LedgerEntry, _ set: LedgerSet) -> Bool {
      vanished[set.output]?.state(of: set.source(of: entry), entry.version) == .gone
    }
    // All entries are needed to know what is missing.
    try LedgerSet.visit(sets, unmadeOnly: isUnmadeOnly && sources.isEmpty) { set, entry in
      if !sources.isEmpty { known.insert(set.source(of: entry).hashValue) }
      guard entry.time >= since else { return }
      // Nothing is left of a failure whose source is gone.
      if case .made = entry.outcome {} else if isGone(entry, set) { return }
      let source = path(set.source(of: entry))
      switch style {
      case .table: report.count(entry, source, isGone: isGone(entry, set))
      case .failed:
        guard let line = LedgerReport.line(entry, source) else { return }
        try StandardStream.put(line + "\n")
      case .json(let failedOnly):
        if failedOnly, case .made = entry.outcome { return }
        let line = LedgerLine(entry, source, in: set.output, isGone: isGone(entry, set))
        try StandardStream.put(JSONLinesOutput.text(of: line))
      }
    }
    let missing = try printMissing(known, console)
    if style == .table {
      try StandardStream.put(report.text(failedOnly: isQuiet))
      if let missing, !isQuiet || missing > 0 {
        try StandardStream.put(
          missing == 0
            ? "\nno source is missing\n" : "\n\(Units.count(missing, "source")) missing; --failed lists them\n")
      }
    }
  }

  /// Prints the photos that no ledger has.
  ///
  /// - Returns: how many there are; nil if that is not asked for.
  private func printMissing(_ known: Set<Int>, _ console: Console) throws -> Int? {
    if sources.isEmpty { return nil }
    var count = 0
    try UnknownSources.find(
      arguments(), outputs: outputs, isKnown: { known.contains($0.hashValue) },
      onError: { console.print("thumbjob: \(Advice.line($0))", .failure) },
      visit: { path in
        count += 1
        switch style {
        case .table: break
        case .failed: try StandardStream.put("\(path.printable): missing: not made, and no failure is remembered\n")
        case .json: try StandardStream.put(JSONLinesOutput.text(of: MissingLine(source: JSONPath(path))))
        }
      })
    return count
  }

  /// The folders, or all lists of a folder of lists.
  private func arguments() throws -> [SourceArgument] {
    var found: [SourceArgument] = []
    for path in sources {
      guard FileIdentity(of: path) != nil else {
        Console().print("thumbjob: \(path.printable): no such file or folder", .failure)
        throw ExitStatus.noSuchSource.code
      }
      if let folder = try ListFolder.read(path) {
        found += (0..<folder.parts).map { .list(folder.list($0)) }
      } else {
        found.append(.path(path))
      }
    }
    return found
  }

  private func write(_ folder: Path, _ sets: [LedgerSet], _ console: Console) throws {
    var tree: Path?
    try LedgerSet.visit(sets) { set, entry in
      let above = set.source(of: entry).parent
      tree = tree?.commonFolder(with: above) ?? above
    }
    let gallery = try ReportGallery(
      folder, isStandalone: joins.isGalleryStandalone, outputs: outputs, tree: tree ?? "/")
    let count = try gallery.publish(
      pictures: { append in
        try LedgerSet.visit(sets) { set, entry in
          guard entry.time >= since, case .made(_, let first?) = entry.outcome else { return }
          try append(set.source(of: entry), set.thumbnail(first))
        }
      },
      missing: { append in
        try LedgerSet.visit(sets, unmadeOnly: true) { set, entry in
          guard entry.time >= since, let reason = LedgerReport.reason(entry.outcome) else { return }
          try append(set.source(of: entry), reason)
        }
      })
    if !isQuiet { console.print("gallery \(folder.printable): \(Units.count(count, "picture"))") }
  }
}

/// A photo that no ledger has, as a line of JSON.
struct MissingLine: Encodable {
  let event = "remembered"
  let source: JSONPath
  let outcome = "missing"
}
