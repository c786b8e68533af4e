import ArgumentParser
import Comparison
import Files
import Foundation
import JobSettings
import Jobs
import Locking
import Sourcing

/// One comparison, with everything that a command needs: console, processes, signals, exit status.
///
/// From the outside in: a ``SourceSurvey`` writes the list of sources and warms the page cache. Then, in several rounds
/// (``Rounds``), the session starts this program again for each variant (``VariantRun``, ``ChildProcess``), in a
/// ``MemoryCage`` if there is a limit, and at the end once more to stop it.
///
/// In such a process, ``VariantSession`` reads the list from standard input. It runs a ``Job`` as `run` does, or gives
/// a ``BaselineWork``, the same work in two steps, to a `Baseline`, such as `GlobalQueue` or `TaskGroupOfItems`.
/// `CountedWork` counts around the steps, so that a baseline's code is as short as in a program; the page shows it,
/// through links in `Sources/Comparison/Code`. A ``VariantReporter`` writes the progress to standard output as
/// ``VariantMessage``s, one JSON object on each line. A variant whose messages have no reader any more cleans up and
/// ends.
///
/// Samples and messages are collected outside the process of the variant, in a ``VariantRecord``, so nothing is lost
/// when that process is killed. A ``VariantSummary`` is one variant over all rounds, and a ``BoundRatio`` answers
/// whether the bounded queue is slower. ``VariantTraits`` says what a variant is built to guarantee, and
/// ``VariantAnswers`` whether its runs confirm that. ``ComparisonReport`` is the JSON, ``ComparisonTable`` the text of
/// terminal and page, ``ComparisonPage`` the page, and ``CompareFolder`` the place for all of them.
///
/// *Concurrency*: ``run()`` is called once, on the main thread. Signals are handled on a thread of their own.
final class CompareSession: Sendable {
  private struct State {
    /// The current run.
    var run: VariantRun?
    /// How many runs have begun.
    var runs = 0
    /// The progress, in words.
    var progress = "reading the sources"
    /// The first signal that ends the comparison.
    var endingSignal: CInt?
    /// Sources whose failure is printed. They fail in every variant, and are printed once.
    var failedSources: Set<String> = []
  }

  /// The purpose of a run.
  private enum Purpose {
    /// A round, whose number counts from 1. Nil while the number of rounds is not yet known.
    case round(Int, of: Int?)
    /// A size of the thumbnails.
    case size(String)
    /// The run is told to stop.
    case stop

    /// The purpose as the measurement has it.
    var run: RunPurpose {
      switch self {
      case .round(let number, _): .round(number)
      case .size(let size): .size(size)
      case .stop: .stop
      }
    }

    /// The words that follow a variant's name.
    var text: String {
      switch self {
      case .round(let number, let all): "round \(number)" + (all.map { " of \($0)" } ?? "")
      case .size(let size): "at size \(size)"
      case .stop: "to be told to stop"
      }
    }
  }

  /// The comparison ends without a result.
  private struct CompareError: Error {
    /// The line to print; nil if the reason is already printed.
    let text: String?
    let code: ExitCode

    init(_ text: String?, _ code: ExitCode) { (self.text, self.code) = (text, code) }
    init(_ text: String, _ status: ExitStatus) { self.init(text, status.code) }

    init(_ error: CompareFolderError) {
      self.init(error.description, error.isOutOfSpace ? .ioError : .cannotCreateOutput)
    }
  }

  private let settings: CompareSettings
  private let console = Console()
  /// How long printing the tables may block once a signal has ended the comparison.
  private let deadline = WriteDeadline(.seconds(2))
  /// Prints the progress asynchronously: a blocked standard error must not delay the handling of the next signal.
  private let printing = SerialThread(name: "replies")
  private let state = Locked(State())

  init(_ settings: CompareSettings) { self.settings = settings }

  func run() -> ExitCode {
    do throws(CompareError) {
      if let problem = ProcessLimits.problem(max: settings.max) { throw CompareError(problem, .systemLimit) }
      let folder: CompareFolder
      do { folder = try CompareFolder(settings.out) } catch { throw CompareError(error) }
      defer { folder.clear() }
      guard SignalListener.listen({ [self] signal in handle(signal) }) else {
        throw CompareError(ProcessLimits.noThread, .systemLimit)
      }
      let report = try compare(in: folder)
      try publish(report, in: folder)
      return (report.isBoundedComplete ? ExitStatus.success : .someFailed).code
    } catch {
      console.setBottom("")
      if let text = error.text { console.print("thumbjob: \(text)") }
      return error.code
    }
  }

  // MARK: Comparing

  private func compare(in folder: CompareFolder) throws(CompareError) -> ComparisonReport {
    if let bytes = settings.memoryLimit, bytes < MemoryCage.leastBytes {
      let least = ByteCount.memory(MemoryCage.leastBytes)
      throw CompareError(
        "--memory-limit \(ByteCount.memory(bytes)) is too little for the program itself, which holds \(least)",
        .systemLimit)
    }
    for kind in [MemoryCage.Kind.cgroup1, .cgroup2] { MemoryCage.sweep(kind, Self.cagePrefix) }
    let sources = try survey(folder)
    let limit = settings.memoryLimit.map { bytes in
      ComparisonReport.Limit(bytes: bytes, kind: MemoryCage.usableKind(bytes: bytes, name: cageName("probe")))
    }
    if let limit, limit.kind == .addressSpace {
      console.print(
        "thumbjob: no memory cgroup can be created here, so --memory-limit limits address space: "
          + "\(ByteCount.memory(limit.bytes)) in addition to that mapped at the program's start and to its threads' stacks"
      )
    }
    var report = ComparisonReport(
      thumbjobVersion: Version.current, command: ["thumbjob"] + CommandWords.forPeople,
      machine: .init(processors: ProcessorCount.usable()), sources: sources, max: settings.max,
      variants: settings.variants, options: settings.encoding, memoryLimit: limit)
    report.runs = try measureRounds(of: sources.count, under: limit, in: folder)
    for variant in settings.variants {
      report.stopRuns.append(try measure(variant, .stop, of: sources.count, under: limit, in: folder))
    }
    for size in settings.overSizes {
      for variant in settings.variants {
        report.sizeRuns.append(try measure(variant, .size(size), of: sources.count, under: limit, in: folder))
      }
    }
    return report
  }

  private func measureRounds(
    of sources: Int, under limit: ComparisonReport.Limit?, in folder: CompareFolder
  ) throws(CompareError) -> [VariantMeasurement] {
    let start = ContinuousClock.now
    var runs: [VariantMeasurement] = []
    func measureRound(_ round: Int, of rounds: Int?) throws(CompareError) {
      for variant in Rounds.order(of: settings.variants, in: round) {
        let run = try measure(variant, .round(round, of: rounds), of: sources, under: limit, in: folder)
        if let limit, round == 1, variant == .bounded, run.ranOutOfMemoryAtOnce {
          throw CompareError(
            "--memory-limit \(ByteCount.memory(limit.bytes)) is too little: bounded ran out of memory before it reported "
              + "a thumbnail", .systemLimit)
        }
        runs.append(run)
      }
    }
    try measureRound(1, of: settings.rounds)
    let rounds = settings.rounds ?? numberOfRounds(afterFirst: .now - start)
    for round in stride(from: 2, through: rounds, by: 1) { try measureRound(round, of: rounds) }
    return runs
  }

  /// Chooses the number of rounds, and prints why.
  private func numberOfRounds(afterFirst duration: Duration) -> Int {
    let count = Rounds.count(first: duration)
    let consequence =
      count == 1
      ? "it is the only one; --rounds \(Rounds.usual) shows which differences are more than chance"
      : "\(count - 1) more follow"
    console.print("thumbjob: the first round took \(Units.time(duration)), so \(consequence)")
    return count
  }

  private func survey(_ folder: CompareFolder) throws(CompareError) -> ComparisonReport.Sources {
    var missing: [WalkError] = []
    var sources: [SourceArgument] = []
    for word in settings.sources {
      do throws(TextError) {
        sources.append(try SourceArgument(local: word, way: "compare measures files; name a folder"))
      } catch {
        throw CompareError("\(error)", .usage)
      }
    }
    let survey: SourceSurvey
    do {
      survey = try SourceSurvey(
        of: sources, outputs: [settings.out], writingTo: folder.list,
        shouldStop: { self.state.withLock { $0.endingSignal != nil } },
        onError: { error in
          // compare has no option for NUL-separated lists.
          console.print("thumbjob: \(error.kind == .nulInEntry ? "\(error)" : Advice.line(error))")
          if error.kind == .missingArgument { missing.append(error) }
        },
        onUnreadable: { console.print("thumbjob: \($0.printable): \($1); left out") })
    } catch {
      throw CompareError("cannot write the list of sources: \(error)", .ioError)
    }
    try throwIfEnding()
    if !missing.isEmpty { throw CompareError(nil, ExitStatus.noSuchSource.code) }
    if survey.count == 0 { throw CompareError("there is no JPEG file among the sources", .noSuchSource) }
    console.print("thumbjob: \(Units.count(survey.count, "source")), \(ByteCount.file(survey.bytes)), read once")
    return .init(arguments: settings.sources.map(\.printable), count: survey.count, bytes: survey.bytes)
  }

  private func measure(
    _ variant: Variant, _ purpose: Purpose, of sources: Int, under limit: ComparisonReport.Limit?,
    in folder: CompareFolder
  ) throws(CompareError) -> VariantMeasurement {
    let name = "\(variant.rawValue)-\(numberOfRun())"
    let out = folder.working.appending(Path(name))
    defer { OpenFolder.remove(out) }
    var cage: MemoryCage?
    do throws(MemoryCageError) {
      cage = try limit.map { limit throws(MemoryCageError) in
        try MemoryCage(limit.kind, bytes: limit.bytes, name: cageName(name))
      }
    } catch {
      throw CompareError("\(error)", .systemLimit)
    }
    defer { cage?.remove() }
    var words = [VariantCommand.name, variant.rawValue, "--max", "\(settings.max)"] + settings.encoding
    if case .size(let size) = purpose {
      words.removeAll { $0.hasPrefix("--size=") }
      words.append("--size=\(size)")
    }
    if let group = cage?.folder {
      words.append("--group=\(group)")
    } else if let limit {
      words.append("--address-space=\(limit.bytes)")
    }
    let paths = [("--out=", out), ("--within=", folder.working)].map { Array($0.utf8) + $1.bytes }
    let shown = "\(variant.rawValue), \(purpose.text)"
    if !console.isTerminal { console.print("thumbjob: \(shown): begins") }
    do {
      let run = try VariantRun(
        variant, purpose.run, arguments: words.map { Array($0.utf8) } + paths, list: folder.list,
        sources: sources)
      state.withLock { $0.run = run }
      // A signal that arrived before `state.run` was set has killed nothing.
      if state.withLock({ $0.endingSignal }) != nil { run.kill() }
      defer { state.withLock { $0.run = nil } }
      let measurement = try run.measure(in: cage) { show($0, shown, of: sources) }
      try throwIfEnding()
      console.setBottom("")
      console.print("thumbjob: \(shown): \(measurement.summary)")
      printFailures(of: measurement)
      return measurement
    } catch let error as VariantRunError {
      try throwIfEnding()
      switch error {
      case .system(let text): throw CompareError(text, .systemLimit)
      case .gaveUp(let text, let status): throw CompareError("\(variant.rawValue): \(text)", ExitCode(Int32(status)))
      }
    } catch {
      throw error as? CompareError ?? CompareError("\(error)", .systemLimit)
    }
  }

  /// The number of the next run, from 1: its folder and its cgroup are named after it.
  private func numberOfRun() -> Int {
    state.withLock { state in
      state.runs += 1
      return state.runs
    }
  }

  private static let cagePrefix = "thumbjob-compare-"

  private func cageName(_ name: String) -> String { "\(Self.cagePrefix)\(getpid())-\(name)" }

  // MARK: Printing

  private func printFailures(of measurement: VariantMeasurement) {
    let isFirst = state.withLock { $0.failedSources.isEmpty }
    for failure in measurement.failures where state.withLock({ $0.failedSources.insert(failure.source).inserted }) {
      console.print("thumbjob: \(failure.source): \(failure.error)")
    }
    let rest = measurement.failed - measurement.failures.count
    if isFirst, rest > 0 { console.print("thumbjob: \(Units.count(rest, "more source")) failed") }
  }

  private func show(_ sample: Sample, _ run: String, of sources: Int) {
    let text =
      "\(run): \(sample.done) of \(sources) done, \(sample.waiting) waiting, "
      + "\(ByteCount.whole(sample.anonymousBytes)) held, \(Units.time(.seconds(sample.seconds)))"
    state.withLock { $0.progress = text }
    if console.isTerminal { console.setBottom(text) }
  }

  private func publish(_ report: ComparisonReport, in folder: CompareFolder) throws(CompareError) {
    do {
      try folder.publish(.page, ComparisonPage(report).html)
      try folder.publish(.samples, report.json)
    } catch {
      throw CompareError(error)
    }
    func text(_ table: ComparisonTable) -> [String] { table.parts.map { Columns.text($0.narrowRows) } }
    var parts = [ComparisonTable.narrow(report.headline)] + text(.rounds(report))
    parts += [ComparisonTable.narrow(report.answer)] + text(.answers(report)) + text(.stops(report))
    if !report.sizeRuns.isEmpty { parts += text(.sizes(report)) }
    do {
      try StandardStream.put(parts.joined(separator: "\n"), deadline: deadline)
    } catch {
      throw CompareError(nil, error)
    }
    console.print("thumbjob: charts in \(folder.path.appending(CompareFolder.Result.page.name).printable)")
  }

  // MARK: Signals

  private func handle(_ signal: CInt) {
    if signal == SIGUSR1 {
      return printing.async { [self] in console.print("thumbjob: \(state.withLock { $0.progress })") }
    }
    console.deadline.begin()
    deadline.begin()
    let run = state.withLock { state in
      state.endingSignal = state.endingSignal ?? signal
      return state.run
    }
    run?.kill()
  }

  private func throwIfEnding() throws(CompareError) {
    guard let signal = state.withLock({ $0.endingSignal }) else { return }
    let name = [SIGINT: "INT", SIGTERM: "TERM", SIGHUP: "HUP"][signal] ?? "USR2"
    let isEnd = signal == SIGINT || signal == SIGTERM
    throw CompareError(
      "stopped by \(name); nothing is kept", isEnd ? ExitCode(128 + signal) : ExitStatus.workRemains.code)
  }
}
