import Files
import Foundation
import Jobs
import Thumbnails

// The job's events: JSON lines on standard output, messages on standard error, updates for the status endpoint.
extension RunSession {
  /// The most cancelled operations to name without `-v`.
  private static let namedCancelled = 5

  func handle(_ event: JobEvent) {
    switch event {
    case .source(let report):
      let line = SourceLine(report, isDryRun: settings.job.dryRun)
      if let result = report.line { write(MergedLine(line, result.fields)) } else { write(line) }
      printResult(report)
    case .watching(let reports):
      if let text = PressureText.text(reports, isVerbose: settings.verbose), !settings.quiet {
        messages.print(StyledText(text))
      }
    case .pressure(let note):
      open.withLock { $0 }?.endpoints?.handle(note)
      write(PressureLine(note))
      if !settings.quiet {
        let namesLimit = settings.verbose ? .max : Self.namedCancelled
        messages.print(PressureText.text(note, namesLimit: namesLimit))
      }
    case .watch(let note): handle(note)
    case .removal(let path, let result): handleRemoval(path, result)
    case .join(let report):
      write(JoinLine(report))
      printJoin(report)
    case .stopping:
      limitWrites()
      open.withLock { $0 }?.endpoints?.handleStop()
    case .postponed(let source):
      messages.printLine(
        "thumbjob: \(source.path.printable): was under way when an earlier run died; it is tried last, alone", .warning)
    case .noDecoder(let obstacle):
      messages.print(StyledText("thumbjob: \(Advice.warning(of: obstacle, settings.job.isolate))", .warning))
    case .fence(let shortfall):
      if !settings.quiet { messages.print(StyledText("thumbjob: \(shortfall)", .warning)) }
    case .ledger(let error):
      if !settings.quiet {
        messages.print(StyledText("thumbjob: ledger \(error); the run goes on without it", .warning))
      }
    case .otherRun(let run, let output):
      write(OtherRunLine(run, output, isAwaited: settings.job.waits))
      if !settings.quiet {
        let way = settings.job.waits ? "this run waits until it has ended" : "--wait waits until it has ended"
        messages.printLine(
          "thumbjob: \(output.printable): also in use by \(run.description); \(way)", .warning)
      }
    case .walkError(let error):
      write(WalkErrorLine(error))
      messages.printLine("thumbjob: \(Advice.line(error))", .failure)
    }
  }

  private func printJoin(_ report: JoinReport) {
    let name = "thumbjob: \(report.kind.rawValue)"
    switch report.result {
    case .failed(let error): messages.printLine("\(name): \(Advice.line(error))", .failure)
    case .withheld:
      messages.printLine("\(name) \(report.path.printable): not made, because \(report.whyWithheld)", .warning)
    case .made, .unchanged, .notMade: break
    }
    for text in report.warnings {
      messages.printLine("\(name) \(report.path.printable): \(text)", .warning)
    }
  }

  func write(_ line: @autoclosure () -> some Encodable) {
    if settings.json, !output.write(line()) { stopForLostOutput() }
  }

  func stopForLostOutput() {
    open.withLock { $0 }?.job.stop(.outputLost)
  }

  private func printResult(_ report: SourceReport) {
    var name: String { report.source.path.printable }
    switch report.result {
    case .made where !settings.job.kind.words.areFiles: printLine(report, name)
    case .made:
      if settings.verbose || settings.job.dryRun { printThumbnails(report, name) }
      if let shortfall = report.shortfall { messages.printLine("thumbjob: \(name): \(shortfall)", .warning) }
    case .failed(let failure) where failure.isEarlier && settings.job.knownFailures == .ok && !settings.verbose: break
    case .failed(let failure): messages.printLine("thumbjob: \(name): \(Advice.line(failure))", .failure)
    case .unsupported(let type): _ = printFirst(.unsupportedType(type), name)
    case .cancelled(.pressure) where settings.job.onPressure == .requeue:
      messages.printLine("thumbjob: \(name): cancelled by memory pressure; left for another run", .warning)
    case .cancelled(.user) where open.withLock({ $0?.job.isStopping }) == false:
      messages.printLine("thumbjob: \(name): cancelled by the user", .warning)
    case .cancelled(let reason):
      // The whole job is cancelled, and the summary counts them.
      if settings.verbose { messages.printLine("\(name): cancelled \(reason)") }
    case .notImage(let format?) where format.isDrawing && printFirst(.otherFormat(format), name): break
    case .notImage(let format):
      if settings.verbose {
        messages.printLine("\(name): \(format.map { "\(ThumbnailError.otherFormat($0))" } ?? "not an image")")
      }
    case .thumbnail:
      if settings.verbose || report.source.origin == .argument {
        messages.printLine("thumbjob: \(name): is a thumbnail that thumbjob has made; passed over", .warning)
      }
    case .gone: if settings.verbose { messages.printLine("\(name): removed before its thumbnails were made") }
    case .duplicate(let first):
      if settings.verbose { messages.printLine("\(name): the same file as \(first.printable)") }
    }
  }

  /// Says why a picture is passed over, if it is the first one for this reason. Returns whether it is.
  private func printFirst(_ reason: ThumbnailError, _ name: String) -> Bool {
    guard named.withLock({ $0.insert(reason).inserted }), !settings.quiet else { return false }
    let line = Advice.line(reason, consequence: "it and any others are passed over")
    messages.printLine("thumbjob: \(name): \(line)", .warning)
    return true
  }

  private func printThumbnails(_ report: SourceReport, _ name: String) {
    for thumbnail in report.thumbnails {
      let line = "\(name) → \(thumbnail.path.printable) \(thumbnail.pixels)"
      if settings.job.dryRun && !settings.json {
        if !output.write(plain: line) { stopForLostOutput() }
      } else if settings.verbose {
        messages.printLine(line)
      }
    }
    if settings.verbose { for warning in report.warnings { messages.printLine("\(name): \(warning)") } }
  }
}
