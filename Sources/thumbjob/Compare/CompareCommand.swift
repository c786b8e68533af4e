import ArgumentParser
import Comparison
import Files
import Foundation
import JobSettings
import Sourcing
import Thumbnails

/// `thumbjob compare`: its options. `CompareSession` does the work.
struct CompareCommand: Subcommand {
  static let name = "compare"
  static let handlesSignals = true
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract:
      "Makes the same thumbnails with the bounded queue and in other ways that programs use, and shows what each takes.",
    usage: "thumbjob compare <source> ... [options]",
    discussion: """
      In each round, every variant processes all sources in a process of its own, one variant after the other, and each \
      round begins with another variant. Then each runs once more and is told to stop before it is done. The figures go to \
      standard output; a page with charts (compare.html) and all samples (compare.json) go to the folder. The thumbnails \
      are removed again. thumbjob status does not list a comparison; kill -USR1 PID prints its progress. --max holds \
      for the bounded queue, the semaphore, the operation queue and the window of a task group. The page shows the code of \
      each variant. On Linux only.
      """)

  @Argument(
    help: ArgumentHelp(
      "A folder (with all below it), a file, or - for paths on standard input, a line each.", valueName: "source"),
    completion: .file(extensions: PictureNames.usual))
  var sources: [String] = []

  @OptionGroup var maximum: SettingOptions<MaxGroup>

  @Option(
    help: ArgumentHelp(
      "What is compared with bounded: all, or names with commas between: \(Self.names(Variant.allCases)). "
        + "(default: \(Self.names(Variant.usual)))",
      valueName: "list"),
    completion: .list(["all"] + Variant.allCases.map(\.rawValue)))
  var variants: String?

  @Option(
    help: ArgumentHelp(
      "Also run each variant once with each of these sizes, such as 512,1024,2048, and show waiting and memory over the "
        + "size.", valueName: "list"))
  var overSizes: String?

  @OptionGroup(title: "Thumbnails") var encoding: SettingOptions<EncodingGroup>

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
    name: [.customShort("o", allowingJoined: true), .customLong("out")],
    help: ArgumentHelp(
      "The folder for compare.html and compare.json. (default: ./\(CompareSettings.usualFolder))", valueName: "folder"),
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
    var run = RunSettings()
    try maximum.given.apply(to: &run)
    settings.max = run.job.maxInUse
    if let rounds { settings.rounds = try rounds.checked(1...100, for: "--rounds") }
    if let memoryLimit {
      guard case .bytes(let bytes)? = try? MemorySize(parsing: memoryLimit, for: "--memory-limit") else {
        let shown = CommandWords.path(of: memoryLimit).printable
        throw TextError("--memory-limit: “\(shown)” is not an amount of memory; write 192M or 1G (at least 1M)")
      }
      settings.memoryLimit = bytes
    }
    if let variants { settings.variants = try Self.variants(variants) }
    try encoding.given.apply(to: &run)
    settings.encoding = encoding.words
    for text in overSizes?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
      _ = try SizeSpec(parsing: String(text), for: "--over-sizes")
      settings.overSizes.append(String(text))
    }
    if let out { settings.out = CommandWords.path(of: out) }
    if settings.out.isURL { throw TextError("--out: \(settings.out.printable) is a URL; name a folder") }
    return settings
  }

  private static func names(_ variants: [Variant]) -> String {
    variants.map(\.rawValue).joined(separator: ", ")
  }

  /// The variants of a list, in their usual order. The bounded one, with which the others are compared, is always there.
  private static func variants(_ list: String) throws(TextError) -> [Variant] {
    if list == "all" { return Variant.allCases }
    var variants: Set<Variant> = [.bounded]
    for word in list.split(separator: ",", omittingEmptySubsequences: false) {
      guard let variant = Variant(rawValue: String(word)) else {
        let shown = CommandWords.path(of: String(word)).printable
        throw TextError("--variants: “\(shown)” is not one of all, \(names(Variant.allCases))")
      }
      variants.insert(variant)
    }
    return Variant.allCases.filter { variants.contains($0) }
  }
}

extension Variant: ExpressibleByArgument {}

/// The settings of a comparison.
struct CompareSettings {
  var sources: [Path]
  var max = ProcessorCount.usable()
  /// Nil for as many as suit the duration of the first.
  var rounds: Int?
  /// In bytes; nil for none.
  var memoryLimit: Int?
  var variants = Variant.usual
  /// The options of the thumbnails, as words of a command line.
  var encoding: [String] = []
  /// Sizes with each of which every variant runs once more.
  var overSizes: [String] = []
  var out = usualFolder

  static let usualFolder: Path = "compare"
}
