import Files
import Foundation
import Ledger
import TestSupport
import Testing

@testable import JobSettings
@testable import Jobs
@testable import PictureMaking
@testable import Places
@testable import Sourcing

/// What a job remembers for the next one.
extension JobTests {
  @Suite(.timeLimit(.minutes(5))) struct Remembering {
    let folder = TemporaryFolder()

    private static let good = SyntheticPhoto(seed: 1, width: 90, height: 60).jpeg()

    func settings() -> JobSettings {
      var settings = JobSettings()
      settings.sources = [.path(Path(folder("images")))]
      settings.outputs[0].folder = Path(folder("thumbs"))
      settings.outputs[0].sizes = [.known("32")]
      settings.max = 2
      settings.program = "1.0"
      return settings
    }

    struct Result {
      var report: JobReport
      /// The names of the sources in the order in which they ended.
      var ended: [String] = []
      var failures: [String: SourceFailure] = [:]
      var postponed: [String] = []
      var problems: [LedgerError] = []
    }

    func run(_ settings: JobSettings) async throws -> Result {
      let events = LockedBox<[JobEvent]>([])
      let report = try await onThread {
        try Job(settings) { event in events.change { $0.append(event) } }.run()
      }
      var result = Result(report: report)
      for event in events.value {
        switch event {
        case .source(let report):
          let name = report.source.path.lastName.printable
          result.ended.append(name)
          if case .failed(let failure) = report.result { result.failures[name] = failure }
        case .postponed(let source): result.postponed.append(source.path.lastName.printable)
        case .ledger(let error): result.problems.append(error)
        default: break
        }
      }
      return result
    }

    private func entries() throws -> [LedgerEntry] {
      var entries: [LedgerEntry] = []
      try Ledger(Path(folder("thumbs/.thumbjob/ledger")), for: .reading).visit { entries.append($0) }
      return entries
    }

    @Test func aSourceThatFailedForGoodIsNotTriedAgainUntilSomethingChanges() async throws {
      try folder.write(Self.good, to: "images/a.jpg")
      try folder.write(Self.good.prefix(300), to: "images/broken.jpg")
      var settings = settings()
      #expect(try await run(settings).failures["broken.jpg"]?.isEarlier == false)
      let second = try await run(settings)
      let failure = try #require(second.failures["broken.jpg"])
      #expect(failure.isEarlier && second.report.tally.failed == 1 && second.report.tally.failedEarlier == 1)
      #expect(second.report.tally.upToDate == 1 && second.report.counters.submitted == 0)

      settings.retryFailed = true
      #expect(try await run(settings).failures["broken.jpg"]?.isEarlier == false)
      settings.retryFailed = false
      settings.outputs[0].quality = 70
      #expect(try await run(settings).failures["broken.jpg"]?.isEarlier == false, "other settings")
      settings.program = "1.1"
      #expect(try await run(settings).failures["broken.jpg"]?.isEarlier == false, "another version")
      #expect(try await run(settings).failures["broken.jpg"]?.isEarlier == true)

      try folder.write(Self.good, to: "images/broken.jpg")
      let mended = try await run(settings)
      #expect(mended.report.tally.made == 1 && mended.failures.isEmpty)
      #expect(try entries().count == 2)
    }

    @Test func failuresOfEarlierRunsDoNotHaltTheJob() async throws {
      for number in 0..<5 { try folder.write([1, 2], to: "images/\(number).jpg") }
      var settings = settings()
      _ = try await run(settings)
      settings.halt = try HaltLimit(parsing: "1", for: "halt")
      try folder.write(Self.good, to: "images/a.jpg")
      let second = try await run(settings)
      #expect(second.report.stopCause == nil && second.report.tally.made == 1 && second.report.tally.failedEarlier == 5)
    }

    /// Writes what a process leaves that dies while it makes these sources.
    private func die(during names: [String], ofPart part: String? = nil) throws {
      var bytes: [UInt8] = []
      for name in names {
        let path = Array("../images/\(name)".utf8)
        let slot = [UInt8(path.count & 0xFF), UInt8(path.count >> 8)] + path
        bytes += slot + [UInt8](repeating: 0, count: UnderWay.slotSize - slot.count)
      }
      try folder.write(bytes, to: "thumbs/.thumbjob/run-dead/under-way" + (part.map { "-\($0)" } ?? ""))
      try folder.write([], to: "thumbs/.thumbjob/run-dead/lock")
    }

    /// Several processes may make a share each in one output folder.
    @Test func aSourceOfAnotherShareIsASuspectThere() async throws {
      for number in 0..<20 { try folder.write(Self.good, to: "images/\(number).jpg") }
      var settings = settings()
      settings.shard = Shard(0, of: 2)
      let first = try await run(settings).ended
      settings.shard = Shard(1, of: 2)
      let second = try await run(settings).ended
      #expect(first.count + second.count == 20 && first.count > 2 && second.count > 2)
      #expect(!folder.exists("thumbs/.thumbjob/ledger") && folder.exists("thumbs/.thumbjob/ledger-0-of-2"))
      try die(during: [first[0]], ofPart: "0-of-2")
      #expect(try await run(settings).postponed.isEmpty)
      settings.shard = Shard(0, of: 2)
      try FileManager.default.removeItem(atPath: folder("thumbs/\(first[0])"))
      #expect(try await run(settings).postponed == [first[0]])
    }

    @Test func sourcesUnderWayWhenAProcessDiedAreTriedLastAndAlone() async throws {
      for number in 0..<20 { try folder.write(Self.good, to: "images/\(number).jpg") }
      try die(during: ["3.jpg", "7.jpg"])
      let result = try await run(settings())
      #expect(Set(result.postponed) == ["3.jpg", "7.jpg"])
      #expect(result.ended.count == 20 && Set(result.ended.suffix(2)) == ["3.jpg", "7.jpg"])
      #expect(result.report.tally.made == 20)
      #expect(try entries().count == 20 && entries().allSatisfy { if case .made = $0.outcome { true } else { false } })
      #expect(try await run(settings()).postponed.isEmpty)
    }

    @Test func suspectsThatAStopLeavesAreCounted() async throws {
      for number in 0..<6 { try folder.write(Self.good, to: "images/\(number).jpg") }
      try die(during: ["3.jpg"])
      let settings = settings()
      let report = try await onThread {
        let theJob = LockedBox<Job?>(nil)
        let job = try Job(settings) { event in
          // The suspect is found before or after the stop; both times it is counted.
          if case .postponed = event { theJob.value?.stop(.startNothingNew) }
        }
        theJob.change { $0 = job }
        let report = try job.run()
        theJob.change { $0 = nil }
        return report
      }
      #expect(report.workRemains && report.tally.cancelled >= 1)
      #expect(report.tally.found == report.tally.ended, "\(report.tally)")
    }

    @Test func aSourceDuringWhichTheProcessOftenDiedHasFailed() async throws {
      try folder.write(Self.good, to: "images/a.jpg")
      var settings = settings()
      settings.onPressure = .ignore
      for deaths in 1..<LedgerEntry.Outcome.mostDeaths {
        try die(during: ["a.jpg"])
        // A job that stops at once has not tried it.
        let stopped = settings
        _ = try await onThread {
          let job = try Job(stopped) { _ in }
          job.stop(.startNothingNew)
          return try job.run()
        }
        #expect(try entries().map(\.outcome) == [.suspect(deaths: deaths)])
      }
      try die(during: ["a.jpg"])
      let result = try await run(settings)
      #expect(result.failures["a.jpg"].map { "\($0)" } == "the process died 3 times while it was being made")
      #expect(result.failures["a.jpg"]?.isEarlier == true && result.postponed.isEmpty)
      settings.retryFailed = true
      let retried = try await run(settings)
      #expect(retried.postponed == ["a.jpg"] && retried.report.tally.made == 1)
    }

    /// Whoever can write to the output folder may have written what a dead run seems to have left.
    @Test func aFileOfSourcesUnderWayMayHaveAnyContents() async throws {
      try folder.write(Self.good, to: "images/a.jpg")
      var generator = SystemRandomNumberGenerator()
      let size = UnderWay.slotSize
      let contents: [[UInt8]] = [
        [], [5], [255, 255], [3, 0, 0, 0, 0], [1, 0, 47], [2, 0, 46, 46] + [UInt8](repeating: 255, count: 3 * size),
        (0..<(size * 5)).map { _ in UInt8.random(in: 0...255, using: &generator) },
      ]
      for bytes in contents {
        try folder.write(bytes, to: "thumbs/.thumbjob/run-dead/under-way")
        try folder.write([], to: "thumbs/.thumbjob/run-dead/lock")
        let result = try await run(settings())
        #expect(result.problems.isEmpty && result.report.tally.failed == 0)
        #expect(!folder.exists("thumbs/.thumbjob/run-dead"))
      }
    }

    @Test func theLedgerHasWhatTheFolderHas() async throws {
      for number in 0..<60 { try folder.write(Self.good, to: "images/\(number).jpg") }
      let settings = settings()
      _ = try await onThread {
        let (theJob, count) = (LockedBox<Job?>(nil), LockedBox(0))
        let job = try Job(settings) { event in
          guard case .source = event else { return }
          let isMoment = count.change { count in
            count += 1
            return count == 20
          }
          if isMoment { theJob.value?.stop(.cancelled(by: "USR2")) }
        }
        theJob.change { $0 = job }
        let report = try job.run()
        theJob.change { $0 = nil }
        return report
      }
      let made = try entries().compactMap { if case .made(1, let first) = $0.outcome { first?.printable } else { nil } }
      let there = folder.files(below: "thumbs").filter { !$0.contains(".thumbjob/") }
      #expect(there.count < 60 && made.sorted() == there.sorted())

      // A new ledger learns what is up to date.
      try FileManager.default.removeItem(atPath: folder("thumbs/.thumbjob/ledger"))
      _ = try await run(settings)
      #expect(try entries().count == 60)
    }

    @Test func aJobGoesOnWithoutALedgerThatCannotBeUsed() async throws {
      try folder.write(Self.good, to: "images/a.jpg")
      try folder.write(Array("no database at all, but a text of some length".utf8), to: "thumbs/.thumbjob/ledger")
      let result = try await run(settings())
      #expect(result.problems.map(\.kind) == [.foreign] && result.report.tally.made == 1)
      #expect(try folder.bytes("thumbs/.thumbjob/ledger").starts(with: Array("no database".utf8)))
    }

    @Test func aLedgerBecomesCompleteEvenIfItsFirstRunStopped() async throws {
      for number in 0..<60 { try folder.write(Self.good, to: "images/\(number).jpg") }
      let settings = settings()
      _ = try await run(settings)
      try FileManager.default.removeItem(atPath: folder("thumbs/.thumbjob/ledger"))
      _ = try await onThread {
        let job = try Job(settings) { _ in }
        job.stop(.startNothingNew)
        return try job.run()
      }
      #expect((try? entries().count) ?? 0 < 60)
      _ = try await run(settings)
      #expect(try entries().count == 60)
    }

    @Test func aDryRunReadsTheLedgerAndMakesNone() async throws {
      try folder.write(Self.good, to: "images/a.jpg")
      try folder.write([1], to: "images/b.jpg")
      var settings = settings()
      settings.dryRun = true
      let first = try await run(settings)
      #expect(first.problems.isEmpty && first.report.tally.failedEarlier == 0 && !folder.exists("thumbs"))
      settings.dryRun = false
      _ = try await run(settings)
      settings.dryRun = true
      try folder.write(Self.good, to: "images/c.jpg")
      let last = try await run(settings)
      #expect(last.report.tally.failedEarlier == 1 && last.report.tally.made == 1 && last.problems.isEmpty)
    }
  }
}

/// Several ledgers of one output folder.
@Suite struct LedgerSetTests {
  private let folder = TemporaryFolder()

  private func write(_ entries: [LedgerEntry], to name: Path) throws {
    try FileManager.default.createDirectory(atPath: folder("out/.thumbjob"), withIntermediateDirectories: true)
    let ledger = Ledger(Path(folder("out/.thumbjob")).appending(name), for: .writing)
    for entry in entries { ledger.record(entry) }
    ledger.write()
    #expect(ledger.problem == nil)
  }

  private func entry(_ source: Path, _ outcome: LedgerEntry.Outcome, time: Int) -> LedgerEntry {
    LedgerEntry(source, version: nil, outcome: outcome, settings: "", program: "", time: time)
  }

  @Test func theLatestEntryOfASourceCounts() throws {
    let (made, failed) = (
      LedgerEntry.Outcome.made(thumbnails: 1, first: nil), LedgerEntry.Outcome.failed(kind: "source", reason: "bad")
    )
    try write([entry("../a", failed, time: 1), entry("../b", made, time: 5)], to: Ledger.name())
    try write(
      [entry("../a", made, time: 2), entry("../b", failed, time: 4), entry("../c", made, time: 3)],
      to: Ledger.name(part: "0-of-2"))
    try write([entry("../c", made, time: 3)], to: Ledger.name(part: "1-of-2"))
    try folder.write(Array("a journal".utf8), to: "out/.thumbjob/ledger-1-of-2-journal")
    let set = try LedgerSet(in: Path(folder("out")))
    var found: [String] = []
    try LedgerSet.visit([set]) { set, entry in found.append("\(set.source(of: entry).lastName) \(entry.time)") }
    #expect(found.sorted() == ["a 2", "b 5", "c 3"])
    try LedgerSet.visit([set], unmadeOnly: true) { Issue.record("\($1)") }
  }

  @Test func aFolderWithoutALedgerHasNone() {
    #expect(throws: LedgerError.self) { try LedgerSet(in: Path(folder.path)) }
  }
}
