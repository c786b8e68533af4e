import Files

/// The figures of a comparison as text, for the terminal and for the page: a column for each variant, and a row for
/// each quantity.
public struct ComparisonTable: Sendable {
  /// The names of the variants, after an empty cell.
  public let head: [String]
  /// The name of a quantity, and its value for each variant.
  public let rows: [[String]]

  /// The widths that fit a label and three values, with two spaces between them, into 80 columns.
  private static let (labelWidth, valueWidth) = (22, 17)
  private static let (terminalWidth, terminalColumns) = (80, 3)

  /// The rounds.
  public static func rounds(_ report: ComparisonReport) -> ComparisonTable {
    let (count, all) = (report.sources.count, report.summaries)
    var rows = [
      ["result"] + all.map { $0.result(of: count) },
      ["made, of \(count)"] + all.map(\.thumbnails),
    ]
    rows += times("time", all.map(\.seconds), report.rounds)
    rows += times("processor time", all.map(\.processorSeconds), report.rounds)
    rows += [
      ["producer done after"] + all.map(\.producer),
      ["per second"] + all.map(\.perSecond),
      ["peak anonymous"] + all.map { ByteCount.whole($0.most(\.peakAnonymousBytes)) },
      ["peak RSS"] + all.map { ByteCount.whole($0.most(\.peakRssBytes)) },
      ["peak waiting"] + all.map { "\($0.most(\.peakWaiting))" },
      ["peak running"] + all.map { "\($0.most(\.peakRunning))" },
      ["peak threads"] + all.map { "\($0.most(\.peakThreads))" },
      ["their names"] + all.map(\.threadNames),
    ]
    return ComparisonTable(head: [""] + all.map(\.variant.rawValue), rows: rows)
  }

  /// The median of several rounds and its range, or the time of one round.
  private static func times(_ name: String, _ spreads: [Spread?], _ rounds: Int) -> [[String]] {
    let medians = spreads.map { $0.map { text(seconds: $0.median) } ?? "–" }
    if rounds == 1 { return [[name] + medians] }
    return [["\(name), median"] + medians, ["\(name), range"] + spreads.map { $0.map { text(range: $0) } ?? "–" }]
  }

  /// The runs that were told to stop.
  public static func stops(_ report: ComparisonReport) -> ComparisonTable {
    let runs = report.stopRuns.compactMap { run in run.stop.map { (run: run, stop: $0) } }
    func row(_ name: String, _ value: (StopMeasurement) -> String?) -> [String] {
      [name] + runs.map { value($0.stop) ?? "–" }
    }
    return ComparisonTable(
      head: [""] + runs.map(\.run.variant.rawValue),
      rows: [
        row("asked to list (USR1)") { $0.listSentAfterSeconds.map { "after \(text(seconds: $0))" } },
        row("operations listed", \.listed),
        row("told to stop (USR2)") { $0.stopSentAfterSeconds.map { "after \(text(seconds: $0))" } },
        row("ended") { $0.secondsToEnd.map { "\(text(seconds: $0)) later" } },
        row("made meanwhile") { $0.thumbnailsMadeMeanwhile.map { "\($0)" } },
        ["result"] + runs.map { $0.run.stopping(in: report) },
      ])
  }

  /// What each variant can do.
  public static func answers(_ report: ComparisonReport) -> ComparisonTable {
    let all = report.summaries.map { summary in
      VariantAnswers(summary, report.stopRuns.first { $0.variant == summary.variant }, limit: report.memoryLimit)
    }
    return ComparisonTable(
      head: [""] + report.summaries.map(\.variant.rawValue),
      rows: [
        ["bounded memory"] + all.map(\.boundedMemory),
        ["bounded waiting"] + all.map(\.boundedWaiting),
        ["can be listed"] + all.map(\.listable),
        ["can be cancelled"] + all.map(\.cancellable),
        ["says why it waits"] + all.map(\.saysWhy),
        ["survives the limit"] + all.map(\.survives),
      ])
  }

  /// The runs with several sizes: the most that waited, and the most memory.
  public static func sizes(_ report: ComparisonReport) -> ComparisonTable {
    func run(_ variant: Variant, _ size: String) -> VariantMeasurement? {
      report.sizeRuns.first { $0.variant == variant && $0.size == size }
    }
    return ComparisonTable(
      head: [""] + report.variants.map(\.rawValue),
      rows: report.sizes.map { size in
        [size]
          + report.variants.map { variant in
            guard let run = run(variant, size) else { return "–" }
            let end = run.ending == .finished ? "in \(text(seconds: run.seconds))" : run.outcome
            return "\(run.peakWaiting) waiting, \(ByteCount.whole(run.peakAnonymousBytes)), \(end)"
          }
      })
  }

  /// The table in parts of at most three variants, which fit a terminal of 80 columns.
  public var parts: [ComparisonTable] {
    stride(from: 1, to: head.count, by: Self.terminalColumns).map { start in
      let columns = start..<min(start + Self.terminalColumns, head.count)
      return ComparisonTable(head: [head[0]] + Array(head[columns]), rows: rows.map { [$0[0]] + Array($0[columns]) })
    }
  }

  /// A text for a terminal of 80 columns, in lines that end with a line feed.
  public static func narrow(_ text: String) -> String {
    wrapped(text, to: terminalWidth).map { $0 + "\n" }.joined()
  }

  /// The head and the rows for a terminal of 80 columns: a cell that is too wide continues in the next row.
  public var narrowRows: [[String]] {
    ([head.map { $0.uppercased() }] + rows).flatMap { row in
      let cells = row.enumerated().map { wrapped($1, to: $0 == 0 ? Self.labelWidth : Self.valueWidth) }
      let height = cells.map(\.count).max() ?? 0
      return (0..<height).map { line in
        // No empty cells at the end, because they would become spaces.
        let last = cells.lastIndex { line < $0.count } ?? 0
        return cells[...last].map { line < $0.count ? $0[line] : "" }
      }
    }
  }
}

extension VariantSummary {
  /// When the producer was done, in the shortest and the longest round.
  fileprivate var producer: String { Spread(runs.compactMap(\.producerSeconds)).map { text(range: $0) } ?? "never" }

  /// The names of the threads at their peak: `6 thumbjob, 1 reporter`.
  fileprivate var threadNames: String {
    let peak = runs.max { $0.peakThreads < $1.peakThreads }
    return (peak?.peakThreadNames ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }

  /// Thumbnails in a second, by the median time.
  fileprivate var perSecond: String {
    guard let seconds, seconds.median > 0, let made = runs.first(where: { $0.ending == .finished })?.thumbnails else {
      return "–"
    }
    return "\(Int((Double(made) / seconds.median).rounded()))"
  }
}

extension StopMeasurement {
  /// Nil if it was not asked.
  fileprivate var listed: String? {
    if listSentAfterSeconds == nil { return nil }
    guard let listedOperations, let answerSeconds else { return "nothing" }
    return "\(listedOperations) in \(text(seconds: answerSeconds))"
  }
}

extension VariantMeasurement {
  /// The run in one line.
  public var summary: String { "\(outcome) after \(text(seconds: seconds)), \(thumbnails) made" }

  /// How the process ended, to precede a time or a number of rounds.
  var outcome: String {
    switch ending {
    case .finished: "finished"
    case .stopped: "stopped"
    case .killedForMemory: "killed for memory"
    case .outOfAddressSpace: "out of address space (signal \(signal ?? 0))"
    case .signalled: "ended by signal \(signal ?? 0)"
    case .failed: "ended with exit status \(exitStatus ?? 0)"
    }
  }

  /// How a run that is to be told to stop has ended.
  fileprivate func stopping(in report: ComparisonReport) -> String {
    switch ending {
    case .stopped where variant == .bounded: return "cancelled all waiting and running operations"
    case .stopped where variant == .serial: return "finished its current source and stopped"
    case .stopped where stop?.isTelling != true: return "finished what ran; nearly nothing waited"
    case .stopped where stop?.isEndOfWaiting == true: return "finished what ran, and dropped what waited"
    case .stopped: return "took no more sources, but made all that waited"
    case .finished where stop?.stopSentAfterSeconds == nil: return "was done before it \(missed)"
    case .finished where stop?.wasDoneBefore == true: return "was done before it was told to stop"
    case .finished where stop?.isEndOfWaiting == true: return "had only running operations left, which succeeded"
    case .finished: return "did not stop: continued to the end"
    default:
      let place = "\(outcome) after \(text(seconds: seconds)) and \(thumbnails) of \(report.sources.count)"
      return place + (stop?.stopSentAfterSeconds == nil ? ", before it \(missed)" : "; did not stop")
    }
  }

  /// The first of the two moments that the run did not reach.
  private var missed: String { stop?.listSentAfterSeconds == nil ? "was asked to list" : "was told to stop" }
}
