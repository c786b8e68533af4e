#if DEBUG
import AccessRecording
import Files
import Foundation
import TestSupport
import Testing
import Thumbnails

@testable import Jobs
@testable import JobSettings

/// A whole job under the ``AccessRecorder``, in a process of its own, because the recorder records all of a process.
@Suite(.timeLimit(.minutes(5))) struct RecordedJobTests {
  @Test func aJobHasNoUnguardedValueAndThePlantedOneIsFound() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let bytes = SyntheticPhoto(seed: 1, width: 240, height: 160).jpeg()
      for number in 0..<100 { try folder.write(bytes, to: "images/\(number % 7)/\(number).jpg") }
      var settings = JobSettings()
      settings.sources = [.path(Path(folder("images")))]
      settings.outputs[0].folder = Path(folder("thumbs"))
      settings.outputs[0].sizes = [.known("32")]
      settings.joins.contactSheet = Path(folder("sheet.pdf"))
      settings.joins.manifest = Path(folder("manifest.json"))
      (settings.max, settings.backlog) = (4, 8)
      let (job, planted, met) = (try Job(settings) { _ in }, Planted(), Gate())
      // The first operation waits for the second, so that they are on two threads. The thread of the job does not
      // wait, although it may be the one that tells of a start: it submits the second.
      let (threadOfJob, starts) = (LockedBox<Thread?>(nil), LockedBox(0))
      let observation = job.queue.observe { event in
        guard case .started = event.change else { return }
        planted.add()
        guard Thread.current !== threadOfJob.value else { return }
        let isFirst = starts.change { count in
          count += 1
          return count == 1
        }
        if isFirst { met.pass() } else { met.open() }
      }
      AccessRecorder.start()
      async let report = onThread {
        threadOfJob.change { $0 = Thread.current }
        return try job.run()
      }
      let tally = try await report.tally
      observation.cancel()
      let recording = AccessRecorder.stop()
      #expect(tally.made == 100)
      #expect(recording.unguarded.map(\.name) == [planted.name], "\(recording)")
      let methods = Dictionary(uniqueKeysWithValues: recording.threads.methods.map { ($0.name, $0) })
      #expect(methods["Job.add"]?.isSingleThreaded == true)
      #expect(methods["ThumbnailOperation.makeAll"]?.calls == 100, "\(recording)")
      #expect(methods["ThumbnailOperation.makeAll"].map { $0.threads.count > 1 } == true, "\(recording)")
    }
  }
}

/// A mistake: observers are called on the threads of all operations, and no lock that the recorder knows guards the
/// count. Another one does, so that the thread sanitizer finds no fault with the test.
private final class Planted: Sendable {
  private let count = Shared(0, line: 1)
  private let turn = LockedBox(())
  let name = "Shared<Int> (JobsTests/RecordedJobTests.swift:1)"

  func add() { turn.change { _ in count.modify { $0 += 1 } } }
}
#endif
