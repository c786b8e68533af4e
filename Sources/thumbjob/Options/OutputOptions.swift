import ArgumentParser
import ThumbnailJobs
import Thumbnails

/// The options that determine the bytes of a thumbnail and its place.
struct OutputOptions: ParsableArguments {
  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("out")],
    help: ArgumentHelp(
      "The folder for the thumbnails, or s3://bucket/folder. (default: ./thumbs)", valueName: "folder"),
    completion: .directory)
  var out: String?

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

  @Option(
    help: ArgumentHelp(
      "The colour where a picture is transparent: #f0f0f0, white, black. (default: white)", valueName: "colour"))
  var background: String?

  @Option(
    help: ArgumentHelp(
      "Use the smaller pictures in the files of cameras: auto (RAW, HEIC, AVIF), prefer (JPEG too), never (RAW files then "
        + "fail, because only their previews can be shown). (default: auto)",
      valueName: "files"))
  var previews: Previews?

  func apply(to output: inout OutputSettings) throws(TextError) {
    if let out { output.folder = CommandWords.path(of: out) }
    if !size.isEmpty {
      output.sizes = []
      for text in size { output.sizes.append(try SizeSpec(parsing: text, for: "--size")) }
    }
    if let quality { output.quality = try quality.checked(JobSettings.qualityRange, for: "--quality") }
    if progressive { output.progressive = true }
    if let subsample { output.subsample = subsample }
    if !keep.isEmpty { output.keep = try KeptMetadata(words: keep, for: "--keep") }
    if linear { output.linear = true }
    if let previews { output.previews = previews }
    if let background { output.background = try RGBColor(parsing: background, for: "--background") }
  }
}

extension Int {
  /// - Throws: `TextError` that names the option if the number is not in `range`.
  func checked(_ range: ClosedRange<Int>, for option: String) throws(TextError) -> Int {
    if range.contains(self) { return self }
    throw TextError("\(option): \(self) is not within \(range.lowerBound) to \(range.upperBound)")
  }
}

extension ChromaSubsampling: ExpressibleByArgument {}
extension Previews: ExpressibleByArgument {}
