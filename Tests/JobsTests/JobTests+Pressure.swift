import BoundedQueue
import Files
import Foundation
import TestSupport
import Testing

@testable import JobSettings
@testable import Jobs
@testable import MemoryPressure
@testable import PictureMaking

extension JobTests {
  /// Jobs under memory pressure, which the test signals through a FIFO (the doorbell), as the service manager would.
  @Suite(.serialized) struct Pressure {
    private let folder = TemporaryFolder()
    private let bell = Doorbell(.fifo)

    private func photos(_ count: Int) throws {
      let photos = (0..<3).map { SyntheticPhoto(seed: $0, width: 300 + $0, height: 200).jpeg() }
      for number in 0..<count { try folder.write(photos[number % 3], to: "images/\(number).jpg") }
    }

    private func settings(_ response: PressureResponse) -> JobSettings {
      var settings = JobSettings()
      settings.sources = [.path(Path(folder("images")))]
      settings.outputs[0].folder = Path(folder("thumbs"))
      (settings.max, settings.backlog) = (4, 8)
      settings.onPressure = response
      settings.pressureSource = .systemd
      return settings
    }

    /// A job that listens to the doorbell. Memory counts as normal again 150 ms after a signal.
    private func job(_ settings: JobSettings, onEvent: @escaping @Sendable (JobEvent) -> Void) throws -> Job {
      var rules = PressureRules()
      (rules.sampling, rules.coalescing) = (.milliseconds(10), .milliseconds(10))
      (rules.quiet, rules.quietAfterCritical) = (.milliseconds(150), .milliseconds(150))
      // The memory that the test's process holds must not count as pressure.
      (rules.calmShare, rules.warningShare, rules.criticalShare) = (1, 1, 1)
      let surroundings = Surroundings(variables: ["MEMORY_PRESSURE_WATCH": bell.path])
      return try Job(settings, surroundings: surroundings, pressureRules: rules, onEvent: onEvent)
    }

    /// Runs a job and signals memory pressure when `moment` sources have ended. Sources that end then wait in the event
    /// handler until the job has responded.
    private func run(
      _ settings: JobSettings, ringingAfter moment: Int
    ) async throws -> (report: JobReport, results: [Path: [SourceResult]], actions: [String]) {
      let (reached, heard) = (Gate(), Gate())
      let results = LockedBox<[Path: [SourceResult]]>([:])
      let actions = LockedBox<[String]>([])
      let report = try await onThread {
        let job = try job(settings) { event in
          switch event {
          case .pressure(let note):
            actions.change { $0.append(Self.words(note.action)) }
            heard.open()
          case .source(let report):
            let count = results.change { results in
              results[report.source.path, default: []].append(report.result)
              return results.count
            }
            if count == moment { reached.open() }
            // A cancelled source must not wait: the thread that reports it reports the response only afterwards.
            if case .cancelled = report.result { return }
            if count >= moment { heard.pass() }
          case .walkError, .watching, .stopping, .join, .postponed, .noDecoder, .fence, .ledger, .otherRun, .watch,
            .removal:
            break
          }
        }
        Thread.detachNewThread {
          reached.pass()
          // Operations that end keep their places while they wait in the event handler, so the backlog fills.
          while job.queue.counters.waiting < 8 { usleep(1_000) }
          bell.ring()
        }
        return try job.run()
      }
      return (report, results.value, actions.value)
    }

    private static func words(_ action: PressureNote.Action) -> String {
      switch action {
      case .requeued: "requeued"
      case .stopped: "stopped"
      case .paused, .resumed, .oneAtATime, .widened, .signalsLost, .none: "\(action)"
      }
    }

    @Test func cancelledSourcesAreMadeAgainAndNoneTwice() async throws {
      try photos(80)
      let (report, results, actions) = try await run(settings(.requeue), ringingAfter: 10)
      #expect(results.count == 80 && report.tally.made == 80 && report.tally.thumbnails == 80)
      #expect(results.values.allSatisfy { $0.count == 1 })
      #expect(actions.prefix(2) == ["requeued", "resumed(max: 2)"] && report.tally.pressureCriticals == 1)
      #expect(report.tally.requeued >= 8, "the backlog was full")
      #expect(!report.workRemains && report.stopCause == nil)
      #expect(folder.files(below: "thumbs").count == 80)
    }

    @Test func cancelEndsTheJobWithEverySourceCounted() async throws {
      try photos(80)
      let (report, results, actions) = try await run(settings(.cancel), ringingAfter: 10)
      #expect(report.stopCause == .pressure && report.workRemains && actions.first == "stopped", "\(actions)")
      #expect(actions.dropFirst().allSatisfy { $0 == "none" }, "before a slow job has ended, the pressure may be over")
      #expect(report.tally.found == report.tally.ended && report.tally.cancelled >= 8)
      #expect(results.values.allSatisfy { $0.count == 1 })
      #expect(folder.files(below: "thumbs").count == report.tally.made)
    }

    @Test(arguments: [PressureResponse.pause, .ignore]) func pauseAndIgnoreCancelNothing(
      response: PressureResponse
    ) async throws {
      try photos(80)
      let (report, _, actions) = try await run(settings(response), ringingAfter: 10)
      #expect(report.tally.made == 80 && report.tally.requeued == 0 && !report.workRemains)
      #expect(response == .ignore || actions == ["paused", "resumed(max: 4)"])
      #expect(report.limits.maxConcurrentOperations == 4)
    }

    /// A source whose operation is running each time that memory becomes critical may be the reason.
    @Test func aSourceThatPressureCancelsThreeTimesIsLeft() async throws {
      try photos(3)
      // This source fails and is tried again, so its operation runs all the time.
      try folder.write(SyntheticPhoto(seed: 1, width: 64, height: 64).jpeg().dropLast(200), to: "images/slow.jpg")
      var settings = settings(.requeue)
      settings.retries = 100
      let patient = settings
      let left = LockedBox<[String]>([])
      let actions = LockedBox<Int>(0)
      let report = try await onThread {
        let job = try job(patient) { event in
          switch event {
          case .pressure(let note): if case .requeued = note.action { actions.change { $0 += 1 } }
          case .source(let report):
            if case .cancelled(.pressure) = report.result {
              left.change { $0.append(report.source.path.lastName.printable) }
            }
          case .walkError, .watching, .stopping, .join, .postponed, .noDecoder, .fence, .ledger, .otherRun, .watch,
            .removal:
            break
          }
        }
        Thread.detachNewThread {
          for _ in 1...3 {
            while true {
              let status = job.status(waitingLimit: 0)
              if status.queue.running.contains(where: { $0.stage == "waiting to try again" }),
                status.pressure?.level == .normal
              {
                break
              }
              usleep(5_000)
            }
            bell.ring()
            while job.status(waitingLimit: 0).pressure?.level == .normal { usleep(5_000) }
          }
        }
        return try job.run()
      }
      #expect(left.value == ["slow.jpg"] && actions.value == 3)
      #expect(report.tally.made == 3 && report.tally.cancelled == 1 && report.workRemains)
    }

    @Test func anUnusablePressureSignalIsAnErrorBeforeAnythingIsMade() async throws {
      try photos(1)
      bell.leave()
      let settings = settings(.requeue)
      await #expect(throws: PressureSignalError.self) {
        try await onThread { try job(settings) { _ in }.run() }
      }
      #expect(folder.files(below: "thumbs") == [])
    }

    /// A source that needs more memory than one operation may hold fails; the others are made.
    @Test func aSourceThatNeedsTooMuchMemoryFailsWithTheFigures() async throws {
      try photos(3)
      var photo = SyntheticPhoto(seed: 7, width: 1200, height: 900)
      (photo.isBlank, photo.isProgressive, photo.hasFullChroma) = (true, true, true)
      try folder.write(photo.jpeg(), to: "images/large.jpg")
      var settings = settings(.requeue)
      settings.memory = .bytes(4 << 20)
      let small = settings
      let failures = LockedBox<[SourceFailure]>([])
      let report = try await onThread {
        try job(small) { event in
          if case .source(let report) = event, case .failed(let failure) = report.result {
            failures.change { $0.append(failure) }
          }
        }.run()
      }
      #expect(report.tally.made == 3 && failures.value.map(\.kind) == [.memory])
      #expect(
        failures.value[0].description
          == "needs 7.2 MiB of memory, more than the 4 MiB that one operation may hold")
      #expect(report.counters.peakReserved <= 4 << 20 && report.counters.reserved == 0)
    }
  }
}
