import ArgumentParser
import Files
import JobSettings
import Sourcing
import Thumbnails

/// The options that choose sources and determine how faulty ones are treated.
struct SourceOptions: ParsableArguments {
  /// The usual extensions of pictures, for completions. A file is recognised by its content.
  static let extensions = PictureNames.jpeg + PictureNames.others

  @OptionGroup var filter: FilterOptions

  @Option(
    help: ArgumentHelp(
      "How to recognise that a source is unchanged: time, or content, which reads all of it. (default: time)",
      valueName: "way"))
  var verify: Verification?

  @Flag(help: "Try sources again that failed for good in an earlier run, and have not changed.")
  var retryFailed = false

  @Option(
    help: ArgumentHelp(
      "The mildest fault that fails a source: truncated (samples that its thumbnails need are missing), error (or "
        + "corrupt), warning (any flaw of the whole file). (default: error)", valueName: "level"))
  var failOn: FailOn?

  @Option(
    help: ArgumentHelp(
      "Decode in fenced helper processes: auto (all but JPEG without faults), always, require (always, and nothing where "
        + "the kernel refuses a part of the fence), never (without the fence). (default: auto)",
      valueName: "sources"))
  var isolate: Isolation?

  @Option(help: ArgumentHelp("The most pixels of a source: 500M, 1G. (default: 1G)", valueName: "n"))
  var limitPixels: String?

  @Option(
    help: ArgumentHelp(
      "The most time for a source: 90s, 5m. Time is measured in steps of 0.1 s, so a source may take up to 0.2 s longer. "
        + "(default: 5m)", valueName: "duration"))
  var timeout: String?

  @Option(help: ArgumentHelp("Try a source that failed this many times more. (default: 0)", valueName: "n"))
  var retries: Int?

  /// - Parameters:
  ///   - words: the sources among the words of the command line.
  ///   - list: a further one.
  func apply(to job: inout JobSettings, words: [Path], list: SourceList?) throws(TextError) {
    var sources: [SourceArgument] = []
    for word in words { sources.append(try SourceArgument(word: word)) }
    if let list { sources.append(.list(list)) }
    if !sources.isEmpty { job.sources = sources }
    try filter.apply(to: &job.filter, followsLinks: &job.followsLinks)
    if let verify { job.verify = verify }
    if retryFailed { job.retryFailed = true }
    if let failOn { job.failOn = failOn }
    if let isolate { job.isolate = isolate }
    if let limitPixels { job.limitPixels = try PixelCount.parse(limitPixels, for: "--limit-pixels") }
    if let timeout { job.timeout = try DurationText.parse(timeout, for: "--timeout") }
    if let retries { job.retries = try retries.checked(JobSettings.retriesRange, for: "--retries") }
  }
}

extension FailOn: ExpressibleByArgument {}
extension Isolation: ExpressibleByArgument {}
extension Verification: ExpressibleByArgument {}
