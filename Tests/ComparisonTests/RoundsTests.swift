import Testing

@testable import Comparison

@Suite(.timeLimit(.minutes(1))) struct RoundsTests {
  /// A report of runs that all made 100 thumbnails.
  ///
  /// - Parameter runs: for each variant the seconds of its rounds; the processor seconds are half as many. A round with
  ///   negative seconds was killed for memory after as many, and made 7 thumbnails.
  private func report(_ runs: [Variant: [Double]]) -> ComparisonReport {
    var report = ComparisonReport(
      thumbjobVersion: "1", command: ["thumbjob", "compare", "photos"], machine: .init(processors: 2),
      sources: .init(arguments: ["photos"], count: 100, bytes: 1 << 20), max: 4,
      variants: Variant.usual, options: [], memoryLimit: nil)
    for (variant, times) in runs {
      for (index, time) in times.enumerated() {
        var run = VariantMeasurement(variant, .round(index + 1))
        (run.ending, run.thumbnails) = time < 0 ? (.killedForMemory, 7) : (.finished, 100)
        (run.seconds, run.processorSeconds) = (abs(time), abs(time) / 2)
        run.samples = [
          Sample(
            seconds: run.seconds, rssBytes: 1, anonymousBytes: 1, threads: 1, waiting: 0, running: 1, done: 7)
        ]
        report.runs.append(run)
      }
    }
    return report
  }

  @Test func eachRoundBeginsWithAnotherVariant() {
    let orders = (1...4).map { Rounds.order(of: Variant.usual, in: $0) }
    #expect(orders[0] == [.bounded, .gcdFile, .serial])
    #expect(orders[1] == [.gcdFile, .serial, .bounded])
    #expect(orders[2] == [.serial, .bounded, .gcdFile])
    #expect(orders[3] == orders[0])
  }

  @Test func thereAreThreeRoundsIfTheFirstTakesAMinuteAtMost() {
    #expect(Rounds.count(first: .seconds(60)) == 3)
    #expect(Rounds.count(first: .seconds(60) + .milliseconds(1)) == 1)
  }

  @Test func aSpreadHasMedianAndExtremes() {
    #expect(Spread([]) == nil)
    #expect(Spread([3, 1, 2])?.median == 2 && Spread([4, 1, 3, 2])?.median == 2.5)
    #expect(Spread([3, 1, 2])?.minimum == 1 && Spread([3, 1, 2])?.maximum == 3)
  }

  @Test(arguments: [
    ([11.24, 11.21], "11.2 s"), ([10.9, 11.9], "10.9–11.9 s"), ([0.087, 0.35], "0.09–0.35 s"),
    ([0.004, 0.015], "4–15 ms"), ([0.5, 3661], "0.50–3661.0 s"),
  ])
  func aRangeOfTimesHasOneUnit(times: [Double], words: String) throws {
    #expect(text(range: try #require(Spread(times))) == words)
  }

  @Test func rangesWithACommonValueAreNoDifferenceBeyondTheSpread() {
    let report = report([.bounded: [10, 11, 13], .gcdFile: [9, 10, 10]])
    #expect(report.boundedTo.first?.seconds.isBeyondSpread == false)
    let words = "no difference beyond the spread, 1.10× that of gcd-file."
    #expect(
      report.answer
        == "Is the bounded queue slower than gcd-file? By time: \(words) By processor time: \(words)")
  }

  @Test(arguments: [
    ([11.0, 12, 13], "By time: yes, slower, 1.20× that of gcd-file."),
    ([7, 8, 8.9], "By time: no, faster, 0.80× that of gcd-file."),
  ])
  func rangesWithoutACommonValueAreADifference(bounded: [Double], words: String) {
    let report = report([.bounded: bounded, .gcdFile: [9, 10, 10]])
    #expect(report.boundedTo.first?.seconds.isBeyondSpread == true)
    #expect(report.answer.contains(words), "\(report.answer)")
  }

  @Test func oneRoundHasARatioButNoSpread() {
    let report = report([.bounded: [10], .gcdFile: [8]])
    #expect(report.boundedTo.first?.seconds.ratio == 1.25 && report.boundedTo.first?.seconds.isBeyondSpread == nil)
    #expect(report.answer.contains("By time: 1.25× that of gcd-file."))
    #expect(report.answer.hasSuffix("One round shows no spread, so the difference may be chance."))
  }

  @Test func aVariantThatWasKilledInEveryRoundHasNoTimeToCompare() {
    let report = report([.bounded: [10, 11], .gcdFile: [-0.5, -0.7]])
    #expect(report.boundedTo.isEmpty)
    #expect(report.answer.hasSuffix("There is no time to compare, because gcd-file never ran to its end."))
    let rows = ComparisonTable.rounds(report).rows
    #expect(rows[0] == ["result", "all made", "killed for memory after 0.50–0.70 s"])
    #expect(rows[2] == ["time, median", "10.5 s", "–"] && rows[3] == ["time, range", "10.0–11.0 s", "–"])
  }

  @Test func aKillInOneRoundStaysVisible() throws {
    let report = report([.bounded: [10, 11, 12], .gcdFile: [9, -0.5, 10], .serial: [20, 20, 20]])
    let naive = try #require(report.summary(of: .gcdFile))
    #expect(naive.finishedRounds == 2 && naive.shownRound == 2 && naive.seconds?.median == 9.5)
    #expect(ComparisonTable.rounds(report).rows[0][2] == "killed for memory in 1 of 3 rounds")
    #expect(ComparisonTable.rounds(report).rows[1][2] == "7–100")
    #expect(report.answer.hasSuffix("Only rounds that ran to their end count: 3 of bounded, 2 of gcd-file."))
    let page = ComparisonPage(report).html
    #expect(page.contains("killed at 0.50 s") && page.contains("</svg>gcd-file, round 2 of 3</li>"))
    #expect(page.contains("gcd-file was killed for memory after 0.50 s in 1 of 3 rounds."))
    // Within each chart, the mark is above all lines.
    #expect(page.ranges(of: "killed at 0.50 s</text>\n</svg>").count == 3)
  }

  @Test func timesOfUnequalWorkAreNotCompared() {
    var report = report([.bounded: [10, 11], .gcdFile: [9, 9]])
    report.runs[0].thumbnails = 99
    #expect(report.boundedTo.isEmpty && report.answer.contains("did not make the same number of thumbnails"))
    #expect(!report.isBoundedComplete || report.runs[0].variant == .gcdFile)
  }

  @Test func timesOfNothingAreNotCompared() {
    let report = report([.bounded: [1], .gcdFile: [0]])
    #expect(report.boundedTo.isEmpty && report.answer.hasSuffix("too short to compare."))
    #expect(report.json.contains("\"rounds\":1"))
  }

  @Test func theChartsShowTheRoundWithTheMedianTime() {
    let report = report([.bounded: [13, 10, 11], .gcdFile: [3, 4]])
    #expect(report.summaries.map(\.shownRound) == [3, 1])
    #expect(report.summaries.map { $0.shown.seconds } == [11, 3])
  }

  @Test func theBoundedVariantIsCompleteOnlyIfItIsInEveryRound() {
    #expect(report([.bounded: [1, 2]]).isBoundedComplete)
    #expect(!report([.bounded: [1, -2]]).isBoundedComplete && !report([.gcdFile: [1]]).isBoundedComplete)
  }

  /// Each run has the longest words and the highest counts.
  @Test func theTablesFit80Columns() {
    var report = report([:])
    let most = Int(UInt32.max)
    for variant in Variant.usual {
      for round in 1...100 {
        var run = VariantMeasurement(variant, .round(round))
        (run.ending, run.signal) = (round == 1 ? .outOfAddressSpace : .finished, 11)
        (run.seconds, run.processorSeconds, run.thumbnails) = (99_999 + Double(round), 999_999, round == 2 ? 0 : most)
        (run.peakRssBytes, run.peakAnonymousBytes, run.peakWaiting) = (1 << 50, 1 << 50, most)
        report.runs.append(run)
      }
      var stop = StopMeasurement()
      (stop.listSentAfterSeconds, stop.stopSentAfterSeconds, stop.secondsToEnd) = (99_999, 99_999, 99_999)
      (stop.listedOperations, stop.answerSeconds, stop.thumbnailsMadeMeanwhile) = (most, 999, most)
      var run = VariantMeasurement(variant, .stop)
      (run.ending, run.signal, run.seconds, run.stop) = (.outOfAddressSpace, 11, 99_999, stop)
      report.stopRuns.append(run)
    }
    for table in [ComparisonTable.rounds(report), .stops(report)] {
      let rows = table.narrowRows
      #expect(rows[0] == ["", "BOUNDED", "GCD-FILE", "SERIAL"] && rows.allSatisfy { $0.last != "" })
      func cells(_ column: Int) -> [String] { rows.compactMap { $0.count > column ? $0[column] : nil } }
      let widths = (0..<4).map { column in cells(column).map(\.count).max() ?? 0 }
      // Two spaces between columns.
      #expect(widths.reduce(6, +) <= 80, "\(widths)")
      for column in 1...3 {
        #expect(cells(column).joined(separator: " ").contains("out of address space (signal 11)"))
      }
    }
    #expect(ComparisonTable.narrow(report.answer).split(separator: "\n").allSatisfy { $0.count <= 80 })
  }
}
