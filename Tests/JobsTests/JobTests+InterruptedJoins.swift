import Files
import Foundation
import TestSupport
import Testing

@testable import JobSettings
@testable import Jobs
@testable import MemoryPressure

/// Jobs that are stopped, or whose operations are cancelled, before their manifest, contact sheet and gallery are made.
extension JobTests.Joins {
  @Test func aJobThatStopsLeavesWhatIsThere() async throws {
    try photos()
    _ = try await run(settings())
    let first = try made()
    var settings = settings()
    settings.force = true
    let forced = settings
    let reached = LockedBox<Job?>(nil)
    let report = try await onThread {
      let job = try Job(forced) { event in
        if case .source = event { reached.value?.stop(.cancelled(by: "USR2")) }
      }
      reached.change { $0 = job }
      return try job.run()
    }
    reached.change { $0 = nil }
    #expect(report.workRemains && report.joins.count == 3)
    for join in report.joins { if case .notMade = join.result {} else { Issue.record("\(join)") } }
    #expect(try made() == first)
  }

  /// The stop comes when nothing is left to do but the joins.
  @Test func aStopAfterTheLastSourceLeavesWork() async throws {
    try folder.write(SyntheticPhoto(seed: 1, width: 90, height: 60).jpeg(), to: "images/a.jpg")
    let theJob = LockedBox<Job?>(nil)
    let settings = settings()
    let report = try await onThread {
      let job = try Job(settings) { event in
        if case .source = event { theJob.value?.stop(.startNothingNew) }
      }
      theJob.change { $0 = job }
      return try job.run()
    }
    theJob.change { $0 = nil }
    #expect(report.tally.made == 1 && report.tally.cancelled == 0 && report.workRemains)
    for join in report.joins where !join.isLeft { Issue.record("\(join)") }
  }

  @Test func aSheetThatAUserCancelsIsLeftForAnotherRun() async throws {
    try photos()
    let settings = settings()
    let report = try await onThread {
      let job = try Job(settings) { _ in }
      let observation = job.queue.observe { [unowned job] event in
        guard case .started = event.change, event.operation.kind == JoinKind.contactSheet.rawValue else { return }
        job.queue.cancel(id: event.operation.id, reason: .user)
      }
      defer { observation.cancel() }
      return try job.run()
    }
    #expect(report.joins.map(\.isLeft) == [false, true, false] && report.workRemains)
    #expect(report.tally.made == 7 && report.stopCause == nil)
  }

  @Test func aSheetThatPressureCancelsIsWrittenAgain() async throws {
    try photos()
    _ = try await run(settings())
    let undisturbed = try folder.bytes("made/sheet.pdf")
    // On a busy machine, the operation may have ended before its start is told. Then there is nothing to cancel.
    var isCancelled = false
    for _ in 1...100 where !isCancelled {
      try FileManager.default.removeItem(atPath: folder("made"))
      let (settings, times) = (settings(), LockedBox(0))
      let report = try await onThread {
        let job = try Job(settings) { _ in }
        let observation = job.queue.observe { [unowned job] event in
          guard case .started = event.change, event.operation.kind == JoinKind.contactSheet.rawValue else { return }
          let isFirst = times.change { times in
            times += 1
            return times == 1
          }
          if isFirst { job.queue.cancel(id: event.operation.id, reason: .pressure) }
        }
        defer { observation.cancel() }
        return try job.run()
      }
      isCancelled = times.value == 2
      let areInPlace = report.joins.allSatisfy(\.isInPlace)
      #expect(areInPlace)
    }
    #expect(isCancelled)
    #expect(try folder.bytes("made/sheet.pdf") == undisturbed)
  }

  /// Memory pressure cancels sources, which are made again.
  @Test(arguments: [1, 2, 5, 11]) func pressureLosesNoPictureOfTheSheet(moment: Int) async throws {
    let photos = (0..<3).map { SyntheticPhoto(seed: $0, width: 300 + $0, height: 200).jpeg() }
    for number in 0..<60 { try folder.write(photos[number % 3], to: "images/\(number).jpg") }
    var settings = settings()
    (settings.max, settings.backlog) = (2, 8)
    settings.pressureSource = .systemd
    let requeuing = settings
    var rules = PressureRules()
    (rules.sampling, rules.coalescing) = (.milliseconds(10), .milliseconds(10))
    (rules.quiet, rules.quietAfterCritical) = (.milliseconds(100), .milliseconds(100))
    (rules.calmShare, rules.warningShare, rules.criticalShare) = (1, 1, 1)
    let quick = rules
    let (reached, heard, ended) = (Gate(), Gate(), LockedBox(0))
    let report = try await onThread {
      let producer = pthread_self()
      let job = try Job(
        requeuing, surroundings: Surroundings(variables: ["MEMORY_PRESSURE_WATCH": bell.path]), pressureRules: quick
      ) { event in
        switch event {
        case .pressure: heard.open()
        case .source(let report):
          if case .cancelled = report.result { return }
          let count = ended.change { ended in
            ended += 1
            return ended
          }
          if count == moment { reached.open() }
          // The producer fills the backlog meanwhile, even if it is the one that reports the end of an operation.
          if count >= moment, pthread_self() != producer { heard.pass() }
        default: break
        }
      }
      Thread.detachNewThread {
        reached.pass()
        while job.queue.counters.waiting < 8 { usleep(1_000) }
        bell.ring()
      }
      return try job.run()
    }
    #expect(report.tally.made == 60 && report.tally.requeued > 0)
    #expect(report.joins.map(\.count) == [60, 20, 60])
    let interrupted = try folder.bytes("made/sheet.pdf")
    // An undisturbed run makes the same.
    try FileManager.default.removeItem(atPath: folder("made"))
    _ = try await run(self.settings())
    #expect(try folder.bytes("made/sheet.pdf") == interrupted)
  }
}
