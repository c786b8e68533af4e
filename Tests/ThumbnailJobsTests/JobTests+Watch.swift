import Files
import Foundation
import TestSupport
import Testing

@testable import ThumbnailJobs

extension JobTests {
  /// Watches in the process of the test.
  @Suite(.serialized) struct Watching {
    private let folder = TemporaryFolder()
    private let photos = (0..<3).map { SyntheticPhoto(seed: $0, width: 120 + $0, height: 80).jpeg() }

    private func settings() -> JobSettings {
      var settings = JobSettings()
      settings.sources = [.path(Path(folder("images")))]
      settings.outputs[0].folder = Path(folder("thumbs"))
      settings.outputs[0].sizes = [.known("32"), .known("square=16x16^")]
      settings.max = 2
      settings.backlog = 4
      settings.watch = WatchSettings()
      return settings
    }

    /// Runs a watch, calls `body` once it is ready, and stops it in order.
    private func watched(
      _ settings: JobSettings, _ body: @escaping @Sendable (Job) async throws -> Void
    ) async throws -> (report: JobReport, events: [JobEvent]) {
      let (ready, events) = (Gate(), LockedBox<[JobEvent]>([]))
      let job = try Job(settings) { event in
        events.change { $0.append(event) }
        if case .watch(.ready) = event { ready.open() }
      }
      async let report = onThread { try job.run() }
      try await onThread { ready.pass() }
      try await body(job)
      job.stop(.startNothingNew)
      return (try await report, events.value)
    }

    @Test func everyChangeReachesTheOutputWithinTheBounds() async throws {
      for number in 0..<20 { try folder.write(photos[number % 3], to: "images/\(number % 4)/\(number).jpg") }
      let folder = folder
      let photos = photos
      let (report, events) = try await watched(settings()) { job in
        for number in 20..<60 { try folder.write(photos[number % 3], to: "images/\(number % 7)/\(number).jpg") }
        try FileManager.default.removeItem(atPath: folder("images/0"))
        try FileManager.default.moveItem(atPath: folder("images/1"), toPath: folder("images/one"))
        try folder.write([1], to: "images/bad.jpg")
        let there = Set(folder.files(below: "images")).subtracting(["bad.jpg"])
        let isMirrored = try await eventually {
          Set(folder.files(below: "thumbs/32x32")) == there && Set(folder.files(below: "thumbs/square")) == there
        }
        #expect(isMirrored)
        let isFailed = try await eventually { job.status(waitingLimit: 0).tally.failed == 1 }
        #expect(isFailed)
        let isDone = try await eventually { job.status(waitingLimit: 0).watch?.waiting == 0 }
        #expect(isDone && job.isFollowing)
      }
      #expect(report.counters.peakRunning <= 2 && report.counters.peakWaiting <= 4)
      #expect(report.tally.found == report.tally.ended && report.tally.removed > 0)
      #expect(report.isWalkComplete && !report.workRemains)
      let removals = events.count { if case .removal = $0 { true } else { false } }
      #expect(removals == report.tally.removed)
    }

    @Test func aPlaceGoesToTheSourceThatIsLeft() async throws {
      try folder.write(photos[0], to: "images/scan.png")
      try folder.write(photos[1], to: "images/scan.png.jpg")
      var settings = settings()
      settings.outputs[0].sizes = [.known("32")]
      let folder = folder
      let (report, _) = try await watched(settings) { job in
        let isRefused = try await eventually {
          let tally = job.status(waitingLimit: 0).tally
          return tally.failed == 1 && tally.made == 1
        }
        let before = try? folder.bytes("thumbs/scan.png.jpg")
        #expect(isRefused && before != nil)
        unlink(folder("images/scan.png"))
        let isOther = try await eventually { (try? folder.bytes("thumbs/scan.png.jpg")) != before }
        #expect(isOther && folder.exists("thumbs/scan.png.jpg"))
      }
      #expect(report.tally.made == 2)
    }

    @Test func aStopDuringTheFirstWalkLeavesWork() async throws {
      for number in 0..<200 { try folder.write(photos[number % 3], to: "images/\(number).jpg") }
      let job = LockedBox<Job?>(nil)
      let made = try Job(settings()) { event in
        if case .source = event { job.value?.stop(.startNothingNew) }
      }
      job.change { $0 = made }
      let report = try await onThread { try made.run() }
      #expect(report.workRemains && !report.isWalkComplete)
      #expect(report.tally.found == report.tally.ended)
      job.change { $0 = nil }
    }

    @Test func thumbnailsOfOtherRunsStayWhenAllIsSwept() async throws {
      try folder.write(photos[0], to: "images/a.jpg")
      try folder.write(photos[0], to: "images/b.jpg")
      // Another size in a folder of its own, and thumbnails with names by a pattern.
      var earlier = settings()
      earlier.watch = nil
      let first = earlier
      _ = try await onThread { try Job(first) { _ in }.run() }
      earlier.outputs[0].sizes = [.known("48")]
      earlier.outputs[0].name = try NamePattern(parsing: "%s-small", for: "name")
      let second = earlier
      _ = try await onThread { try Job(second) { _ in }.run() }
      #expect(folder.files(below: "thumbs").count == 6)
      var settings = settings()
      settings.outputs[0].sizes = [.known("64")]
      settings.watch?.poll = .milliseconds(100)
      let folder = folder
      _ = try await watched(settings) { _ in
        let isMade = try await eventually { folder.exists("thumbs/a.jpg") && folder.exists("thumbs/b.jpg") }
        #expect(isMade)
        unlink(folder("images/b.jpg"))
        let isGone = try await eventually { !folder.exists("thumbs/b.jpg") }
        #expect(isGone)
      }
      #expect(
        folder.files(below: "thumbs") == [
          "32x32/a.jpg", "32x32/b.jpg", "a-small.jpg", "a.jpg", "b-small.jpg", "square/a.jpg", "square/b.jpg",
        ])
    }
  }
}
