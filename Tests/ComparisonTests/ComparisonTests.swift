import Files
import Foundation
import TestSupport
import Testing

@testable import Comparison

@Suite(.timeLimit(.minutes(5))) struct ComparisonTests {
  private func report(
    _ runs: [VariantMeasurement], limit: Int? = nil, kind: MemoryCage.Kind = .cgroup2
  ) -> ComparisonReport {
    var report = ComparisonReport(
      thumbjobVersion: "1", command: ["thumbjob", "compare", "my photos", "it's"], machine: .init(processors: 2),
      sources: .init(arguments: ["my photos"], count: 100, bytes: 1 << 20), max: 4,
      variants: Variant.usual, options: ["--quality=90"],
      memoryLimit: limit.map { .init(bytes: $0, kind: kind) })
    (report.runs, report.stopRuns) = (runs, runs.filter { $0.stop != nil })
    return report
  }

  private func killed(stop: StopMeasurement? = nil) -> VariantMeasurement {
    var run = VariantMeasurement(.gcdFile, .round(1))
    (run.ending, run.signal, run.seconds, run.thumbnails, run.stop) = (.killedForMemory, 9, 0.42, 7, stop)
    run.samples = [
      Sample(seconds: 0.05, rssBytes: 90 << 20, anonymousBytes: 70 << 20, threads: 4, waiting: 60, running: 2, done: 3)
    ]
    return run
  }

  @Test func aDecodedMessageEqualsTheEncodedOne() {
    var counts = VariantCounts()
    (counts.submitted, counts.waiting, counts.running, counts.done, counts.failed) = (10, 1, 2, 3, 4)
    (counts.peakWaiting, counts.peakRunning) = (5, 6)
    let messages: [VariantMessage] = [
      .counts(counts), .toldToStop(counts), .listed(operations: 20),
      .traits(VariantTraits(waitingBound: 16, held: .path, budgetBytes: 1 << 30, tellsWhy: true)),
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
    "{\"listed\":{\"operations\":1},\"ended\":{\"peakBytes\":1}}", LongText(String(repeating: "[", count: 5000)),
  ])
  func aLineThatIsNotAMessageIsSkipped(line: LongText) {
    let message = VariantMessage.listed(operations: 20)
    #expect(read(Array("\(line.text)\n".utf8) + message.line) == [message])
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
    var record = VariantRecord(.bounded, .stop, sources: 100)
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
  ///   - waiting: how many wait when it notices that.
  ///   - atStop: how many are done when it notices that; nil if it ends without noticing.
  ///   - done: how many are done in the end.
  private func told(
    _ variant: Variant, waiting: Int = 0, atStop: Int?, done: Int, _ ending: ChildProcess.Ending = .exited(0)
  ) -> VariantMeasurement {
    var record = VariantRecord(variant, .stop, sources: 10)
    var counts = VariantCounts()
    (counts.done, counts.waiting, counts.running) = (2, waiting, 2)
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
    (Variant.gcdFile, 6, 4, 10, "did not stop: continued to the end"),
    (.gcdPixels, 3, 4, 8, "took no more sources, but made all that waited"),
    (.bounded, 0, 8, 10, "had only running operations left, which succeeded"),
    (.bounded, 4, 4, 6, "cancelled all waiting and running operations"),
    (.gcdPixels, 1, 4, 6, "finished what ran; nearly nothing waited"),
    (.operationQueue, 4, 4, 6, "finished what ran, and dropped what waited"),
    (.serial, 0, 4, 5, "finished its current source and stopped"),
  ])
  func aRunThatWasToldToStopBeforeItWasDoneIsJudgedByWhatItDidThen(
    variant: Variant, waiting: Int, atStop: Int, done: Int, words: String
  ) {
    let run = told(variant, waiting: waiting, atStop: atStop, done: done)
    #expect(run.stop?.wasDoneBefore == false && run.stop?.thumbnailsMadeMeanwhile == done - atStop)
    #expect(run.stop?.waitingAtStop == waiting && run.stop?.runningAtStop == 2)
    #expect(result(run) == words)
  }

  @Test func aRunThatIsKilledAfterItWasToldToStopWasNotDoneBefore() {
    let run = told(.gcdFile, atStop: nil, done: 5, .signalled(9))
    #expect(run.stop?.wasDoneBefore == false && run.stop?.thumbnailsMadeMeanwhile == 3)
    #expect(result(run) == "ended by signal 9 after 1.0 s and 5 of 100; did not stop")
  }

  @Test func countsThatArriveAfterNewerOnesAreIgnored() {
    var (record, old, new) = (VariantRecord(.serial, .round(1), sources: 3), VariantCounts(), VariantCounts())
    (old.done, new.done, new.failed) = (2, 2, 1)
    record.receive(.counts(new), at: 0.1)
    record.receive(.counts(old), at: 0.2)
    let run = record.finish(.exited(1), at: 1, processorSeconds: 1, in: nil)
    #expect(run.failed == 1 && run.ending == .finished)
  }

  @Test func aRunThatDoesNotListIsToldToStopAfterAQuarterOfASecond() {
    var record = VariantRecord(.gcdFile, .stop, sources: 100)
    record.receive(.counts(VariantCounts()), at: 0.1)
    let signals = [0.9, 1, 1.2, 1.25].map { record.dueSignal(at: $0) }
    #expect(signals == [nil, SIGUSR1, nil, SIGUSR2])
  }

  @Test func aRunThatHasNotReportedOrIsNotToldToStopGetsNoSignal() {
    var silent = VariantRecord(.bounded, .stop, sources: 0)
    var other = VariantRecord(.bounded, .round(1), sources: 0)
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
    var bounded = VariantMeasurement(.bounded, .round(1))
    bounded.traits = VariantTraits(waitingBound: 16, held: .path, budgetBytes: 64 << 20)
    let page = ComparisonPage(report([bounded])).html
    #expect(page.contains("at most 4 running, a backlog of 16, a budget of 64 MiB"))
  }

  @Test func theHeadlineNamesWhatWasKilled() {
    let title = "Under 192 MiB, gcd-file was killed for memory after 0.42 s. bounded finished in every round."
    var bounded = VariantMeasurement(.bounded, .round(1))
    bounded.peakWaiting = 16
    #expect(report([bounded, killed()], limit: 192 << 20).headline == title)
    #expect(report([bounded]).headline == "None was killed. The most sources that waited at once: bounded 16.")
    #expect(ComparisonPage(report([bounded, killed()], limit: 192 << 20)).html.contains(title))
  }

  /// The answers of one variant, in the order of the table.
  private func answers(
    _ traits: VariantTraits?, peakWaiting: Int, _ ending: Ending = .finished, stop: StopMeasurement? = nil,
    limit: Int? = nil
  ) -> [String] {
    var run = VariantMeasurement(.operationQueue, .round(1))
    (run.traits, run.peakWaiting, run.peakAnonymousBytes, run.ending) = (traits, peakWaiting, 100 << 20, ending)
    var report = report([run], limit: limit)
    if let stop {
      var stopRun = VariantMeasurement(.operationQueue, .stop)
      (stopRun.stop, stopRun.ending) = (stop, .stopped)
      report.stopRuns = [stopRun]
    }
    return ComparisonTable.answers(report).rows.map { $0[1] }
  }

  @Test func aGuaranteeHoldsOnlyAsLongAsNoRunContradictsIt() {
    let bound = VariantTraits(waitingBound: 16, held: .path, budgetBytes: 64 << 20, tellsWhy: true)
    #expect(
      answers(bound, peakWaiting: 16) == ["yes, in bytes: 100 MiB", "yes: 16 of 16", "–", "–", "yes", "–"])
    #expect(answers(bound, peakWaiting: 17)[1] == "no: 17, and 16 meant")
    let small = VariantTraits(waitingBound: 16, held: .path, budgetBytes: 1 << 20)
    #expect(answers(small, peakWaiting: 1)[0] == "no: 100 MiB of 1 MiB")
    let alone = VariantTraits(waitingBound: 16, held: .path, budgetBytes: 1 << 20, largestBytes: 40 << 20)
    #expect(answers(alone, peakWaiting: 1)[0] == "yes, in bytes: 100 MiB")
    let killed = answers(bound, peakWaiting: 16, .killedForMemory, limit: 192 << 20)
    #expect(killed[0] == "no: killed" && killed[5] == "no: 1 round of 1 ended early")
    #expect(answers(bound, peakWaiting: 16, limit: 192 << 20)[5] == "yes")
    #expect(answers(nil, peakWaiting: 3) == ["–", "–", "–", "–", "–", "–"])
  }

  @Test func whatWaitsIsBoundedInNumberOrNotAtAll() {
    #expect(
      answers(VariantTraits(waitingBound: nil, held: .payload), peakWaiting: 900).prefix(2) == [
        "no: 100 MiB", "no: 900",
      ])
    #expect(answers(VariantTraits(waitingBound: nil, held: .path), peakWaiting: 900)[0] == "but for the paths: 100 MiB")
    #expect(answers(VariantTraits(waitingBound: 4, held: .payload), peakWaiting: 4)[0] == "by number only: 100 MiB")
    #expect(answers(VariantTraits(waitingBound: 0, held: .nothing), peakWaiting: 0)[1] == "yes: 0 of 0")
  }

  @Test func cancellingAndListingAreTried() {
    let traits = VariantTraits(waitingBound: nil, held: .payload)
    var stop = StopMeasurement()
    (stop.listSentAfterSeconds, stop.stopSentAfterSeconds, stop.secondsToEnd) = (0.5, 0.75, 2)
    (stop.waitingAtStop, stop.runningAtStop, stop.thumbnailsMadeMeanwhile) = (40, 2, 42)
    #expect(answers(traits, peakWaiting: 40, stop: stop)[2...3] == ["no", "no: 42 made in 2.0 s"])
    (stop.listedOperations, stop.answerSeconds, stop.thumbnailsMadeMeanwhile) = (42, 0.002, 3)
    #expect(answers(traits, peakWaiting: 40, stop: stop)[2...3] == ["yes: 42 in 2 ms", "yes: 3 made in 2.0 s"])
    // That what waits is dropped is shown only where something waits.
    stop.waitingAtStop = 1
    #expect(answers(traits, peakWaiting: 40, stop: stop)[3] == "– (1 waited)")
  }

  @Test func theRunsOverTheSizeHaveChartsAndATable() {
    var report = report([killed()], limit: 192 << 20)
    #expect(!ComparisonPage(report).html.contains("Over the size"))
    for size in ["512", "1024<"] {
      for variant in Variant.usual {
        var run = VariantMeasurement(variant, .size(size))
        (run.peakWaiting, run.peakAnonymousBytes, run.seconds) = (size == "512" ? 3 : 700, 5 << 20, 2)
        if variant == .gcdFile, size != "512" { run.ending = .killedForMemory }
        report.sizeRuns.append(run)
      }
    }
    #expect(report.sizes == ["512", "1024<"])
    let rows = ComparisonTable.sizes(report).rows
    #expect(rows[0] == ["512"] + Array(repeating: "3 waiting, 5 MiB, in 2.0 s", count: 3))
    #expect(rows[1][2] == "700 waiting, 5 MiB, killed for memory")
    let page = ComparisonPage(report).html
    #expect(page.contains("Over the size") && page.contains(">1024&lt;</text>"))
    // In each of the two charts, five runs have a dot, and the sixth a cross.
    #expect(page.ranges(of: "<circle").count == 10)
    #expect(page.ranges(of: "<path class=\"cross gcd-file\"").count == 3 + 2)
  }

  @Test(arguments: Variant.allCases) func thePageShowsTheCodeThatIsCompiled(variant: Variant) throws {
    let (file, text) = variant.code
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    #expect(try text == String(contentsOf: root.appending(path: file), encoding: .utf8))
    var run = VariantMeasurement(variant, .round(1))
    run.thumbnails = 100
    var report = ComparisonReport(
      thumbjobVersion: "1", command: [], machine: .init(processors: 2),
      sources: .init(arguments: [], count: 100, bytes: 1), max: 4, variants: [variant], options: [], memoryLimit: nil)
    report.runs = [run]
    let page = ComparisonPage(report).html
    #expect(page.contains("<summary><strong>\(variant.rawValue)</strong>: ") && page.contains(">\(file)</p>"))
  }

  @Test func theProducerIsDoneOnceItHasHandedOnAllSources() {
    var record = VariantRecord(.gcdPath, .round(1), sources: 3)
    var counts = VariantCounts()
    for (submitted, moment) in [(2, 0.1), (3, 0.2), (3, 0.3)] {
      (counts.submitted, counts.waiting) = (submitted, submitted)
      record.receive(.counts(counts), at: moment)
    }
    #expect(record.finish(.exited(0), at: 1, processorSeconds: 1, in: nil).producerSeconds == 0.2)
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
    var (bounded, stop) = (VariantMeasurement(.bounded, .stop), StopMeasurement())
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
