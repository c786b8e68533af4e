import ArgumentParser
import JobSettings
import Thumbnails

/// The options that determine the bytes of a thumbnail and its place.
struct OutputOptions: ParsableArguments {
  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("out")],
    help: ArgumentHelp(
      "The folder for the thumbnails, or s3://bucket/folder. (default: ./thumbs)", valueName: "folder"),
    completion: .directory)
  var out: String?

  @OptionGroup var encoding: EncodingOptions

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
    try encoding.apply(to: &output)
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

extension Previews: ExpressibleByArgument {}
