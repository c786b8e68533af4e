import ArgumentParser
import JobSettings
import Thumbnails

/// The options that determine how much work rendering and encoding a thumbnail is.
struct EncodingOptions: ParsableArguments {
  @Option(
    name: [.customShort("s", allowingJoined: true), .long],
    help: ArgumentHelp(
      "W, WxH (a box), Wx or xH; ^ fills and crops, ! is exact, < may enlarge; name=SPEC names it; repeatable. "
        + "(default: 256)", valueName: "spec"))
  var size: [String] = []

  @Option(
    name: [.customShort("q", allowingJoined: true), .long],
    help: ArgumentHelp("JPEG quality, 1 to 100. (default: 80)", valueName: "n"))
  var quality: Int?

  @Flag(help: "Write progressive JPEG.")
  var progressive = false

  @Option(
    help: ArgumentHelp(
      "Chroma: 420, 444 (sharper colours, larger files), auto (444 up to 48 pixels). (default: auto)",
      valueName: "kind"))
  var subsample: ChromaSubsampling?

  @Option(
    help: ArgumentHelp(
      "Metadata to keep: icc, exif (without the place), gps (exif with the place), copyright; separated by commas.",
      valueName: "kinds"),
    completion: .list(KeptMetadata.words.map(\.key)))
  var keep: [String] = []

  @Flag(help: "Resize in linear light: slower, right for fine bright patterns.")
  var linear = false

  func apply(to output: inout OutputSettings) throws(TextError) {
    if !size.isEmpty {
      output.sizes = []
      for text in size { output.sizes.append(try SizeSpec(parsing: text, for: "--size")) }
    }
    if let quality { output.quality = try quality.checked(JobSettings.qualityRange, for: "--quality") }
    if progressive { output.progressive = true }
    if let subsample { output.subsample = subsample }
    if !keep.isEmpty { output.keep = try KeptMetadata(words: keep, for: "--keep") }
    if linear { output.linear = true }
  }

  /// The options as words of a command line, for another process.
  var words: [String] {
    var words = size.map { "--size=\($0)" }
    if let quality { words.append("--quality=\(quality)") }
    if progressive { words.append("--progressive") }
    if let subsample { words.append("--subsample=\(subsample.rawValue)") }
    words += keep.map { "--keep=\($0)" }
    if linear { words.append("--linear") }
    return words
  }
}

extension ChromaSubsampling: ExpressibleByArgument {}
