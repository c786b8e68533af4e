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
}
