import ArgumentParser
import Foundation
import JobSettings

/// The arguments and options of a command for a kind of job that makes no thumbnails.
struct OtherKindOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "A folder (with all below it), a file, an https:// URL, an object or folder in S3 (s3://bucket/key), or - for paths and "
        + "URLs on standard input, one per line.", valueName: "source"),
    completion: .file())
  var words: [String] = []

  @OptionGroup(title: "Sources") var sources: SettingOptions<OtherKindGroup<SourceGroup>>
  @OptionGroup(title: "Sources from the network") var network: SettingOptions<OtherKindGroup<NetworkGroup>>
  @OptionGroup(title: "Running") var running: SettingOptions<OtherKindGroup<RunningGroup>>

  /// The options of `run` that are refused, as a sentence of help.
  static var refusal: String {
    let settings = SourceGroup.settings + NetworkGroup.settings + RunningGroup.settings
    let names = settings.map(\.info).filter(\.isOnlyForThumbnails).map { "--\($0.name)" }.sorted()
    return "These options of run are refused: \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")."
  }

  /// The settings of a job of this kind.
  ///
  /// - Parameter example: a command line with a source.
  func settings(_ kind: any KindSettings, example: String) throws -> RunSettings {
    try sources.refuseHidden(for: kind.words)
    try network.refuseHidden(for: kind.words)
    try running.refuseHidden(for: kind.words)
    var settings = RunSettings()
    (settings.job.outputs, settings.job.kind) = ([], kind)
    try settings.apply(
      words.flatMap { CommandWords.paths(of: $0) }, sources.given + network.given + running.given)
    try settings.validate()
    if settings.job.sources.isEmpty { throw TextError("no source given: name a folder, such as \(example)") }
    try settings.job.resolveLists(in: ProcessInfo.processInfo.environment)
    return settings
  }
}
