import Files
import Foundation
import Ledger
import TestSupport
import Testing

@testable import JobSettings
@testable import Jobs
@testable import Places
@testable import Sourcing

extension JobTests {
  /// Watches in the process of the test.
  @Suite(.serialized, .timeLimit(.minutes(2))) struct Watching {
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
    ///
    /// - Parameter made: is called before it runs.
    private func watched(
      _ settings: JobSettings, made: () -> Void = {}, _ body: @escaping @Sendable (Job) async throws -> Void
    ) async throws -> (report: JobReport, events: [JobEvent]) {
      let (ready, events) = (Gate(), LockedBox<[JobEvent]>([]))
      let job = try Job(settings) { event in
        events.change { $0.append(event) }
        if case .watch(.ready) = event { ready.open() }
      }
      made()
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

    /// The next run must know the disk also if this watch is killed.
    @Test func theDiskOfNewPhotosIsRememberedWhileTheWatchRuns() async throws {
      try folder.write(photos[0], to: "images/a.jpg")
      let images = Path(folder("images"))
      _ = try await watched(settings()) { job in
        let isRemembered = try await eventually {
          (try? job.engine.capabilities.first(of: JobLedger.self)?.disks()[images]) == DiskIdentity(at: images)?.text
        }
        #expect(isRemembered)
      }
    }

    @Test func aPhotoThatIsWrittenByAnotherNameIsMadeAgain() async throws {
      try folder.write(photos[0], to: "other/name.jpg")
      try folder.write(photos[0], to: "images/single.jpg")
      for name in ["a", "b"] { #expect(link(folder("other/name.jpg"), folder("images/\(name).jpg")) == 0) }
      var settings = settings()
      settings.watch?.linkPause = .milliseconds(50)
      let (folder, other) = (folder, photos[1])
      let (report, events) = try await watched(settings) { job in
        let isThere = try await eventually { job.status(waitingLimit: 0).tally.made == 3 }
        #expect(isThere)
        // Each names its own source.
        let before = ["a", "b"].map { try? folder.bytes("thumbs/32x32/\($0).jpg") }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder("other/name.jpg")))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(other))
        try file.close()
        let areMade = try await eventually {
          zip(["a", "b"], before).allSatisfy { name, before in
            (try? folder.bytes("thumbs/32x32/\(name).jpg")).map { $0 != before } ?? false
          }
        }
        #expect(areMade)
      }
      #expect(report.tally.made == 5)
      let notes = events.filter { if case .watch(.linked) = $0 { true } else { false } }
      #expect(notes.count == 1, "said once")
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
          "32x32/a.jpg", "a-small.jpg", "a.jpg", "b-small.jpg", "square/a.jpg",
        ])
    }

    /// A folder that only cannot be reached is not gone.
    @Test func thumbnailsOfWhatIsOutOfReachStay() async throws {
      try folder.write(photos[0], to: "images/album/a.jpg")
      try folder.write(photos[0], to: "images/loop/b.jpg")
      var settings = settings()
      settings.followsLinks = true
      let folder = folder
      let photos = photos
      let (report, _) = try await watched(settings) { job in
        let isReady = try await eventually { job.status(waitingLimit: 0).tally.made == 2 }
        #expect(isReady)
        // One link leads to itself, the other nowhere.
        for (name, target) in [("album", "none"), ("loop", "loop")] {
          #expect(rename(folder("images/\(name)"), folder(name)) == 0)
          #expect(symlink(target, folder("images/\(name)")) == 0)
        }
        for name in ["c", "d"] {
          try folder.write(photos[1], to: "images/\(name).jpg")
          let isMade = try await eventually { folder.exists("thumbs/32x32/\(name).jpg") }
          #expect(isMade)
        }
        #expect(folder.exists("thumbs/32x32/album/a.jpg") && folder.exists("thumbs/32x32/loop/b.jpg"))
        #expect((job.status(waitingLimit: 0).watch?.waiting ?? 0) > 0, "it looks again")
        unlink(folder("images/loop"))
        let isGone = try await eventually { !folder.exists("thumbs/32x32/loop") }
        #expect(isGone, "now it is")
      }
      #expect(report.tally.removed == 2)
    }

    /// A run and a watch of one folder of sources each, with one output folder.
    @Test func thumbnailsOfOtherFoldersStayWhenAllIsSwept() async throws {
      try folder.write(photos[0], to: "photos/a.jpg")
      try folder.write(photos[1], to: "images/b.jpg")
      var other = settings()
      other.sources = [.path(Path(folder("photos")))]
      other.watch = nil
      let first = other
      _ = try await onThread { try Job(first) { _ in }.run() }
      let folder = folder
      let tree = { @Sendable in String(decoding: try folder.bytes("thumbs/.thumbjob/tree"), as: UTF8.self) }
      let before = try tree()
      _ = try await watched(settings()) { _ in
        #expect(try tree() == before, "were it killed now, the next one would know")
        let isMade = try await eventually { folder.exists("thumbs/32x32/b.jpg") }
        #expect(isMade)
      }
      #expect(try tree() != before)
      var settings = settings()
      settings.prune = .yes
      let (report, events) = try await watched(settings) { _ in }
      #expect(report.tally.removed == 0 && folder.exists("thumbs/32x32/a.jpg"))
      #expect(!events.contains { if case .watch(.notSwept) = $0 { true } else { false } })
      try FileManager.default.removeItem(atPath: folder("photos"))
      let (last, _) = try await watched(settings) { _ in }
      #expect(last.tally.removed == 0 && folder.exists("thumbs/32x32/a.jpg"), "its photo was never in this tree")
    }

    @Test func aSuspectThatComesLaterIsTriedOnce() async throws {
      try folder.write(photos[0], to: "images/a.jpg")
      try folder.write(photos[1], to: "images/late.jpg")
      let path = Array("../images/late.jpg".utf8)
      var slot = [UInt8(path.count), 0] + path
      slot += [UInt8](repeating: 0, count: UnderWay.slotSize - slot.count)
      try folder.write(slot, to: "thumbs/.thumbjob/run-dead/under-way")
      try folder.write([], to: "thumbs/.thumbjob/run-dead/lock")
      var settings = settings()
      settings.watch?.poll = .milliseconds(50)
      let folder = folder
      // The file is elsewhere while the folders are walked for the first time.
      let hide = { #expect(rename(folder("images/late.jpg"), folder("late.jpg")) == 0) }
      let (report, events) = try await watched(settings, made: hide) { job in
        #expect(rename(folder("late.jpg"), folder("images/late.jpg")) == 0)
        let isMade = try await eventually { job.status(waitingLimit: 0).tally.made == 2 }
        #expect(isMade)
      }
      let postponed = events.count { if case .postponed = $0 { true } else { false } }
      #expect(postponed == 1 && report.tally.found == 2 && report.tally.ended == 2)
      #expect(folder.exists("thumbs/32x32/late.jpg"))
    }

    @Test func aFolderThatIsGoneIsForgotten() async throws {
      for name in ["a.jpg", "album/b.jpg", "album/c"] { try folder.write(photos[0], to: "images/\(name)") }
      let folder = folder
      let (report, _) = try await watched(settings()) { job in
        let isReady = try await eventually { job.status(waitingLimit: 0).tally.made == 3 }
        #expect(isReady)
        try FileManager.default.removeItem(atPath: folder("images/album"))
        let isGone = try await eventually {
          !folder.exists("thumbs/square/album") && !folder.exists("thumbs/32x32/album")
        }
        #expect(isGone)
      }
      #expect(report.tally.removed == 4)
      var sources: [String] = []
      try Ledger(Path(folder("thumbs/.thumbjob/ledger")), for: .reading).visit { sources.append("\($0.source)") }
      #expect(sources == ["../images/a.jpg"])
    }
  }
}
