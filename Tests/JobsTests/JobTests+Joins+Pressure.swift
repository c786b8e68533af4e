import Files
import Foundation
import TestSupport
import Testing

@testable import JobSettings
@testable import Jobs
@testable import MemoryPressure

/// Jobs under memory pressure that make a manifest, a contact sheet and a gallery.
extension JobTests.Joins {
  /// Memory pressure cancels sources, which are made again.
  @Test(arguments: [1, 2, 5, 11]) func pressureLosesNoPictureOfTheSheet(moment: Int) async throws {
    let photos = (0..<3).map { SyntheticPhoto(seed: $0, width: 300 + $0, height: 200).jpeg() }
    for number in 0..<60 { try folder.write(photos[number % 3], to: "images/\(number).jpg") }
    let bell = Doorbell(.fifo)
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
