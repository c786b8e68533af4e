import ArgumentParser
import Testing

@testable import Sourcing
@testable import Splitting
@testable import thumbjob

extension SplitReport {
  static func known(walk: WalkCounters = WalkCounters(), sources: Int = 2_000, empty: Int = 0) -> SplitReport {
    var report = SplitReport(
      walk: walk, parts: 64, empty: empty, lowestCost: 1, highestCost: 1.043, cost: 65, elapsed: .seconds(0.34),
      peakMemory: 40 << 20)
    (report.sources, report.bytes) = (sources, 3_100_000_000)
    return report
  }
}

@Suite struct SplitSummaryTests {
  private func summary(_ report: SplitReport, filter: SourceFilter = SourceFilter()) -> SplitSummary {
    SplitSummary(report: report, into: "lists", sources: [.path("photos")], filter: filter)
  }

  @Test func theFirstLineIsTheAnswer() {
    #expect(
      summary(.known()).lines == [
        "2000 sources in 64 lists → ./lists (3.1 GB, their costs differ by at most 4.3 %, 0.3 s)"
      ])
    #expect(summary(.known(sources: 60, empty: 4)).lines[0].contains("(3.1 GB, 4 empty, their costs differ by at most"))
    #expect(summary(.known()).warnings.isEmpty)
  }

  @Test func whatIsInNoListIsCounted() {
    var walk = WalkCounters()
    (walk.errors, walk.filtered, walk.hidden) = (1, 2, 3)
    var report = SplitReport.known(walk: walk)
    (report.notImages, report.ownThumbnails, report.duplicates) = (4, 5, 6)
    #expect(
      summary(report).lines[1]
        == "1 place could not be read · 4 not images · 5 made by thumbjob · 6 given more than once · 2 excluded · "
        + "3 hidden passed over")
  }

  @Test func listsWithoutAnySourceAreAWarning() throws {
    #expect(
      summary(.known(sources: 0, empty: 64)).warnings == ["thumbjob: no picture found in ./photos; all lists are empty"]
    )
    var walk = WalkCounters()
    walk.folders = 1
    let filter = SourceFilter(includes: [try Glob("*.tif")])
    #expect(summary(.known(walk: walk), filter: filter).warnings == ["thumbjob: --include *.tif: matched nothing"])
  }
}
