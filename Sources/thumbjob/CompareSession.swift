import ArgumentParser
import Comparison
import Foundation
import Locking
import ThumbnailJobs

/// One comparison with everything around it that a command needs: console, processes, signals, exit status.
///
/// *Concurrency*: ``run()`` is called once, on the main thread. Signals are answered from a thread of their own.
final class CompareSession: Sendable {
  private struct State {
    /// The variant under way.
    var run: VariantRun?
    /// Where it all stands, in words.
    var standing = "reading the sources"
    /// The signal that ends the comparison.
    var ending: CInt?
  }

  /// Why there is no comparison.
  private struct Refusal: Error {
    let text: String?
    let code: ExitCode

    init(_ text: String?, _ code: ExitCode) { (self.text, self.code) = (text, code) }
    init(_ text: String, _ status: ExitStatus) { self.init(text, status.code) }

    init(_ problem: CompareFolder.Problem) {
      self.init(problem.text, problem.isOutOfRoom ? .ioError : .cannotCreateOutput)
    }
  }

  private let settings: CompareSettings
  private let console = Console()
  private let state = Locked(State())

  init(_ settings: CompareSettings) { self.settings = settings }

  func run() -> ExitCode {
    do throws(Refusal) {
      if let problem = ProcessLimits.problem(max: settings.max) { throw Refusal(problem, .systemLimit) }
      let folder: CompareFolder
      do { folder = try CompareFolder(settings.out) } catch { throw Refusal(error) }
      defer { folder.clear() }
      SignalListener.listen { [self] signal in answer(signal) }
      let report = try compare(in: folder)
      try publish(report, in: folder)
      return (report.isBoundedComplete ? ExitStatus.success : .someFailed).code
    } catch {
      console.setBottom("")
      if let text = error.text { console.say("thumbjob: \(text)") }
      return error.code
    }
  }

  // MARK: Comparing

  private func compare(in folder: CompareFolder) throws(Refusal) -> ComparisonReport {
    let sources = try survey(folder)
    let limit = settings.memoryLimit.map { bytes in
      let cage = cage(bytes, "probe")
      defer { cage.remove() }
      return ComparisonReport.Limit(bytes: bytes, kind: cage.kind)
    }
    var report = ComparisonReport(
      thumbjobVersion: Thumbjob.configuration.version, command: ["thumbjob"] + CommandWords.forPeople,
      machine: .init(processors: ProcessorCount.usable()), sources: sources, max: settings.max,
      naivePayload: settings.naive, memoryLimit: limit)
    for variant in Variant.allCases {
      report.runs.append(try measure(variant, of: sources.count, isToldToStop: false, in: folder))
    }
    for variant in Variant.allCases {
      report.stopRuns.append(try measure(variant, of: sources.count, isToldToStop: true, in: folder))
    }
    return report
  }

  private func survey(_ folder: CompareFolder) throws(Refusal) -> ComparisonReport.Sources {
    var missing: [WalkProblem] = []
    let survey: SourceSurvey
    do {
      survey = try SourceSurvey(
        of: settings.sources.map { SourceArgument($0) }, outputs: [settings.out], writingTo: folder.list,
        shouldStop: { self.state.withLock { $0.ending != nil } },
        onProblem: { problem in
          console.say("thumbjob: \(problem)")
          if problem.kind == .missingArgument { missing.append(problem) }
        })
    } catch {
      throw Refusal("cannot write the list of sources: \(error)", .ioError)
    }
    try throwIfEnding()
    if !missing.isEmpty { throw Refusal(nil, ExitStatus.noSuchSource.code) }
    if survey.count == 0 { throw Refusal("there is no JPEG file among the sources", .noSuchSource) }
    console.say("thumbjob: \(Units.count(survey.count, "source")), \(Units.bytes(survey.bytes)), read once")
    return .init(arguments: settings.sources.map(\.printable), count: survey.count, bytes: survey.bytes)
  }

  private func measure(
    _ variant: Variant, of sources: Int, isToldToStop: Bool, in folder: CompareFolder
  ) throws(Refusal) -> VariantMeasurement {
    let name = isToldToStop ? "\(variant.rawValue)-stop" : variant.rawValue
    let out = "\(folder.working)/\(name)"
    defer { try? FileManager.default.removeItem(atPath: out) }
    let cage = settings.memoryLimit.map { self.cage($0, name) }
    defer { cage?.remove() }
    var arguments = [VariantCommand.name, variant.rawValue, "--out=\(out)", "--within=\(folder.working)"]
    arguments += ["--max", "\(settings.max)", "--naive", settings.naive.rawValue]
    if let group = cage?.folder {
      arguments.append("--group=\(group)")
    } else if let bytes = settings.memoryLimit {
      arguments.append("--address-space=\(bytes)")
    }
    do {
      let run = try VariantRun(
        variant, arguments: arguments, list: folder.list, sources: sources, isToldToStop: isToldToStop)
      state.withLock { $0.run = run }
      // One that came before this run was known has killed nothing.
      if state.withLock({ $0.ending }) != nil { run.end() }
      defer { state.withLock { $0.run = nil } }
      let measurement = try run.measure(in: cage) { tell($0, of: variant, sources, isToldToStop) }
      try throwIfEnding()
      console.setBottom("")
      console.say("thumbjob: \(variant.displayName)\(isToldToStop ? ", told to stop" : ""): \(measurement.summary)")
      return measurement
    } catch let problem as VariantRun.Problem {
      try throwIfEnding()
      switch problem {
      case .cannotStart(let text): throw Refusal(text, .systemLimit)
      case .cannotBegin(let text, let status): throw Refusal("\(variant.displayName): \(text)", ExitCode(Int32(status)))
      }
    } catch {
      throw error as? Refusal ?? Refusal("\(error)", .systemLimit)
    }
  }

  private func cage(_ bytes: Int, _ name: String) -> MemoryCage {
    MemoryCage(bytes: bytes, name: "thumbjob-compare-\(getpid())-\(name)")
  }

  // MARK: Telling

  private func tell(_ sample: Sample, of variant: Variant, _ sources: Int, _ isToldToStop: Bool) {
    let text =
      "round \(isToldToStop ? 2 : 1) of 2, \(variant.displayName): \(sample.done) of \(sources) done, "
      + "\(sample.running) running, \(sample.waiting) waiting, \(Units.memory(sample.rssBytes)) held, "
      + Units.time(.seconds(sample.seconds))
    state.withLock { $0.standing = text }
    if console.isTerminal { console.setBottom(text) }
  }

  private func publish(_ report: ComparisonReport, in folder: CompareFolder) throws(Refusal) {
    do {
      try folder.publish(.page, ComparisonPage(report).html)
      try folder.publish(.samples, report.json)
    } catch {
      throw Refusal(error)
    }
    let tables = [ComparisonTable.runs(report), ComparisonTable.stops(report)].map { table in
      Columns.text([table.head.map { $0.uppercased() }] + table.rows, right: table.numbers)
    }
    do {
      try StandardStream.put(tables.joined(separator: "\n"))
    } catch {
      throw Refusal(nil, error)
    }
    console.say("thumbjob: charts in \(folder.path.appending(Path(CompareFolder.Result.page.rawValue)).printable)")
  }

  // MARK: Signals

  private func answer(_ signal: CInt) {
    if signal == SIGUSR1 { return console.say("thumbjob: \(state.withLock { $0.standing })") }
    let run = state.withLock { state in
      state.ending = state.ending ?? signal
      return state.run
    }
    run?.end()
  }

  private func throwIfEnding() throws(Refusal) {
    guard let signal = state.withLock({ $0.ending }) else { return }
    let name = [SIGINT: "INT", SIGTERM: "TERM", SIGHUP: "HUP"][signal] ?? "USR2"
    let isEnd = signal == SIGINT || signal == SIGTERM
    throw Refusal("stopped by \(name); nothing is kept", isEnd ? ExitCode(128 + signal) : ExitStatus.workRemains.code)
  }
}
