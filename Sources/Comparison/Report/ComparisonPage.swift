import Files
import Foundation

/// A comparison as a page for people: one document that loads nothing and runs nothing.
public struct ComparisonPage: Sendable {
  private static let template = String(decoding: PackageResources.compare_html, as: UTF8.self)
  private static let style = String(decoding: PackageResources.compare_css, as: UTF8.self)

  private let report: ComparisonReport

  public init(_ report: ComparisonReport) { self.report = report }

  public var html: String {
    let parts = [
      "style": Self.style, "lead": escaped(lead), "legend": legend, "runs": table(.runs(report), "Left to run"),
      "charts": charts, "stops": table(.stops(report), "Told to stop"), "conditions": conditions,
      "naive": escaped(naive), "command": escaped(Self.shortened(report.command.map(Self.quoted), " ")),
    ]
    // In one pass, so that nothing put in is taken for a place to put something in.
    return Self.template.split(separator: "{{", omittingEmptySubsequences: false).enumerated().map { index, piece in
      guard index > 0, let end = piece.firstRange(of: "}}") else { return String(piece) }
      return (parts[String(piece[..<end.lowerBound])] ?? "") + piece[end.upperBound...]
    }.joined()
  }

  /// What there is to see, in a sentence for each variant.
  private var lead: String {
    let limit = report.memoryLimit.map { " Each had \(ByteCount.whole($0.bytes)) of memory." } ?? ""
    let sentences = report.runs.map { run in
      let time = run.ending == .finished ? " in \(text(seconds: run.seconds))" : ""
      let most =
        "at most \(ByteCount.whole(run.peakAnonymousBytes)) of anonymous memory held and \(run.peakWaiting) waiting"
      let name = run.variant.displayName
      return "\(name.prefix(1).uppercased())\(name.dropFirst()): \(run.ending(of: report))\(time); \(most)."
    }
    return sentences.joined(separator: " ") + limit
  }

  private var naive: String {
    switch report.naivePayload {
    case .read: "the producer reads each file into memory and captures it in a block"
    case .render: "the producer decodes each file to pixels and captures those in a block"
    }
  }

  // MARK: Tables

  private func table(_ table: ComparisonTable, _ caption: String) -> String {
    let head = table.head.map { "<th scope=\"col\">\(escaped($0))</th>" }.joined()
    let rows = table.rows.map { row in
      let cells = row.dropFirst().enumerated().map {
        "<td data-name=\"\(escaped(table.head[$0 + 1]))\">\(escaped($1))</td>"
      }
      return "<tr><th scope=\"row\">\(escaped(row[0]))</th>\(cells.joined())</tr>"
    }
    return "<table><caption>\(caption)</caption><thead><tr>\(head)</tr></thead><tbody>\(rows.joined(separator: "\n"))"
      + "</tbody></table>"
  }

  private var conditions: String {
    let (machine, sources) = (report.machine, report.sources)
    let model = machine.processorModel.map { " (\($0))" } ?? ""
    var facts = [
      (
        "Sources",
        "\(Self.shortened(sources.arguments, ", ")): \(text(sources.count, "JPEG file")), "
          + "\(ByteCount.whole(sources.bytes)); one list, the same order for each"
      ),
      ("Page cache", "warmed: every source was read once before the first run"),
      (
        "Machine",
        "\(text(machine.processors, "processor"))\(model), \(ByteCount.whole(machine.memoryBytes)) of memory, "
          + machine.system
      ),
    ]
    if let limit = report.memoryLimit {
      facts.append(("Memory limit", "\(ByteCount.whole(limit.bytes)) for each process, \(limit.kind.displayName)"))
    } else {
      facts.append(("Memory limit", "none but the machine's"))
    }
    if let bounded = report.runs.first(where: { $0.variant == .bounded }), let budget = bounded.budgetBytes,
      let backlog = bounded.backlog
    {
      let bounds = "at most \(report.max) running, a backlog of \(backlog), a budget of \(ByteCount.whole(budget))"
      facts.append(("Bounded", bounds))
    }
    facts.append(
      ("Order", report.runs.map(\.variant.displayName).joined(separator: ", then ") + "; each in a process of its own"))
    let interval = "every \(Int(report.sampleIntervalSeconds * 1000)) ms"
    facts.append(
      (
        "Samples",
        "\(interval): memory and threads from /proc, the rest as the process says; anonymous is the part of the RSS that is "
          + "no page of a file, and most of what a limit counts. The RSS may be over the limit: pages of the program's own "
          + "file count in it, but were charged to whoever read them first"
      ))
    facts.append(("When", "\(report.startedAt.formatted(.iso8601)), thumbjob \(report.thumbjobVersion)"))
    return facts.map { "<dt>\($0)</dt><dd>\(escaped($1))</dd>" }.joined(separator: "\n")
  }

  /// A row of words, of which a shell's pattern may have made thousands.
  private static func shortened(_ words: [String], _ separator: String) -> String {
    let rest = words.count > 24 ? "\(separator)… and \(words.count - 24) more" : ""
    return words.prefix(24).joined(separator: separator) + rest
  }

  /// A word of a command line as a shell takes it.
  private static func quoted(_ word: String) -> String {
    let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "-_./,:=%@+".contains($0) }
    return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }

  // MARK: Charts

  private var legend: String {
    var entries = report.runs.map { run in
      "<li><svg viewBox=\"0 0 40 8\" aria-hidden=\"true\"><polyline class=\"\(run.variant.rawValue)\" points=\"0,4 40,4\"/>"
        + "</svg>\(escaped(run.variant.displayName))</li>"
    }
    if limitShown != nil {
      entries.append(
        "<li><svg viewBox=\"0 0 40 8\" aria-hidden=\"true\"><line class=\"limit\" x1=\"0\" y1=\"4\" x2=\"40\" y2=\"4\"/></svg>"
          + "memory limit</li>")
    }
    return entries.joined(separator: "\n")
  }

  /// Nil without a limit, and where it is one on address space: that is no height of memory held.
  private var limitShown: (Double, String)? {
    report.memoryLimit.flatMap { limit in
      limit.kind == .addressSpace ? nil : (Double(limit.bytes), "limit \(ByteCount.whole(limit.bytes))")
    }
  }

  private var charts: String {
    return [
      chart("waiting", "Operations waiting", of: \.waiting, isBinary: false),
      chart("memory", "Memory held (anonymous)", of: \.anonymousBytes, isBinary: true, limit: limitShown),
      chart("done", "Thumbnails done", of: \.done, isBinary: false),
    ].joined(separator: "\n")
  }

  private func chart(
    _ id: String, _ title: String, of value: KeyPath<Sample, Int>, isBinary: Bool, limit: (Double, String)? = nil
  ) -> String {
    let lines = report.runs.map { run in
      LineChart.Line(
        kind: run.variant.rawValue, points: run.samples.map { .init(x: $0.seconds, y: Double($0[keyPath: value])) },
        fate: run.fate)
    }
    func label(_ level: Double) -> String {
      level == 0 ? "0" : isBinary ? ByteCount.whole(Int(level)) : "\(Int(level))"
    }
    let words = report.runs.map { run in
      let peak = run.samples.map { $0[keyPath: value] }.max() ?? 0
      return "\(run.variant.displayName) up to \(label(Double(peak))) within \(text(seconds: run.seconds))"
    }
    let chart = LineChart(
      id: id, title: "\(title) over time", description: words.joined(separator: "; "), lines: lines,
      limit: limit.map { (level: $0.0, name: $0.1) }, isBinary: isBinary, label: label)
    return "<figure class=\"card\"><figcaption><h2>\(title)</h2></figcaption>\n\(chart.svg)\n</figure>"
  }
}

extension VariantMeasurement {
  /// What is written where its line ends before all was done; nil where it ended well.
  fileprivate var fate: String? {
    switch ending {
    case .finished, .stopped: nil
    case .killedForMemory: "killed at \(text(seconds: seconds))"
    case .outOfAddressSpace, .signalled, .failed: "ended at \(text(seconds: seconds))"
    }
  }
}
