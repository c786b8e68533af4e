import ThumbnailJobs

/// The command line's words as the bytes they are. Swift's own list of arguments is text: what is not UTF-8 in it has
/// been replaced, and a file of such a name could no longer be opened.
enum RawArguments {
  /// The path that an argument means.
  ///
  /// - Parameter text: an argument, or the value of an option, as Swift has it.
  static func path(_ text: String) -> Path { repaired[text] ?? Path(text) }

  /// Those arguments whose text is not their bytes, by their text. The value of `--out=…` counts as an argument.
  private static let repaired: [String: Path] = {
    var paths: [String: Path] = [:]
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[index] else { continue }
      let path = Path(cString: argument)
      let bytes = Array(path.bytes)
      guard String(validating: bytes, as: UTF8.self) == nil else { continue }
      paths[String(cString: argument)] = path
      if let equals = bytes.firstIndex(of: UInt8(ascii: "=")), let value = Path(bytes: bytes[(equals + 1)...]) {
        paths[String(decoding: bytes[(equals + 1)...], as: UTF8.self)] = value
      }
    }
    return paths
  }()
}
