import Files
import Foundation

/// A comparison as an HTML page: one document, without scripts, that loads nothing.
public struct ComparisonPage: Sendable {
  private static let template = String(decoding: PackageResources.compare_html, as: UTF8.self)
  private static let style = String(decoding: PackageResources.compare_css, as: UTF8.self)

  private let report: ComparisonReport

  public init(_ report: ComparisonReport) { self.report = report }

  public var html: String {
    let parts = [
      "style": Self.style, "title": escaped(title), "headline": escaped(report.headline),
      "answer": escaped(report.answer), "legend": legend, "shown": escaped(shown), "charts": charts, "sizes": sizes,
      "answers": table(.answers(report), "What each can do"), "rounds": table(.rounds(report), roundsTitle),
      "roundsTitle": roundsTitle, "stops": table(.stops(report), "Told to stop"), "conditions": conditions,
      "variants": variants, "command": escaped(Self.shortened(report.command.map(Self.quoted), " ")),
    ]
    // One pass, so that an inserted text that contains `{{` stays as it is.
    return Self.template.split(separator: "{{", omittingEmptySubsequences: false).enumerated().map { index, piece in
      guard index > 0, let end = piece.firstRange(of: "}}") else { return String(piece) }
      return (parts[String(piece[..<end.lowerBound])] ?? "") + piece[end.upperBound...]
    }.joined()
  }

  private var title: String { "The same thumbnails, \(report.variants.count) ways" }

  private var roundsTitle: String { report.rounds == 1 ? "One round" : "\(report.rounds) rounds" }

  /// How the rounds that the charts show are chosen; empty if there is only one.
  private var shown: String {
    if report.rounds == 1 { return "" }
    return
      "The charts show for each variant the round with the median time; if rounds of it ended early, the median of these."
  }

  /// What each variant is, and the code that it is compiled from.
  private var variants: String {
    report.variants.map { variant in
      let code = variant.code
      return "<details><summary><strong>\(variant.rawValue)</strong>: \(escaped(variant.title))</summary>\n"
        + "<p class=\"quiet\">\(escaped(code.file))</p>\n<pre><code>\(escaped(code.text))</code></pre></details>"
    }.joined(separator: "\n")
  }

  // MARK: Tables

  private func table(_ table: ComparisonTable, _ caption: String) -> String {
    let head = "<td></td>" + table.head.dropFirst().map { "<th scope=\"col\">\(escaped($0))</th>" }.joined()
    let rows = table.rows.map { row in
      let cells = row.dropFirst().map { "<td>\(escaped($0))</td>" }
      return "<tr><th scope=\"row\">\(escaped(row[0]))</th>\(cells.joined())</tr>"
    }
    // A wide table scrolls within its box.
    return "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"\(caption)\">"
      + "<table style=\"--columns:\(table.head.count - 1)\"><thead><tr>\(head)</tr></thead><tbody>"
      + "\(rows.joined(separator: "\n"))</tbody></table></div>"
  }

  private var conditions: String {
    let (machine, sources) = (report.machine, report.sources)
    let model = machine.processorModel.map { " (\($0))" } ?? ""
    var facts = [
      (
        "Sources",
        "\(Self.shortened(sources.arguments, ", ")): \(Units.count(sources.count, "JPEG file")), "
          + "\(ByteCount.whole(sources.bytes)); all variants use one list in the same order"
      ),
      ("Page cache", "warmed: every source was read once before the first run"),
      (
        "Machine",
        "\(Units.count(machine.processors, "processor"))\(model), \(ByteCount.whole(machine.memoryBytes)) of memory, "
          + machine.system
      ),
    ]
    if let limit = report.memoryLimit {
      facts.append(("Memory limit", "\(ByteCount.whole(limit.bytes)) for each process, \(limit.kind.displayName)"))
    } else {
      facts.append(("Memory limit", "none but the machine's"))
    }
    if !report.options.isEmpty { facts.append(("Thumbnails", Self.shortened(report.options.map(Self.quoted), " "))) }
    if let traits = report.summary(of: .bounded)?.shown.traits, let backlog = traits.waitingBound,
      let budget = traits.budgetBytes
    {
      let bounds = "at most \(report.max) running, a backlog of \(backlog), a budget of \(ByteCount.whole(budget))"
      facts.append(("Bounded", bounds))
    }
    let order = report.runs.filter { $0.round == 1 }.map(\.variant.rawValue).joined(separator: ", then ")
    let turns = report.rounds == 1 ? "" : "; each further round begins with the next of them"
    facts.append(("Order", "\(order)\(turns); each in a process of its own"))
    let interval = "every \(Int(report.sampleIntervalSeconds * 1000)) ms"
    facts.append(
      (
        "Samples",
        "\(interval): memory and threads from /proc, the other figures as the process reports them. Anonymous memory is the "
          + "part of the RSS that is not backed by files; it is most of what a limit counts. The RSS may exceed the limit: "
          + "it includes pages of the program's file, which were charged to the process that read them first"
      ))
    facts.append(("When", "\(report.startedAt.formatted(.iso8601)), thumbjob \(report.thumbjobVersion)"))
    return facts.map { "<dt>\($0)</dt><dd>\(escaped($1))</dd>" }.joined(separator: "\n")
  }

  /// The first words of a row, and the number of the others: a shell's pattern may have made thousands.
  private static func shortened(_ words: [String], _ separator: String) -> String {
    let rest = words.count > 24 ? "\(separator)… and \(words.count - 24) more" : ""
    return words.prefix(24).joined(separator: separator) + rest
  }

  /// A word of a command line, quoted for a shell.
  private static func quoted(_ word: String) -> String {
    let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "-_./,:=%@+".contains($0) }
    return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }

  // MARK: Charts

  private var legend: String {
    var entries = report.summaries.map { summary in
      let variant = summary.variant
      let round = report.rounds == 1 ? "" : ", round \(summary.shownRound) of \(report.rounds)"
      return
        "<li><svg viewBox=\"0 0 40 8\" aria-hidden=\"true\"><polyline class=\"\(variant.rawValue)\" points=\"0,4 40,4\"/>"
        + "</svg>\(escaped(variant.rawValue + round))</li>"
    }
    if limitShown != nil {
      entries.append(
        "<li><svg viewBox=\"0 0 40 8\" aria-hidden=\"true\"><line class=\"limit\" x1=\"0\" y1=\"4\" x2=\"40\" y2=\"4\"/></svg>"
          + "memory limit</li>")
    }
    return entries.joined(separator: "\n")
  }

  /// The limit as a line in the chart of memory. Nil without a limit, and for one on address space, which is another
  /// quantity.
  private var limitShown: (Double, String)? {
    report.memoryLimit.flatMap { limit in
      limit.kind == .addressSpace ? nil : (Double(limit.bytes), "limit \(ByteCount.whole(limit.bytes))")
    }
  }

  private var charts: String {
    return [
      chart("waiting", "Sources waiting", of: \.waiting, isBinary: false),
      chart("memory", "Memory held (anonymous)", of: \.anonymousBytes, isBinary: true, limit: limitShown),
      chart("done", "Thumbnails done", of: \.done, isBinary: false),
    ].joined(separator: "\n")
  }

  /// The section of the runs with several sizes; empty without any.
  private var sizes: String {
    if report.sizeRuns.isEmpty { return "" }
    let charts = [
      chart("sizes-waiting", "Most sources waiting", of: \.peakWaiting, isBinary: false),
      chart(
        "sizes-memory", "Most memory held (anonymous)", of: \.peakAnonymousBytes, isBinary: true, limit: limitShown),
    ]
    return "<h2 class=\"part\">Over the size of the thumbnails</h2>\n<div class=\"charts\">"
      + "\(charts.joined(separator: "\n"))</div>\n<section class=\"card\"><p>Each variant ran once with each size. A cross is "
      + "a run that was killed or crashed.</p>\(table(.sizes(report), "Over the size"))</section>"
  }

  /// A chart over time.
  private func chart(
    _ id: String, _ title: String, of value: KeyPath<Sample, Int>, isBinary: Bool, limit: (Double, String)? = nil
  ) -> String {
    let runs = report.summaries.map(\.shown)
    let lines = runs.map { run in
      LineChart.Line(
        kind: run.variant.rawValue, points: run.samples.map { .init(x: $0.seconds, y: Double($0[keyPath: value])) },
        endMark: run.endMark)
    }
    let words = runs.map { run in
      let peak = run.samples.map { $0[keyPath: value] }.max() ?? 0
      return "\(run.variant.rawValue) up to \(Self.label(isBinary)(Double(peak))) within \(text(seconds: run.seconds))"
    }
    return Self.figure(
      title,
      LineChart(
        id: id, title: "\(title) over time", description: words.joined(separator: "; "), lines: lines,
        limit: limit.map { (level: $0.0, name: $0.1) }, isBinary: isBinary, label: Self.label(isBinary)))
  }

  /// A chart over sizes.
  private func chart(
    _ id: String, _ title: String, of value: KeyPath<VariantMeasurement, Int>, isBinary: Bool,
    limit: (Double, String)? = nil
  ) -> String {
    let lines = report.variants.map { variant in
      let runs = report.sizeRuns.filter { $0.variant == variant }
      return LineChart.Line(
        kind: variant.rawValue,
        points: runs.enumerated().map { .init(x: Double($0), y: Double($1[keyPath: value])) }, endMark: nil,
        crosses: Set(runs.indices.filter { runs[$0].endMark != nil }))
    }
    let words = zip(report.variants, lines).map { variant, line in
      "\(variant.rawValue): \(line.points.map { Self.label(isBinary)($0.y) }.joined(separator: ", "))"
    }
    return Self.figure(
      title,
      LineChart(
        id: id, title: "\(title) over the size", description: words.joined(separator: "; "), lines: lines,
        limit: limit.map { (level: $0.0, name: $0.1) }, isBinary: isBinary, label: Self.label(isBinary),
        axis: .sizes(report.sizes)))
  }

  private static func label(_ isBinary: Bool) -> (Double) -> String {
    { level in level == 0 ? "0" : isBinary ? ByteCount.whole(Int(level)) : "\(Int(level))" }
  }

  private static func figure(_ title: String, _ chart: LineChart) -> String {
    "<figure class=\"card\"><figcaption><h2>\(title)</h2></figcaption>\n\(chart.svg)\n</figure>"
  }
}

extension VariantMeasurement {
  /// The text at the end of a line that ended early; nil for a run that ended well.
  fileprivate var endMark: String? {
    switch ending {
    case .finished, .stopped: nil
    case .killedForMemory: "killed at \(text(seconds: seconds))"
    case .outOfAddressSpace, .signalled, .failed: "ended at \(text(seconds: seconds))"
    }
  }
}
