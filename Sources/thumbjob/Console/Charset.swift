/// The characters that messages may contain, which the locale determines.
enum Charset: Sendable {
  case unicode
  /// Only ASCII is certain to be shown.
  case ascii

  /// As in POSIX, the first of these variables that is not empty names the locale, and the end of its name the
  /// encoding, as in `de_DE.UTF-8`. The locale need not be installed: the terminal shows its characters nevertheless.
  init(environment: [String: String]) {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }
    let locale = names.first { !$0.isEmpty } ?? "C"
    let encoding = locale.prefix { $0 != "@" }.split(separator: ".").last?.lowercased()
    self = encoding == "utf-8" || encoding == "utf8" ? .unicode : .ascii
  }

  /// Stands for what is left out.
  var ellipsis: String { self == .unicode ? "…" : "..." }
  /// Between the parts of a line.
  var separator: String { self == .unicode ? " · " : " | " }
  /// The characters of a progress bar.
  var bar: (done: String, rest: String) { self == .unicode ? ("━", "─") : ("#", "-") }

  /// The text with the symbols of our messages in ASCII, if nothing else can be shown.
  ///
  /// - Parameter escapingOthers: whether to escape all other characters too. A terminal with another encoding could
  ///   take their bytes for control characters; in a file, a name is better left as it is.
  func text(_ text: String, escapingOthers: Bool) -> String {
    if self == .unicode || text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      if let symbol = Self.symbols[scalar] {
        result += symbol
      } else if scalar.isASCII || !escapingOthers {
        result.unicodeScalars.append(scalar)
      } else {
        result += scalar.escaped(asASCII: true)
      }
    }
  }

  private static let symbols: [Unicode.Scalar: String] = [
    "→": "->", "·": "|", "…": "...", "×": "x", "“": "\"", "”": "\"", "–": "-", "−": "-", "━": "#", "─": "-",
  ]
}
