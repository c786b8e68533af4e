import ArgumentParser
import Comparison
import Files
import Foundation
import ThumbnailJobs

/// `thumbjob compare`: its options. `CompareSession` does the work.
struct CompareCommand: ParsableCommand, SignalHandlingCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract:
      "Makes the same thumbnails with the bounded queue, with naive GCD and serially, and shows what each takes.",
    usage: "thumbjob compare <source> ... [options]",
    discussion: """
      In each round, every variant processes all sources in a process of its own, one variant after the other, and each \
      round begins with another variant. Then each runs once more and is told to stop before it is done. The figures go to \
      standard output; a page with charts (compare.html) and all samples (compare.json) go to the folder. The thumbnails \
      are removed again. thumbjob status does not list a comparison; kill -USR1 PID prints its progress. --max holds \
      for the bounded queue; nothing limits naive GCD, and the serial loop runs one. On Linux only.
      """)

  @Argument(
    help: ArgumentHelp(
      "A folder (with all below it), a file, or - for paths on standard input, a line each.", valueName: "source"),
    completion: .file(extensions: SourceOptions.extensions))
  var sources: [String] = []

  @OptionGroup var maximum: MaxOption

  @Option(
    help: ArgumentHelp(
      "Rounds, 1 to 100. Several rounds show which differences in time are more than chance. (default: "
        + "\(Rounds.usual) if the first takes at most \(Rounds.longestShortSeconds) seconds, otherwise 1)",
      valueName: "n"))
  var rounds: Int?

  @Option(
    help: ArgumentHelp(
      "Memory that each process may use: 192M, 1G. Enforced by a memory cgroup, which needs root or a writable cgroup; "
        + "where none can be created, by a limit on address space. (default: no limit)", valueName: "size"))
  var memoryLimit: String?

  @Option(
    help: ArgumentHelp(
      "What the naive variant captures in its blocks: read (the file) or render (its pixels, at the scale that the "
        + "thumbnail needs; little piles up then, because decoding is nearly all of the work and only the producer "
        + "decodes). (default: read)",
      valueName: "what"))
  var naive: NaivePayload?

  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("out")],
    help: ArgumentHelp("The folder for compare.html and compare.json. (default: ./compare)", valueName: "folder"),
    completion: .directory)
  var out: String?

  func run() throws { throw CompareSession(try settings()).run() }

  private func settings() throws(TextError) -> CompareSettings {
    let paths = sources.flatMap { CommandWords.paths(of: $0) }
    if paths.isEmpty { throw TextError("no source given: name a folder, such as thumbjob compare ./images") }
    if let jobFile = paths.first(where: { JobFile.isName($0) }) {
      throw TextError("\(jobFile.printable) is a job file; compare takes folders and files")
    }
    var settings = CompareSettings(sources: paths)
    if let max = try maximum.checked() { settings.max = max }
    if let rounds { settings.rounds = try rounds.checked(1...100, for: "--rounds") }
    if let memoryLimit {
      guard case .bytes(let bytes)? = try? MemorySize(parsing: memoryLimit, for: "--memory-limit") else {
        let shown = CommandWords.path(of: memoryLimit).printable
        throw TextError("--memory-limit: “\(shown)” is not an amount of memory; write 192M or 1G (at least 1M)")
      }
      settings.memoryLimit = bytes
    }
    if let naive { settings.naive = naive }
    if let out { settings.out = CommandWords.path(of: out) }
    if settings.out.isURL { throw TextError("--out: \(settings.out.printable) is a URL; name a folder") }
    return settings
  }
}

extension NaivePayload: ExpressibleByArgument {}
extension Variant: ExpressibleByArgument {}

/// The settings of a comparison.
struct CompareSettings {
  var sources: [Path]
  var max = ProcessorCount.usable()
  /// Nil for as many as suit the duration of the first.
  var rounds: Int?
  /// In bytes; nil for none.
  var memoryLimit: Int?
  var naive = NaivePayload.read
  var out: Path = "compare"
}
