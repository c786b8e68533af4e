import AccessRecording
import Foundation
import TestSupport
import Testing

@testable import TraceRecording

@Suite(.timeLimit(.minutes(5))) struct TraceTests {
  private let folder = TemporaryFolder()

  private func events() throws -> [[String: Any]] {
    let bytes = try Data(folder.bytes("trace.json"))
    return try #require(try JSONSerialization.jsonObject(with: bytes) as? [[String: Any]])
  }

  @Test func everyEventHasTheFieldsThatTheFormatRequires() throws {
    let trace = try TraceRecorder(path: folder("trace.json"))
    trace.begin("thumbnail \"a\\b\u{1}\".jpg → ü", of: 7)
    trace.span("Job.take") { trace.count("operations", [("running", 2), ("waiting", 8)]) }
    trace.end("thumbnail \"a\\b\u{1}\".jpg → ü", of: 7, note: "succeeded")
    try trace.close()
    let events = try events()
    #expect(events.map { $0["ph"] as? String } == ["M", "b", "C", "X", "e", "M"])
    for event in events {
      #expect(event["pid"] as? Int == Int(getpid()) && event["tid"] is Int && event["name"] is String)
      #expect((event["ts"] as? Int ?? -1) >= 0)
    }
    #expect(events[1]["name"] as? String == "thumbnail \"a\\b\u{1}\".jpg → ü")
    #expect(events[1]["cat"] as? String == "operation" && events[1]["id"] as? Int == 7)
    #expect(events[2]["args"] as? [String: Int] == ["running": 2, "waiting": 8])
    #expect((events[3]["dur"] as? Int ?? -1) >= 0)
    #expect(events[4]["args"] as? [String: String] == ["note": "succeeded"])
  }

  @Test func anArrowBeginsAndEndsInTheMarksOfItsThreads() async throws {
    let trace = try TraceRecorder(path: folder("trace.json"))
    let first = try await onThread { trace.mark("thumbnail a.jpg", of: 7) }
    let second = try await onThread { trace.mark("thumbnail b.jpg", of: 8) }
    let last = trace.mark("contact sheet", of: 9)
    for mark in [first, second] { trace.arrow("dependency", from: mark, to: last) }
    try trace.close()
    let events = try events()
    let marks = events.filter { $0["ph"] as? String == "X" }
    #expect(marks.map { $0["id"] as? Int } == [7, 8, 9])
    for (begin, mark) in zip(events.filter { $0["ph"] as? String == "s" }, marks) {
      let end = try #require(events.first { $0["ph"] as? String == "f" && $0["id"] as? Int == begin["id"] as? Int })
      for (arrow, mark) in [(begin, mark), (end, marks[2])] {
        #expect(arrow["name"] as? String == "dependency" && arrow["cat"] as? String == "arrow")
        // Without it, a viewer looks for the next span instead of the one around this moment.
        #expect(arrow["bp"] as? String == "e")
        #expect(arrow["tid"] as? Int == mark["tid"] as? Int)
        let time = try #require(arrow["ts"] as? Int)
        let (start, duration) = (try #require(mark["ts"] as? Int), try #require(mark["dur"] as? Int))
        #expect((start..<start + duration).contains(time))
      }
    }
    #expect(Set(events.filter { $0["ph"] as? String == "s" }.map { $0["id"] as? Int }).count == 2)
    // They are no methods.
    #expect(try ThreadReport(path: folder("trace.json")).methods.isEmpty)
  }

  @Test func theReportListsTheThreadsOfEachMethod() async throws {
    let trace = try TraceRecorder(path: folder("trace.json"))
    let gate = Gate()
    async let first: Void = onThread { trace.span("Work.shared") { trace.span("Work.own") { gate.pass() } } }
    async let second: Void = onThread { trace.span("Work.shared") { trace.span("Work.own") { gate.pass() } } }
    try await onThread {
      gate.awaitArrivals(2)
      trace.span("Alone.run") {}
      trace.span("Alone.run") {}
      gate.open()
    }
    _ = try await (first, second)
    try trace.close()
    let report = try ThreadReport(path: folder("trace.json"))
    #expect(report.methods.map(\.name) == ["Alone.run", "Work.own", "Work.shared"])
    #expect(report.methods.map(\.threads.count) == [1, 2, 2])
    #expect(report.methods.map(\.calls) == [2, 2, 2])
    #expect(report.methods[0].isSingleThreaded && !report.methods[2].isSingleThreaded)
    #expect(Set(report.methods.flatMap(\.threads)).isSubset(of: Set(report.threadNames.keys)))
  }

  @Test func aTruncatedTraceIsReadUpToItsEnd() throws {
    let trace = try TraceRecorder(path: folder("trace.json"))
    for _ in 0..<10_000 { trace.span("Work.run") {} }
    try trace.close()
    let whole = try folder.bytes("trace.json")
    try folder.write(Array(whole.prefix(whole.count / 2 + 7)), to: "cut.json")
    let calls = try ThreadReport(path: folder("cut.json")).methods.first?.calls ?? 0
    #expect(calls > 4_900 && calls < 5_100)
  }

  @Test func aFileThatIsNotATraceIsRefused() throws {
    try folder.write(Array("{\"a\": 1}\n".utf8), to: "other.json")
    #expect(throws: NotATraceError.self) { try ThreadReport(path: folder("other.json")) }
    #expect(throws: TraceError.self) { try ThreadReport(path: folder("none.json")) }
    #expect(throws: TraceError.self) { try TraceRecorder(path: folder("none/trace.json")) }
  }

  @Test func anEarlierTraceIsOverwrittenAndNoOtherFile() throws {
    for _ in 0..<2 {
      let trace = try TraceRecorder(path: folder("trace.json"))
      trace.span("Work.run") {}
      try trace.close()
      #expect(try events().map { $0["ph"] as? String } == ["M", "X", "M"])
    }
    try folder.write(Array("a photo".utf8), to: "photo.jpg")
    #expect(throws: TraceError.self) { try TraceRecorder(path: folder("photo.jpg")) }
    #expect(try folder.bytes("photo.jpg") == Data("a photo".utf8))
  }

  @Test func aFIFOWithoutAReaderIsRefusedAtOnce() {
    mkfifo(folder("pipe"), 0o600)
    #expect(throws: TraceError.self) { try TraceRecorder(path: folder("pipe")) }
  }

  @Test func aStalledReaderDoesNotStallRecording() async throws {
    mkfifo(folder("pipe"), 0o600)
    let reader = open(folder("pipe"), O_RDONLY | O_NONBLOCK)
    let error = try await onThread { [folder] in
      let trace = try TraceRecorder(path: folder("pipe"))
      for _ in 0..<100_000 { trace.span("Work.run") {} }
      return #expect(throws: TraceError.self) { try trace.close() }
    }
    #expect(error?.reason == "accepts no more data, so the end is missing")
    // Reads until the recorder has closed the pipe: writing to a pipe without a reader would kill the process
    // (SIGPIPE).
    try await onThread {
      _ = fcntl(reader, F_SETFL, 0)
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      while read(reader, &bytes, bytes.count) > 0 {}
      close(reader)
    }
  }

  @Test func twoRunsMayWriteToOneDevice() throws {
    let traces = [try TraceRecorder(path: "/dev/null"), try TraceRecorder(path: "/dev/null")]
    for trace in traces { try trace.close() }
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full here"))
  func aFullDiskEndsTheTraceAndIsReportedByClose() throws {
    let trace = try TraceRecorder(path: "/dev/full")
    for _ in 0..<10_000 { trace.span("Work.run") {} }
    #expect(throws: TraceError(path: "/dev/full", code: ENOSPC)) { try trace.close() }
  }

  @Test func aSpanWithoutARecorderOnlyRunsItsBody() {
    let none: TraceRecorder? = nil
    #expect(none.span("Work.run") { 5 } == 5)
  }
}
