import ArgumentParser
import Files
import Foundation
import Sourcing
import Splitting

/// One split with its messages, summary and exit status.
struct SplitSession {
  let split: Split
  let sources: [SourceArgument]
  let filter: SourceFilter
  let into: Path
  let printsJSON: Bool
  let isQuiet: Bool

  func run() -> ExitCode {
    let console = Console()
    let report: SplitReport
    do throws(SplitError) {
      report = try split.run { console.print("thumbjob: \(Advice.line($0))", .failure) }
    } catch {
      console.print("thumbjob: \(Advice.line(error))", .failure)
      return error.exitStatus.code
    }
    let status = report.walk.errors > 0 ? ExitStatus.someFailed : .success
    let text = SplitSummary(report: report, into: into, sources: sources, filter: filter)
    let lines = (isQuiet ? [] : text.lines) + text.warnings
    if !lines.isEmpty { console.print(lines.joined(separator: "\n")) }
    guard printsJSON else { return status.code }
    let output = JSONLinesOutput()
    output.write(SplitLine(report, into, status.code))
    return output.error.map { $0 == EPIPE ? status.code : ExitStatus.ioError.code } ?? status.code
  }
}

extension SplitError {
  fileprivate var exitStatus: ExitStatus {
    switch self {
    case .missingSource: .noSuchSource
    case .cannotCreate, .isForeign, .isBusy: .cannotCreateOutput
    case .cannotWrite, .cannotRead: .ioError
    }
  }
}

/// The last lines of a split.
struct SplitSummary {
  let report: SplitReport
  let into: Path
  let sources: [SourceArgument]
  let filter: SourceFilter

  var lines: [String] {
    var lines = ["\(counts) → \(PlaceText.text(into.printable)) (\(details))"]
    let rest = others
    if !rest.isEmpty { lines.append(rest.joined(separator: " · ")) }
    return lines
  }

  /// Even a quiet split prints these.
  var warnings: [String] {
    var warnings: [String] = []
    if report.sources == 0 {
      let names = PlaceText.text(sources.map { PlaceText.text("\($0)") })
      warnings.append("thumbjob: no picture found in \(names); all lists are empty")
    }
    if report.walk.hasFiltered {
      let unmatched = filter.unmatched(report.walk.matches).includes.map(\.description)
      if !unmatched.isEmpty {
        warnings.append("thumbjob: --include \(unmatched.joined(separator: ", ")): matched nothing")
      }
    }
    return warnings
  }

  private var counts: String {
    "\(Units.count(report.sources, "source")) in \(Units.count(report.parts, "list"))"
  }

  private var details: String {
    var parts = [ByteCount.file(report.bytes)]
    if report.empty > 0, report.sources > 0 { parts.append("\(report.empty) empty") }
    if let spread = report.spread { parts.append("their costs differ by at most \(Units.decimal(spread * 100)) %") }
    return (parts + [Units.time(report.elapsed)]).joined(separator: ", ")
  }

  /// What is in no list.
  private var others: [String] {
    let walk = report.walk
    var parts: [String] = []
    func add(_ count: Int, _ text: String) { if count > 0 { parts.append(text) } }
    add(walk.errors, Units.count(walk.errors, "place") + " could not be read")
    add(report.notImages, "\(report.notImages) \(report.notImages == 1 ? "not an image" : "not images")")
    add(report.ownThumbnails, "\(report.ownThumbnails) made by thumbjob")
    add(report.duplicates, "\(report.duplicates) given more than once")
    add(walk.inOutput, "\(walk.inOutput) in the output folder passed over")
    add(walk.filtered, "\(walk.filtered) excluded")
    add(walk.hidden, "\(walk.hidden) hidden passed over")
    add(walk.linksNotFollowed, Units.count(walk.linksNotFollowed, "link") + " not followed")
    add(walk.special, Units.count(walk.special, "special file") + " skipped")
    return parts
  }
}

/// The summary of `split --json`.
struct SplitLine: Encodable {
  let event = "split"
  let into: JSONPath
  let parts, emptyParts, sources, bytes, withoutPixels: Int
  /// Estimated seconds of one processor.
  let cost, lowestCost, highestCost: Double
  let notImages, ownThumbnails, duplicates, excluded, hidden, linksNotFollowed, specialFiles, inOutput,
    walkProblems: Int
  let elapsedSeconds: Double
  let peakMemoryBytes: Int
  let exitStatus: Int32

  init(_ report: SplitReport, _ into: Path, _ exitCode: ExitCode) {
    let walk = report.walk
    self.into = JSONPath(into)
    (parts, emptyParts) = (report.parts, report.empty)
    (sources, bytes, withoutPixels) = (report.sources, report.bytes, report.withoutPixels)
    (cost, lowestCost, highestCost) = (report.cost, report.lowestCost, report.highestCost)
    (notImages, ownThumbnails, duplicates) = (report.notImages, report.ownThumbnails, report.duplicates)
    (excluded, hidden, linksNotFollowed) = (walk.filtered, walk.hidden, walk.linksNotFollowed)
    (specialFiles, inOutput, walkProblems) = (walk.special, walk.inOutput, walk.errors)
    elapsedSeconds = report.elapsed / .seconds(1)
    peakMemoryBytes = report.peakMemory
    exitStatus = exitCode.rawValue
  }
}
