import StatusEndpoint
import Testing

@testable import Jobs
@testable import thumbjob

/// What is made from the declarations of the counters.
@Suite struct TallyTests {
  /// Programs read these keys: none may go.
  private static let summary: Set = [
    "found", "made", "would_make", "up_to_date", "failed", "failed_earlier", "cancelled", "passed_over", "not_read",
    "own_thumbnails", "duplicates", "missing", "walk_problems", "thumbnails", "would_make_thumbnails", "bytes_read",
    "bytes_written", "requeued", "pressure_warnings", "pressure_criticals",
  ]
  private static let status: Set = [
    "found", "made", "up_to_date", "passed_over", "failed", "cancelled", "requeued", "thumbnails", "bytes_written",
    "bytes_read",
  ]
  private static let metrics: Set = [
    "sources_found", "operations_requeued", "thumbnails", "written_bytes", "read_bytes",
  ]
  private static let outcomes: Set = ["made", "up_to_date", "passed_over", "failed", "cancelled"]

  @Test func noKeyAndNoMetricIsLost() {
    #expect(Self.summary.isSubset(of: JobTally().numbers(for: .summary).keys))
    #expect(Self.status.isSubset(of: JobTally().numbers(for: .status).keys))
    let shown = JobTally.counters.filter { $0.readers.contains(.status) }
    let names = shown.compactMap { if case .total(let name) = $0.metric { name } else { nil } }
    #expect(Self.metrics.isSubset(of: names) && Set(names).count == names.count)
    #expect(Set(shown.filter { $0.metric == .outcome }.map(\.key)) == Self.outcomes)
  }

  @Test func eachReaderHasAKeyOnce() {
    for reader in [TallyCounter.Readers.summary, .status] {
      let keys = JobTally.counters.filter { $0.readers.contains(reader) }
        .flatMap { [$0.key] + (reader == .summary ? [$0.dryRunKey].compactMap(\.self) : []) }
      #expect(Set(keys).count == keys.count)
      #expect(keys.allSatisfy { $0.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil })
    }
    #expect(JobTally.counters.allSatisfy { $0.meaning.hasSuffix(".") })
  }

  @Test func numbersAreThoseOfTheTally() {
    var tally = JobTally()
    (tally.made, tally.thumbnails, tally.notImages, tally.duplicates, tally.unsupported) = (3, 6, 4, 5, [.png: 2])
    let (real, dry) = (tally.numbers(for: .summary), tally.numbers(for: .summary, isDryRun: true))
    #expect(real["made"] == 3 && real["would_make"] == 0 && real["thumbnails"] == 6)
    #expect(dry["made"] == 0 && dry["would_make"] == 3 && dry["would_make_thumbnails"] == 6)
    #expect(real["passed_over"] == 4 && real["not_read"] == 2, "the summary tells each kind")
    let status = RunCounters(tally.numbers(for: .status))
    #expect(status.passedOver == 11 && status.made == 3 && status.ended == tally.ended)
  }
}
