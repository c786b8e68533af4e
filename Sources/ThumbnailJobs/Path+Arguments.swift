import Foundation

extension Path {
  /// The path that a command-line argument names, with the bytes that the process was given.
  ///
  /// Swift repairs arguments that are not UTF-8 when it makes Strings of them, and a repaired name opens no file. So the
  /// original is looked up; the text itself stands where there is none, as in a test.
  public init(argument text: String) {
    if text.unicodeScalars.contains("\u{fffd}"), let original = Self.originals[text] {
      self = original
    } else {
      self.init(text)
    }
  }

  /// Arguments by the text that Swift made of them; of two that were repaired alike, the first.
  private static let originals: [String: Path] = {
    var originals: [String: Path] = [:]
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[index] else { continue }
      let bytes = UnsafeRawBufferPointer(start: argument, count: strlen(argument))
      // A word of its own, or the value of an option written as --out=….
      for start in [0, bytes.firstIndex(of: UInt8(ascii: "=")).map { $0 + 1 }].compactMap({ $0 }) {
        let text = String(decoding: bytes[start...], as: UTF8.self)
        originals[text] = originals[text] ?? Path(bytes: bytes[start...])
      }
    }
    return originals
  }()
}
