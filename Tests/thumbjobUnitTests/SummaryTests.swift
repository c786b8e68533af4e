import ArgumentParser
import Files
import StatusEndpoint
import Testing
import Thumbnails

@testable import BoundedQueue
@testable import JobSettings
@testable import Jobs
@testable import MemoryPressure
@testable import PictureMaking
@testable import Places
@testable import Sourcing
@testable import thumbjob

extension JobReport {
  static func known(
    _ tally: JobTally = JobTally(), walk: WalkCounters = WalkCounters(), stop: StopCause? = nil,
    isWalkComplete: Bool = true, seconds: Double = 0.34, unmatched: (includes: [Glob], excludes: [Glob]) = ([], []),
    earlier: [EarlierRuns] = [], joins: [JoinReport] = [], notReached: Int? = nil, cancelledForDependencies: Int = 0,
    words: ResultWords = ThumbnailKind().words
  ) -> JobReport {
    var counters = QueueCounters()
    counters.cancelledForDependencies = cancelledForDependencies
    let limit = MemoryLimit(bytes: 1 << 30, origin: .machine)
    return JobReport(
      words: words, tally: tally, walk: walk, counters: counters,
      limits: QueueLimits(maxConcurrentOperations: 2, backlog: 8),
      elapsed: .seconds(seconds), peakMemory: 40 << 20,
      memory: MemoryPlan(nil, limit: limit, usage: MemoryUsage(resident: 20 << 20, group: nil)), worstMemoryRatio: nil,
      pressureSource: .psi, stopCause: stop, isWalkComplete: isWalkComplete, unmatchedPatterns: unmatched,
      earlier: earlier, tree: "/photos", replaced: 0, replacedOthers: 0, fetches: nil, joins: joins,
      notReached: notReached)
  }
}

@Suite(.timeLimit(.minutes(5)))
struct SummaryTests {
  private func text(
    _ tally: JobTally, walk: WalkCounters = WalkCounters(), stop: StopCause? = nil, isWalkComplete: Bool = true,
    seconds: Double = 0.34, unmatched: (includes: [Glob], excludes: [Glob]) = ([], []),
    earlier: [EarlierRuns] = [], columns: Int? = nil,
    settings change: (inout RunSettings) -> Void = { _ in }
  ) -> StyledText {
    var settings = RunSettings()
    settings.job.sources = [.path("photos")]
    change(&settings)
    let report = JobReport.known(
      tally, walk: walk, stop: stop, isWalkComplete: isWalkComplete, seconds: seconds, unmatched: unmatched,
      earlier: earlier)
    return Summary(report: report, settings: settings).text(columns: columns)
  }

  private func made(_ count: Int, sizes: Int = 1) -> JobTally {
    var tally = JobTally()
    (tally.found, tally.made, tally.thumbnails, tally.bytesWritten) = (
      count, count, count * sizes, count * sizes * 4444
    )
    return tally
  }

  @Test func theFirstLineIsTheAnswer() {
    #expect(text(made(36)) == StyledText("36 thumbnails in 0.3 s → ./thumbs (160 kB)", .answer))
    #expect(text(made(1)).text == "1 thumbnail in 0.3 s → ./thumbs (4.4 kB)")
    #expect(text(made(2000), seconds: 34.5).text == "2000 thumbnails in 34.5 s → ./thumbs (8.9 MB, 58.0 a second)")
  }

  @Test func severalSizesAndOutputsStayReadable() {
    let sizes = text(made(36, sizes: 2)) { $0.job.outputs[0].sizes += $0.job.outputs[0].sizes }
    #expect(sizes.text == "72 thumbnails of 36 pictures in 0.3 s → ./thumbs (2 sizes, 320 kB)")
    var partly = made(20, sizes: 2)
    (partly.thumbnails, partly.failed, partly.found) = (41, 1, 21)
    let cut = text(partly) { $0.job.outputs[0].sizes += $0.job.outputs[0].sizes }
    #expect(cut.text.hasPrefix("41 thumbnails (20 pictures complete) in 0.3 s → "), "one of a picture that failed")
    let outputs = text(made(1, sizes: 4)) { settings in
      settings.job.outputs = (["a", "b", "/c", "d"] as [Path]).map { folder in
        var output = OutputSettings()
        output.folder = folder
        return output
      }
    }
    #expect(outputs.text == "4 thumbnails of 1 picture in 0.3 s → ./a, ./b and 2 more (17.8 kB)")
  }

  @Test func theSecondLineCountsEverythingElseOnce() {
    var tally = made(3)
    (tally.failed, tally.upToDate, tally.notImages, tally.duplicates) = (2, 5, 4, 1)
    (tally.unsupported, tally.ownThumbnails) = ([.png: 2, .heic: 1], 6)
    tally.found = 3 + 2 + 5 + 4 + 1 + 3 + 6
    var walk = WalkCounters()
    (walk.filtered, walk.linksNotFollowed, walk.hidden, walk.inOutput) = (7, 1, 8, 9)
    let lines = text(tally, walk: walk).text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(
      lines[1] == "2 failed · 5 up to date · "
        + "14 passed over (4 not images; 6 made by thumbjob; 1 HEIC, not read; 2 PNG, not read; 1 given more than once) · "
        + "9 in the output folder passed over · 7 excluded · 8 hidden passed over · 1 link not followed")
    // The counts before those of the walk, and the thumbnails, are all that was found.
    let counts = lines.map { $0.prefix { $0 != "(" } }.joined(separator: " · ").split(separator: " · ").prefix(3)
    #expect(counts.count == 3 && 3 + 2 + 5 + 14 == tally.found)
  }

  @Test func whenNothingWasMadeTheAnswerSaysWhy() {
    var tally = JobTally()
    (tally.found, tally.upToDate) = (36, 36)
    #expect(text(tally) == StyledText("36 up to date", .answer))
    (tally.found, tally.failed) = (38, 2)
    #expect(text(tally).text == "36 up to date\n2 failed")
    (tally.found, tally.upToDate) = (2, 0)
    #expect(
      text(tally) == StyledText("no thumbnail made in 0.3 s", .failure) + StyledText("\n")
        + StyledText("2 failed", .failure))
  }

  @Test func withoutPicturesTheAnswerNamesTheSources() {
    var tally = JobTally()
    #expect(text(tally).text == "no picture found in ./photos")
    (tally.found, tally.notImages) = (1, 1)
    #expect(text(tally).text == "no picture found in ./photos\n1 passed over (not an image)")
    (tally.found, tally.unsupported) = (3, [.png: 2])
    let named = text(tally) { $0.job.sources = ["a", "/b", "c", "d"].map { .path($0) } }.text
    #expect(
      named == "no readable picture found in ./a, /b and 2 more\n"
        + "3 passed over (1 not an image; 2 PNG, not read)")
    #expect(text(tally, isWalkComplete: false).text.hasPrefix("no thumbnail made in "), "the rest was not looked at")
    tally.missingArguments = 1
    #expect(text(tally).text.hasPrefix("no thumbnail made in "), "a source that does not exist was not looked into")
  }

  @Test func aDryRunSaysWhatItWouldMake() {
    func dry(_ tally: JobTally) -> String { text(tally) { $0.job.dryRun = true }.text }
    var tally = made(36)
    #expect(dry(tally) == "would make 36 thumbnails → ./thumbs")
    (tally.upToDate, tally.found) = (2, 38)
    #expect(dry(tally) == "would make 36 thumbnails → ./thumbs\n2 up to date")
    tally = JobTally()
    #expect(dry(tally) == "no picture found in ./photos")
    (tally.upToDate, tally.found) = (2, 2)
    #expect(dry(tally) == "would make nothing; 2 up to date")
    (tally.upToDate, tally.failed) = (0, 2)
    #expect(dry(tally) == "would make nothing\n2 failed")
  }

  @Test func ifWorkRemainsTheLastLineSaysWhyAndHowToGoOn() {
    var tally = made(3)
    (tally.cancelled, tally.found) = (200, 203)
    #expect(
      text(tally, stop: .shutdown(by: "INT")).text == """
        3 thumbnails in 0.3 s → ./thumbs (13.3 kB)
        200 cancelled (-v names each)
        stopped by INT; run the same command again to go on
        """)
    let report = JobReport.known(tally, stop: .timeIsUp, isWalkComplete: false, notReached: 384)
    #expect(
      Summary(report: report, settings: RunSettings()).text(columns: nil).text.contains(
        "\n384 not reached · 200 cancelled (-v names each)\n"))
    let halted = text(tally, stop: .tooManyFailures, isWalkComplete: false).text
    #expect(halted.hasSuffix("(--halt); repair or --exclude the failed sources, or raise --halt"))
    (tally.cancelled, tally.cancelledByUser) = (3, 2)
    #expect(
      text(tally).text.hasSuffix(
        "\n2 cancelled by the user, 1 left because memory was critical; run the same command again to go on"))
  }

  @Test func operationsCancelledForADependencyAreCountedOnlyIfThereAreSome() {
    func text(_ tally: JobTally, _ count: Int) -> String {
      let report = JobReport.known(tally, cancelledForDependencies: count)
      return Summary(report: report, settings: RunSettings()).text(columns: nil).text
    }
    var tally = made(3)
    #expect(!text(tally, 0).contains("dependency"))
    (tally.failed, tally.cancelled, tally.found) = (2, 1, 6)
    let last = " cancelled for a dependency · 1 cancelled (-v names each)\n"
    #expect(text(tally, 1).contains("\n2 failed · 1 operation\(last)"))
    #expect(text(tally, 4).contains("\n2 failed · 4 operations\(last)"))
  }

  @Test func theOutcomeCountsOperationsCancelledForADependency() {
    func outcome(_ tally: JobTally, _ count: Int, _ exitCode: ExitCode = .success) -> RunOutcome {
      RunOutcome(.known(tally, cancelledForDependencies: count), exitCode: exitCode, isDryRun: false)
    }
    var tally = made(3)
    #expect(outcome(tally, 0).text == "all 3 made")
    #expect(outcome(tally, 2).text == "all 3 made, 2 cancelled for a dependency")
    tally.failed = 1
    #expect(outcome(tally, 2, .failure).text == "1 failed, 2 cancelled for a dependency, 3 made")
    tally.cancelled = 1
    #expect(outcome(tally, 2, .failure).text.contains(": 3 made, 1 failed, 2 cancelled for a dependency; "))
  }

  @Test func resultsAreCalledWhatTheirKindCallsThem() {
    let words = ResultWords(result: "weight", source: "stone", areFiles: false)
    func text(_ tally: JobTally) -> String {
      var settings = RunSettings()
      settings.job.sources = [.path("quarry")]
      return Summary(report: .known(tally, words: words), settings: settings).text(columns: nil).text
    }
    func outcome(_ tally: JobTally) -> String {
      RunOutcome(.known(tally, words: words), exitCode: .success, isDryRun: false).text
    }
    var tally = JobTally()
    #expect(text(tally) == "no stone found in ./quarry" && outcome(tally) == "nothing to do: no stone found")
    (tally.found, tally.failed) = (1, 1)
    #expect(text(tally).hasPrefix("no weight made in 0.3 s\n"))
    (tally.found, tally.made, tally.failed, tally.upToDate, tally.bytesRead) = (6, 2, 0, 4, 5000)
    #expect(text(tally) == "2 weights made in 0.3 s (5.0 kB)\n4 up to date")
  }

  @Test func whatTheNextRunMayNeedIsNotedBelowTheCounts() throws {
    let pattern = try Glob(bytes: Array("*.gif".utf8))
    let lines = text(
      made(1), unmatched: ([pattern], []),
      earlier: [EarlierRuns(left: [EarlierRuns.ThumbnailSet(folder: "thumbs", size: "64x64")])])
    #expect(
      lines.text.split(separator: "\n").dropFirst() == [
        "--include \(pattern): matched nothing",
        "left as they were, from earlier runs with other sizes or formats: thumbnails in thumbs (size 64x64); --prune removes them",
      ])
  }

  @Test func onANarrowTerminalTheLinesAreFolded() {
    let answer = text(made(36), columns: 40)
    #expect(answer == StyledText("36 thumbnails in 0.3 s\n→ ./thumbs (160 kB)", .answer))
    #expect(text(made(3), columns: 42).text == "3 thumbnails in 0.3 s → ./thumbs (13.3 kB)")
    var tally = made(3)
    (tally.failed, tally.upToDate, tally.notImages, tally.found) = (2, 5, 4, 14)
    let lines = text(tally, columns: 42).text.split(separator: "\n")
    #expect(lines.dropFirst() == ["2 failed · 5 up to date", "4 passed over (not images)"])
  }

  @Test func theProofOfTheLimitsIsForVerboseRuns() {
    let proof = ["36 sources found; ", "within bounds: at most 0 of 2 running, 0 of 8 waiting, ", "memory: pressure "]
    let verbose = text(made(36)) { $0.verbose = true }.text.split(separator: "\n")
    #expect(verbose.count == 4 && zip(verbose.dropFirst(), proof).allSatisfy { $0.hasPrefix($1) })
  }
}
