import AccessRecording
import ArgumentParser
import Files
import Foundation
import JobSettings
import Ledger
import TraceRecording

/// `thumbjob report`: what the ledgers of output folders remember, or what a trace shows.
struct ReportCommand: Subcommand {
  static let name = "report"
  static let handlesSignals = false
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Shows what runs have made and what failed, from the ledgers of output folders.",
    usage: """
      thumbjob report [<out> ...] [options]
      thumbjob report --threads <file>
      """)

  @Argument(help: ArgumentHelp("The output folders. (default: ./thumbs)", valueName: "out"), completion: .directory)
  var outs: [String] = []

  @Flag(help: "Print each source that failed, is suspect or is missing, with the reason.") var failed = false

  @Option(
    help: ArgumentHelp(
      "Only what happened since a day (2026-11-20), or in a duration (36h) until now.", valueName: "when"))
  var since: String?

  @Option(
    help: ArgumentHelp(
      "Also count the photos of a folder that no ledger has; repeatable. It may be a folder of lists by thumbjob split.",
      valueName: "folder"),
    completion: .directory)
  var sources: [String] = []

  @Flag(help: "Print only the folders with sources that failed or are suspect, and nothing if there are none.")
  var quiet = false

  @Flag(help: "Print a JSON line for each source; with --failed only for those without thumbnails.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Make a gallery of all thumbnails, with the sources that have none; a page that a browser opens from disk.",
      valueName: "folder"),
    completion: .directory)
  var html: String?

  @Flag(
    help:
      "Copy the thumbnails into the folder of the gallery, as run --html-standalone does; without sources that have none."
  )
  var htmlStandalone = false

  @Option(
    help: ArgumentHelp(
      "Print which methods ran on which threads, from a trace that run --trace has written. Data that a method on "
        + "several threads uses is shared.", valueName: "file"),
    completion: .file())
  var threads: String?

  func run() throws {
    if let threads {
      guard outs.isEmpty, !failed, !quiet, since == nil, !json, html == nil, !htmlStandalone, sources.isEmpty else {
        throw TextError("--threads reads a trace, and goes with no other option and no folder")
      }
      return try printThreads(threads)
    }
    try BuildTrait.ledger.require(if: true)
    if let bucket = outs.map({ CommandWords.path(of: $0) }).first(where: \.isURL) {
      throw TextError("\(bucket.printable): only folders of thumbnails have a ledger to report on")
    }
    let outputs = outs.isEmpty ? ["thumbs"] : outs.map { CommandWords.path(of: $0) }
    var joins = JoinSettings()
    (joins.gallery, joins.isGalleryStandalone) = (html.map { CommandWords.path(of: $0) }, htmlStandalone)
    try joins.validateStandalone(besides: outputs)
    let session = ReportSession(
      outputs: outputs,
      since: try since.map { try Moment.parse($0, for: "--since") } ?? 0,
      sources: sources.map { CommandWords.path(of: $0) }, joins: joins,
      style: json ? .json(failedOnly: failed) : failed ? .failed : .table, isQuiet: quiet)
    try session.run()
  }

  private func printThreads(_ file: String) throws {
    do {
      try StandardStream.put(ThreadTable.text(try ThreadReport(path: file)))
    } catch let error as TraceError {
      Console().print("thumbjob: \(error)")
      throw ExitStatus.noSuchSource.code
    } catch let error as NotATraceError {
      Console().print("thumbjob: \(error); thumbjob SOURCE --trace FILE writes one")
      throw ExitStatus.jobFileInvalid.code
    }
  }
}
