import Foundation
import SystemPackage
import Testing

@testable import Comparison

@Suite(.timeLimit(.minutes(5))) struct ComparisonTests {
  private func report(
    _ runs: [VariantMeasurement], limit: Int? = nil, kind: MemoryCage.Kind = .cgroup2
  ) -> ComparisonReport {
    var report = ComparisonReport(
      thumbjobVersion: "1", command: ["thumbjob", "compare", "my photos", "it's"], machine: .init(processors: 2),
      sources: .init(arguments: ["my photos"], count: 100, bytes: 1 << 20), max: 4, naivePayload: .read,
      memoryLimit: limit.map { .init(bytes: $0, kind: kind) })
    (report.runs, report.stopRuns) = (runs, runs.filter { $0.stop != nil })
    return report
  }

  private func killed(stop: StopMeasurement? = nil) -> VariantMeasurement {
    var run = VariantMeasurement(.naive, round: 1)
    (run.ending, run.signal, run.seconds, run.thumbnails, run.stop) = (.killedForMemory, 9, 0.42, 7, stop)
    run.samples = [
      Sample(seconds: 0.05, rssBytes: 90 << 20, anonymousBytes: 70 << 20, threads: 4, waiting: 60, running: 2, done: 3)
    ]
    return run
  }

  @Test func aDecodedMessageEqualsTheEncodedOne() {
    var counts = VariantCounts()
    (counts.waiting, counts.running, counts.done, counts.failed) = (1, 2, 3, 4)
    (counts.peakWaiting, counts.peakRunning) = (5, 6)
    let messages: [VariantMessage] = [
      .counts(counts), .toldToStop(counts), .listed(operations: 20), .bounds(backlog: 16, budgetBytes: 1 << 30),
      .ended(peakBytes: 7),
      .gaveUp(reason: "two\nlines: \"a\tb\" \u{2028}"),
      .failed(VariantFailure(source: "my photos/a.jpg", error: "empty: no byte")),
    ]
    for message in messages {
      // A newline ends each line, and nothing else in it is one.
      #expect(message.line.firstIndex(of: VariantMessage.newline) == message.line.count - 1)
    }
    #expect(read(messages.flatMap(\.line)) == messages)
  }

  /// The messages in bytes that arrive at once; the same as in bytes that arrive one by one.
  private func read(_ bytes: [UInt8]) -> [VariantMessage] {
    var (reader, slowReader) = (MessageReader(-1), MessageReader(-1))
    let messages = reader.append(bytes[...])
    let slowMessages = bytes.flatMap { slowReader.append([$0]) }
    #expect(messages == slowMessages)
    return messages
  }

  @Test(arguments: [
    "", "{", "counts", "{}", "[]", "null", "\0", "{\"listed\":{}}", "{\"listed\":{\"operations\":1e400}}",
    "{\"listed\":{\"operations\":2", "{\"said\":{\"operations\":4}}",
    "{\"listed\":{\"operations\":1},\"ended\":{\"peakBytes\":1}}", String(repeating: "[", count: 5000),
  ])
  func aLineThatIsNotAMessageIsSkipped(line: String) {
    let message = VariantMessage.listed(operations: 20)
    #expect(read(Array("\(line)\n".utf8) + message.line) == [message])
  }

  @Test(arguments: [-1, 1 << 40, Int.max]) func countsThatAreImpossibleAreSkipped(number: Int) {
    var counts = VariantCounts()
    counts.done = number
    #expect(read(VariantMessage.counts(counts).line + VariantMessage.toldToStop(counts).line).isEmpty)
  }

  @Test func aLastLineThatIsCutOffIsIgnored() {
    let message = VariantMessage.listed(operations: 20)
    #expect(read(message.line + message.line.dropLast()) == [message])
  }

  @Test func aLineThatIsNotUTF8IsSkipped() {
    #expect(
      read([0xff, 0xfe, VariantMessage.newline] + VariantMessage.ended(peakBytes: 1).line) == [.ended(peakBytes: 1)])
  }

  @Test func aLineOverTheLimitIsSkippedAndTheNextOneIsRead() {
    let limit = MessageReader.maxLineBytes
    let base = VariantMessage.gaveUp(reason: "").line.count - 1
    let longest = VariantMessage.gaveUp(reason: String(repeating: "x", count: limit - base))
    let tooLong = VariantMessage.gaveUp(reason: String(repeating: "x", count: limit - base + 1))
    #expect(
      read(longest.line + tooLong.line + VariantMessage.listed(operations: 1).line) == [
        longest, .listed(operations: 1),
      ])
  }

  @Test func aRunIsAskedToListOnceATenthIsDoneAndToldToStopOnceItAnswers() {
    var record = VariantRecord(.bounded, round: nil, sources: 100)
    record.receive(.listed(operations: 3), at: 0.1)  // Not asked for, so ignored.
    var counts = VariantCounts()
    counts.done = 9
    record.receive(.counts(counts), at: 0.1)
    let early = record.dueSignal(at: 0.2)
    counts.done = 10
    record.receive(.counts(counts), at: 0.3)
    let (list, again) = (record.dueSignal(at: 0.4), record.dueSignal(at: 0.5))
    record.receive(.listed(operations: 20), at: 0.5)
    let (stop, last) = (record.dueSignal(at: 0.6), record.dueSignal(at: 9))
    #expect([early, list, again, stop, last] == [nil, SIGUSR1, nil, SIGUSR2, nil])
    counts.done = 12
    record.receive(.counts(counts), at: 0.7)
    counts.done = 11
    record.receive(.toldToStop(counts), at: 0.7)
    let measurement = record.finish(.exited(0), at: 1, processorSeconds: 1.5, in: nil)
    #expect(measurement.ending == .stopped && measurement.thumbnails == 12 && measurement.processorSeconds == 1.5)
    #expect(measurement.stop?.listedOperations == 20 && measurement.stop?.thumbnailsMadeMeanwhile == 1)
    #expect(measurement.stop?.wasDoneBefore == false && measurement.round == nil)
  }

  /// A run of ten sources that is told to stop when it has reported two of them.
  ///
  /// - Parameters:
  ///   - atStop: how many are done when it notices that; nil if it ends without noticing.
  ///   - done: how many are done in the end.
  private func told(
    _ variant: Variant, atStop: Int?, done: Int, _ ending: ChildProcess.Ending = .exited(0)
  ) -> VariantMeasurement {
    var record = VariantRecord(variant, round: nil, sources: 10)
    var counts = VariantCounts()
    counts.done = 2
    record.receive(.counts(counts), at: 0.1)
    let signals = [record.dueSignal(at: 0.1), record.dueSignal(at: 0.4)]
    #expect(signals == [SIGUSR1, SIGUSR2])
    if let atStop {
      counts.done = atStop
      record.receive(.toldToStop(counts), at: 0.5)
    }
    counts.done = done
    record.receive(.counts(counts), at: 0.6)
    return record.finish(ending, at: 1, processorSeconds: 1, in: nil)
  }

  private func result(_ run: VariantMeasurement) -> String? { ComparisonTable.stops(report([run])).rows.last?.last }

  @Test(arguments: Variant.allCases, [10, nil])
  func aRunThatWasDoneBeforeItWasToldToStopIsNotSaidToGoOn(variant: Variant, atStop: Int?) {
    let run = told(variant, atStop: atStop, done: 10)
    #expect(run.stop?.wasDoneBefore == true && run.stop?.thumbnailsMadeMeanwhile == 0)
    #expect(result(run) == "was done before it was told to stop")
  }

  @Test(arguments: [
    (Variant.naive, 4, 10, "did not stop: continued to the end"),
    (.bounded, 8, 10, "had only running operations left, which succeeded"),
    (.bounded, 4, 6, "cancelled all waiting and running operations"),
    (.serial, 4, 5, "finished its current source and stopped"),
  ])
  func aRunThatWasToldToStopBeforeItWasDoneIsJudgedByWhatItDidThen(
    variant: Variant, atStop: Int, done: Int, words: String
  ) {
    let run = told(variant, atStop: atStop, done: done)
    #expect(run.stop?.wasDoneBefore == false && run.stop?.thumbnailsMadeMeanwhile == done - atStop)
    #expect(result(run) == words)
  }

  @Test func aRunThatIsKilledAfterItWasToldToStopWasNotDoneBefore() {
    let run = told(.naive, atStop: nil, done: 5, .signalled(9))
    #expect(run.stop?.wasDoneBefore == false && run.stop?.thumbnailsMadeMeanwhile == 3)
    #expect(result(run) == "ended by signal 9 after 1.0 s and 5 of 100; did not stop")
  }

  @Test func countsThatArriveAfterNewerOnesAreIgnored() {
    var (record, old, new) = (VariantRecord(.serial, round: 1, sources: 3), VariantCounts(), VariantCounts())
    (old.done, new.done, new.failed) = (2, 2, 1)
    record.receive(.counts(new), at: 0.1)
    record.receive(.counts(old), at: 0.2)
    let run = record.finish(.exited(1), at: 1, processorSeconds: 1, in: nil)
    #expect(run.failed == 1 && run.ending == .finished)
  }

  @Test func aRunThatDoesNotListIsToldToStopAfterAQuarterOfASecond() {
    var record = VariantRecord(.naive, round: nil, sources: 100)
    record.receive(.counts(VariantCounts()), at: 0.1)
    let signals = [0.9, 1, 1.2, 1.25].map { record.dueSignal(at: $0) }
    #expect(signals == [nil, SIGUSR1, nil, SIGUSR2])
  }

  @Test func aRunThatHasNotReportedOrIsNotToldToStopGetsNoSignal() {
    var silent = VariantRecord(.bounded, round: nil, sources: 0)
    var other = VariantRecord(.bounded, round: 1, sources: 0)
    other.receive(.counts(VariantCounts()), at: 0)
    let signals = [silent.dueSignal(at: 10), other.dueSignal(at: 10)]
    #expect(signals == [nil, nil])
  }

  @Test func aThinnedLineKeepsItsPeaksAndItsEnd() {
    let points = (0..<10_000).map { LineChart.Point(x: Double($0), y: $0 == 4_321 ? 999 : Double($0 % 10)) }
    let thinned = LineChart.thinned(points)
    #expect(thinned.count <= 160 && thinned.map(\.y).max() == 999 && thinned.last?.x == 9_999)
    #expect(zip(thinned, thinned.dropFirst()).allSatisfy { $0.x < $1.x })
    #expect(LineChart.thinned(Array(points.prefix(160))).count == 160)
  }

  @Test func aKilledRunIsShownWithTimeAndCount() {
    let report = report([killed()], limit: 192 << 20)
    #expect(ComparisonTable.rounds(report).rows[0] == ["result", "killed for memory after 0.42 s"])
    #expect(ComparisonTable.rounds(report).rows[1] == ["made, of 100", "7"])
    let page = ComparisonPage(report).html
    #expect(page.contains("killed at 0.42 s") && page.contains("limit 192 MiB") && !report.isBoundedComplete)
    #expect(page.contains("thumbjob compare 'my photos' 'it'\\''s'"))
  }

  @Test func theChartShowsALimitOnMemoryButNotOneOnAddressSpace() {
    let classes = ["<line class=\"limit\"", ">memory limit</li>"]
    let limited = ComparisonPage(report([killed()], limit: 192 << 20)).html
    #expect(classes.allSatisfy { limited.contains($0) } && limited.contains(">seconds</text>"))
    let others = [report([killed()]), report([killed()], limit: 192 << 20, kind: .addressSpace)]
    for report in others {
      let page = ComparisonPage(report).html
      #expect(classes.allSatisfy { !page.contains($0) })
    }
  }

  @Test func thePageShowsTheBounds() {
    var bounded = VariantMeasurement(.bounded, round: 1)
    (bounded.backlog, bounded.budgetBytes, bounded.peakAnonymousBytes) = (16, 64 << 20, 40 << 20)
    let page = ComparisonPage(report([bounded])).html
    #expect(page.contains("at most 4 running, a backlog of 16, a budget of 64 MiB"))
    #expect(page.contains("at most 40 MiB of anonymous memory held"))
  }

  @Test func aRunThatIsKilledBeforeItsFirstSourceRanOutOfMemoryAtOnce() {
    var run = killed()
    #expect(!run.ranOutOfMemoryAtOnce)
    run.thumbnails = 0
    #expect(run.ranOutOfMemoryAtOnce)
    run.ending = .finished
    #expect(!run.ranOutOfMemoryAtOnce)
  }

  @Test func aProcessIsNotStartedWithAnInvalidDescriptor() {
    #expect(throws: Errno.badFileDescriptor) { try ChildProcess([], input: -1, output: -1) }
  }

  @Test func theTableDescribesHowEachVariantStopped() {
    func values(_ run: VariantMeasurement) -> [String] { ComparisonTable.stops(report([run])).rows.map { $0[1] } }
    #expect(
      values(killed(stop: StopMeasurement()))
        == ["–", "–", "–", "–", "–", "killed for memory after 0.42 s and 7 of 100, before it was asked to list"])
    var (bounded, stop) = (VariantMeasurement(.bounded, round: nil), StopMeasurement())
    (stop.listSentAfterSeconds, stop.stopSentAfterSeconds, stop.secondsToEnd) = (1, 1.01, 0.0042)
    (stop.listedOperations, stop.answerSeconds, stop.thumbnailsMadeMeanwhile) = (20, 0.003, 1)
    (bounded.ending, bounded.stop) = (.stopped, stop)
    #expect(
      values(bounded)
        == [
          "after 1.0 s", "20 in 3 ms", "after 1.0 s", "5 ms later", "1",
          "cancelled all waiting and running operations",
        ])
  }
}
