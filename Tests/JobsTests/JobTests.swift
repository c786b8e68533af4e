import BoundedQueue
import Files
import Foundation
import TestSupport
import Testing
import Thumbnails

@testable import JobSettings
@testable import Jobs
@testable import PictureMaking

/// Runs whole jobs in the process of the test, so that the thread sanitizer checks the operations, the queue and the
/// state that they share.
@Suite(.serialized, .timeLimit(.minutes(5))) struct JobTests {
  private let folder = TemporaryFolder()

  /// Writes `count` small photos, of which two in every ten are broken.
  private func photos(_ count: Int) throws {
    let good = (0..<3).map { SyntheticPhoto(seed: $0, width: 120 + $0, height: 80).jpeg() }
    for number in 0..<count {
      let bytes = number % 10 < 8 ? good[number % 3] : number % 10 == 8 ? [] : Array(good[0].prefix(300))
      try folder.write(bytes, to: "images/\(number % 7)/\(number).jpg")
    }
  }

  private func settings(max: Int = 2, backlog: Int = 4) -> JobSettings {
    var settings = JobSettings()
    settings.sources = [.path(Path(folder("images")))]
    settings.outputs[0].folder = Path(folder("thumbs"))
    settings.outputs[0].sizes = [.known("32"), .known("square=16x16^")]
    settings.max = max
    settings.backlog = backlog
    return settings
  }

  @Test func everySourceEndsOnceAndTheLimitsHold() async throws {
    try photos(200)
    let seen = LockedBox<[Path: Int]>([:])
    let settings = settings()
    let report = try await onThread {
      let job = try Job(settings) { event in
        if case .source(let report) = event { seen.change { $0[report.source.path, default: 0] += 1 } }
      }
      job.countAhead()
      return try job.run()
    }
    #expect(report.tally.found == 200 && report.tally.made == 160 && report.tally.failed == 40)
    #expect(report.tally.thumbnails == 320 && folder.files(below: "thumbs").count == 320)
    #expect(seen.value.count == 200 && seen.value.values.allSatisfy { $0 == 1 })
    #expect(1 < report.counters.peakRunning && report.counters.peakRunning <= 2)
    #expect(report.counters.peakWaiting <= 4)
    #expect(report.stopCause == nil && report.isWalkComplete && !report.workRemains)
  }

  @Test(arguments: [StopCause.cancelled(by: "USR2"), .shutdown(by: "INT"), .startNothingNew, .timeIsUp])
  func aStopAtAnyMomentLeavesEverySourceCounted(cause: StopCause) async throws {
    try photos(300)
    for moment in [1, 7, 40] {
      try? FileManager.default.removeItem(atPath: folder("thumbs"))
      let (reached, stopped) = (Gate(), Gate())
      let ends = LockedBox(0)
      let settings = settings()
      let report = try await onThread {
        let job = try Job(settings) { event in
          guard case .source = event else { return }
          let count = ends.change { ends in
            ends += 1
            return ends
          }
          guard count == moment else { return }
          reached.open()
          stopped.pass()
        }
        Thread.detachNewThread {
          reached.pass()
          job.stop(cause)
          stopped.open()
          _ = job.status(waitingLimit: 100)
        }
        return try job.run()
      }
      #expect(report.tally.found == report.tally.ended)
      #expect(report.stopCause == cause && report.workRemains && !report.isWalkComplete)
      #expect(report.tally.thumbnails == folder.files(below: "thumbs").count)
      #expect(report.counters.ended == report.counters.submitted)
    }
  }

  /// A program may run many jobs, and each has files, threads and memory.
  @Test(arguments: [nil, StopCause.cancelled(by: "USR2"), .pressure]) func anEndedJobIsReleased(
    stopCause: StopCause?
  ) async throws {
    try photos(40)
    var settings = settings()
    settings.joins.contactSheet = Path(folder("sheet.pdf"))
    settings.joins.manifest = Path(folder("manifest.json"))
    let joined = settings
    let isReleased: @Sendable () -> Bool = try await onThread {
      let theJob = LockedBox<Job?>(nil)
      var job: Job? = try Job(joined) { event in
        guard let stopCause, case .source = event else { return }
        _ = theJob.value?.stop(stopCause)
      }
      theJob.change { $0 = job }
      _ = try job?.run()
      theJob.change { $0 = nil }
      weak let released = job
      job = nil
      return { released == nil }
    }
    #expect(try await eventually { isReleased() })
  }

  @Test func limitsThatChangeDuringAJobHoldAndAreReported() async throws {
    try photos(200)
    let settings = settings(max: 1, backlog: 2)
    let theJob = LockedBox<Job?>(nil)
    let stopped = LockedBox<[StopCause]>([])
    let report = try await onThread {
      let job = try Job(settings) { event in
        if case .stopping(let cause) = event { stopped.change { $0.append(cause) } }
        guard case .source = event, let job = theJob.value else { return }
        theJob.change { $0 = nil }
        #expect(job.changeLimits(max: 3, backlog: 6, budget: 64 << 20).maxConcurrentOperations == 3)
        #expect(job.changeLimits(max: nil, backlog: 5, budget: nil).maxConcurrentOperations == 3)
        #expect(job.queue.limits.backlog == 5 && job.queue.limits.budget?.bytes == 64 << 20)
      }
      theJob.change { $0 = job }
      return try job.run()
    }
    #expect(report.tally.made == 160 && stopped.value.isEmpty)
    #expect(report.counters.peakRunning > 1 && report.counters.peakRunning <= 3)
    #expect(report.limits.maxConcurrentOperations == 3 && report.limits.backlog == 6)
  }

  @Test func aSourceThatTakesTooLongFailsWithATimeout() async throws {
    try folder.write(SyntheticPhoto(seed: 1, width: 64, height: 64).jpeg(), to: "images/a.jpg")
    var settings = settings()
    settings.timeout = .seconds(2)
    settings.retries = 100
    try folder.write([0xFF, 0xD8, 0xFF, 0xE0], to: "images/slow.jpg")
    let failures = LockedBox<[SourceFailure]>([])
    let limited = settings
    let report = try await onThread {
      try Job(limited) { event in
        if case .source(let report) = event, case .failed(let failure) = report.result {
          failures.change { $0.append(failure) }
        }
      }.run()
    }
    // The broken source fails and is tried again until its time is over.
    #expect(failures.value == [.timeout(.seconds(2))])
    #expect(report.tally.made == 1 && report.tally.failed == 1)
  }

  @Test func aFailureThatMayBeTemporaryIsTriedAgain() async throws {
    let good = SyntheticPhoto(seed: 1, width: 64, height: 64).jpeg()
    try folder.write(Array(good.prefix(400)), to: "images/growing.jpg")
    var settings = settings()
    settings.retries = 50
    let patient = settings
    let folder = folder
    let running = LockedBox<Job?>(nil)
    async let report = onThread {
      let job = try Job(patient) { _ in }
      running.change { $0 = job }
      return try job.run()
    }
    #expect(
      try await eventually {
        running.value?.status(waitingLimit: 0).queue.running.first?.stage == "waiting to try again"
      })
    // Completes the file, as the end of a copy would.
    try folder.write(good, to: "images/growing.jpg")
    #expect(try await report.tally.made == 1)
  }

  @Test func ofTwoSourcesForOnePlaceTheFirstIsMadeAndTheSecondFails() async throws {
    let bytes = SyntheticPhoto(seed: 1, width: 64, height: 48).jpeg()
    for name in ["one/a.jpg", "two/a.jpg", "one/b.png", "one/b.png.jpg"] { try folder.write(bytes, to: name) }
    var settings = settings()
    // From the text alone, `link/../one` is `one` again. The kernel follows the link first.
    try folder.write(bytes, to: "two/one/a.jpg")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "two/one")
    settings.sources = ["one", "link/../one"].map { .path(Path(folder($0))) }
    settings.outputs[0].sizes = [.standard]
    let both = settings
    let failed = LockedBox<Set<String>>([])
    let report = try await onThread {
      try Job(both) { event in
        if case .source(let report) = event, case .failed(let failure) = report.result, failure.kind == .collision {
          failed.change { _ = $0.insert(report.source.path.lastName.printable) }
        }
      }.run()
    }
    #expect(report.tally.made == 2 && failed.value == ["a.jpg", "b.png.jpg"])
    #expect(folder.files(below: "thumbs") == ["a.jpg", "b.png.jpg"])
  }

  /// The first size is missing, which must not hide that the second is the source.
  @Test func aSourceThatIsLinkedToItsPlaceIsNotOverwritten() async throws {
    let photo = SyntheticPhoto(seed: 1, width: 64, height: 48).jpeg()
    try folder.write(photo, to: "images/a.jpg")
    try FileManager.default.createDirectory(atPath: folder("thumbs/square"), withIntermediateDirectories: true)
    try FileManager.default.linkItem(atPath: folder("images/a.jpg"), toPath: folder("thumbs/square/a.jpg"))
    let failures = LockedBox<[SourceFailure]>([])
    let settings = settings()
    _ = try await onThread {
      try Job(settings) { event in
        if case .source(let report) = event, case .failed(let failure) = report.result {
          failures.change { $0.append(failure) }
        }
      }.run()
    }
    #expect(failures.value == [.placeIsSource])
    #expect(try folder.bytes("images/a.jpg") == Data(photo))
  }

  @Test func eachOutputIsMadeWithItsOwnSettings() async throws {
    try folder.write(SyntheticPhoto(seed: 1, width: 640, height: 480).jpeg(), to: "images/a.jpg")
    var settings = settings()
    settings.outputs = ["web", "print"].map { name in
      var output = OutputSettings()
      output.folder = Path(folder(name))
      output.quality = name == "web" ? 40 : 95
      return output
    }
    let both = settings
    let report = try await onThread { try Job(both) { _ in }.run() }
    #expect(report.tally.thumbnails == 2)
    #expect(try folder.bytes("web/a.jpg").count < folder.bytes("print/a.jpg").count)
  }
}
