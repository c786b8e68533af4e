import Files

/// The figures of a comparison as text, for the terminal and for the page.
public struct ComparisonTable: Sendable {
  public let head: [String]
  public let rows: [[String]]
  /// The columns that are aligned right, from 0.
  public let numbers: Set<Int>

  /// The runs that were not told to stop.
  public static func runs(_ report: ComparisonReport) -> ComparisonTable {
    ComparisonTable(
      head: [
        "variant", "made", "time", "per second", "peak RSS", "anonymous", "peak waiting", "running", "threads",
        "result",
      ],
      rows: report.runs.map { run in
        [
          run.variant.displayName, "\(run.thumbnails) of \(report.sources.count)", text(seconds: run.seconds),
          run.thumbnails == 0 ? "–" : "\(Int((Double(run.thumbnails) / run.seconds).rounded()))",
          ByteCount.whole(run.peakRssBytes), ByteCount.whole(run.peakAnonymousBytes), "\(run.peakWaiting)",
          "\(run.peakRunning)", "\(run.peakThreads)", run.ending(of: report),
        ]
      }, numbers: [2, 3, 4, 5, 6, 7, 8])
  }

  /// The runs that were told to stop.
  public static func stops(_ report: ComparisonReport) -> ComparisonTable {
    ComparisonTable(
      head: [
        "variant", "asked to list (USR1) at", "listed", "told to stop (USR2) at", "ended after", "made meanwhile",
        "result",
      ],
      rows: report.stopRuns.compactMap { run in
        guard let stop = run.stop else { return nil }
        return [
          run.variant.displayName, stop.listSentAfterSeconds.map { text(seconds: $0) } ?? "–",
          stop.listSentAfterSeconds == nil ? "–" : stop.listed,
          stop.stopSentAfterSeconds.map { text(seconds: $0) } ?? "–",
          stop.secondsToEnd.map { text(seconds: $0) } ?? "–",
          stop.thumbnailsMadeMeanwhile.map { "\($0)" } ?? "–", run.stopping(in: report),
        ]
      }, numbers: [1, 3, 4, 5])
  }
}

extension StopMeasurement {
  fileprivate var listed: String {
    guard let listedOperations, let answerSeconds else { return "nothing" }
    return "\(Units.count(listedOperations, "operation")) in \(text(seconds: answerSeconds))"
  }
}

extension VariantMeasurement {
  /// The run in one line.
  public var summary: String {
    "\(ending.displayName) after \(text(seconds: seconds)), \(Units.count(thumbnails, "thumbnail")), "
      + "at most \(ByteCount.whole(peakAnonymousBytes)) of anonymous memory held and \(peakWaiting) waiting"
  }

  /// How the run ended; if sources were left, also when, and after how many thumbnails.
  func ending(of report: ComparisonReport) -> String {
    let place = "at \(text(seconds: seconds)), after \(thumbnails) of \(report.sources.count)"
    switch ending {
    case .finished:
      let left = report.sources.count - thumbnails
      return left == 0 ? "all made" : "made all but \(left)"
    case .stopped: return "stopped \(place)"
    case .killedForMemory: return "killed for memory \(place)"
    case .outOfAddressSpace: return "ran out of address space (signal \(signal ?? 0)) \(place)"
    case .signalled: return "ended by signal \(signal ?? 0) \(place)"
    case .failed: return "ended with exit status \(exitStatus ?? 0) \(place)"
    }
  }

  fileprivate func stopping(in report: ComparisonReport) -> String {
    switch ending {
    case .stopped where variant == .bounded: "cancelled all waiting and running operations"
    case .stopped: "finished its current source and stopped"
    case .finished where stop?.stopSentAfterSeconds == nil: "finished before it \(missed)"
    case .finished: "did not stop: continued to the end"
    default: ending(of: report) + (stop?.stopSentAfterSeconds == nil ? ", before it \(missed)" : "; did not stop")
    }
  }

  /// The first of the two moments that the run did not reach.
  private var missed: String { stop?.listSentAfterSeconds == nil ? "was asked to list" : "was told to stop" }
}
