import Foundation

/// What one of the standard streams can show: control sequences, colours, characters, and how many columns.
struct Terminal: Sendable {
  private let descriptor: CInt
  /// Whether the stream is a terminal that knows control sequences.
  let isTerminal: Bool
  /// See no-color.org.
  let hasColour: Bool
  let charset: Charset

  init(_ descriptor: CInt, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1 && !["", "dumb"].contains(environment["TERM"] ?? "")
    hasColour = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty
    charset = Charset(environment: environment)
  }

  /// The size now. The terminal may be resized at any moment.
  var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 2, size.ws_col > 1 else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// The columns of a terminal; nil for a stream that is none, whose lines may have any length.
  var columns: Int? { isTerminal ? size.columns : nil }

  /// The text as the stream shows it: control characters escaped, in the characters of the locale, with colours.
  func rendered(_ text: StyledText) -> String { coloured(text.mapText(shown)) }

  /// The text as one line that is not wider than the terminal.
  func renderedLine(_ text: StyledText) -> String {
    // One column less, because some terminals go to the next line after the last.
    coloured(text.mapText(shown).fitted(to: size.columns - 1, charset.ellipsis))
  }

  /// The text without colours.
  func shown(_ text: String) -> String { charset.text(Self.escaped(text), escapingOthers: isTerminal) }

  private func coloured(_ text: StyledText) -> String {
    text.parts.map { part in
      guard let style = part.style, hasColour else { return part.text }
      // Each line has its own colour: other output may come in between.
      return part.text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        line.isEmpty ? "" : "\u{1B}[\(style.rawValue)m\(line)\u{1B}[0m"
      }.joined(separator: "\n")
    }.joined()
  }

  /// The text with all control characters escaped except line feeds, so that a terminal does not interpret them.
  static func escaped(_ text: String) -> String {
    func isControl(_ scalar: Unicode.Scalar) -> Bool {
      // Also those that change the direction of writing: they can make a text look like another.
      scalar.properties.generalCategory == .control && scalar != "\n" || ("\u{202A}"..."\u{202E}").contains(scalar)
        || ("\u{2066}"..."\u{2069}").contains(scalar)
    }
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { $0 += isControl($1) ? $1.escaped(asASCII: true) : String($1) }
  }
}
