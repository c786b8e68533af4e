import Files

/// The figures of a comparison in words: the same on the terminal and on the page.
public struct ComparisonTable: Sendable {
  public let head: [String]
  public let rows: [[String]]
  /// The columns whose cells end together, from 0.
  public let numbers: Set<Int>

  /// What came of the runs that were left to their end.
  public static func runs(_ report: ComparisonReport) -> ComparisonTable {
    ComparisonTable(
      head: [
        "variant", "made", "time", "per second", "peak RSS", "of it anonymous", "peak waiting", "running", "threads",
        "end",
      ],
      rows: report.runs.map { run in
        [
          run.variant.displayName, "\(run.thumbnails) of \(report.sources.count)", text(seconds: run.seconds),
          run.thumbnails == 0 ? "–" : "\(Int((Double(run.thumbnails) / run.seconds).rounded()))",
          ByteCount.whole(run.peakRssBytes), ByteCount.whole(run.peakAnonymousBytes), "\(run.peakWaiting)",
          "\(run.peakRunning)", "\(run.peakThreads)",
          run.ending(of: report),
        ]
      }, numbers: [2, 3, 4, 5, 6, 7, 8])
  }

  /// What came of those that were told to stop.
  public static func stops(_ report: ComparisonReport) -> ComparisonTable {
    ComparisonTable(
      head: [
        "variant", "asked (USR1) at", "named", "told to stop (USR2) at", "ended after that", "made meanwhile",
        "what it did",
      ],
      rows: report.stopRuns.compactMap { run in
        guard let stop = run.stop else { return nil }
        return [
          run.variant.displayName, stop.listSentAfterSeconds.map { text(seconds: $0) } ?? "–",
          stop.listSentAfterSeconds == nil ? "–" : stop.named,
          stop.stopSentAfterSeconds.map { text(seconds: $0) } ?? "–",
          stop.secondsToEnd.map { text(seconds: $0) } ?? "–",
          stop.thumbnailsMadeMeanwhile.map { "\($0)" } ?? "–", run.stopping(in: report),
        ]
      }, numbers: [1, 3, 4, 5])
  }
}

extension StopMeasurement {
  fileprivate var named: String {
    guard let listedOperations, let answerSeconds else { return "nothing" }
    return "\(text(listedOperations, "operation")) in \(text(seconds: answerSeconds))"
  }
}

extension VariantMeasurement {
  /// How it went, in a line.
  public var summary: String {
    "\(ending.displayName) after \(text(seconds: seconds)), \(text(thumbnails, "thumbnail")), "
      + "at most \(ByteCount.whole(peakAnonymousBytes)) of anonymous memory held and \(peakWaiting) waiting"
  }

  /// How it ended, in a few words; where not all was made, when and after what.
  func ending(of report: ComparisonReport) -> String {
    let place = "at \(text(seconds: seconds)), after \(thumbnails) of \(report.sources.count)"
    switch ending {
    case .finished:
      let left = report.sources.count - thumbnails
      return left == 0 ? "all made" : "made all but \(left)"
    case .stopped: return "stopped \(place)"
    case .killedForMemory: return "killed for memory \(place)"
    case .outOfAddressSpace: return "crashed for want of address space (signal \(signal ?? 0)) \(place)"
    case .signalled: return "ended by signal \(signal ?? 0) \(place)"
    case .failed: return "ended with exit status \(exitStatus ?? 0) \(place)"
    }
  }

  fileprivate func stopping(in report: ComparisonReport) -> String {
    switch ending {
    case .stopped where variant == .bounded: "cancelled what waited and what ran"
    case .stopped: "finished the one it was at and left the loop"
    case .finished where stop?.stopSentAfterSeconds == nil: "was done before it \(untold)"
    case .finished: "did not stop: went on to the end"
    default: ending(of: report) + (stop?.stopSentAfterSeconds == nil ? ", before it \(untold)" : "; did not stop")
    }
  }

  /// The moment that it did not come to.
  private var untold: String { stop?.listSentAfterSeconds == nil ? "was asked" : "was told to stop" }
}
