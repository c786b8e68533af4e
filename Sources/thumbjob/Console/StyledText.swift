/// A text for people, parts of which may have a colour.
struct StyledText: Sendable, Equatable {
  /// The meaning of a part of a text. The value selects its colour (ECMA-48, "Select graphic rendition").
  enum Style: String, Sendable {
    /// The result that a user waits for.
    case answer = "1;32"
    case failure = "31"
    case warning = "33"
    /// The part of a progress bar that is done.
    case done = "32"
    /// What a reader may skip.
    case faint = "90"
  }

  struct Part: Sendable, Equatable {
    var text: String
    var style: Style?
  }

  private(set) var parts: [Part]

  init(_ text: String = "", _ style: Style? = nil) { parts = text.isEmpty ? [] : [Part(text: text, style: style)] }

  /// The text without its styles.
  var text: String { parts.map(\.text).joined() }
  var isEmpty: Bool { parts.isEmpty }
  var displayWidth: Int { parts.reduce(0) { $0 + $1.text.displayWidth } }

  static func + (first: StyledText, second: StyledText) -> StyledText {
    var sum = first
    sum.parts += second.parts
    return sum
  }

  static func += (first: inout StyledText, second: StyledText) { first.parts += second.parts }

  /// This text with each part changed.
  func mapText(_ transform: (String) -> String) -> StyledText {
    var copy = self
    for index in parts.indices { copy.parts[index].text = transform(parts[index].text) }
    return copy
  }

  /// The text, or as much of its beginning as fits with an ellipsis.
  func fitted(to columns: Int, _ ellipsis: String) -> StyledText {
    guard displayWidth > columns else { return self }
    var (result, room) = (StyledText(), columns - ellipsis.displayWidth)
    for part in parts where room > 0 {
      let text = part.text.fitted(to: room, "")
      result += StyledText(text, part.style)
      room = text == part.text ? room - text.displayWidth : 0
    }
    return result + StyledText(String(ellipsis.prefix(max(0, columns))))
  }
}

extension [StyledText] {
  func joined(separator: String) -> StyledText {
    reduce(into: StyledText()) { $0 += ($0.isEmpty ? StyledText() : StyledText(separator)) + $1 }
  }

  /// One line of these parts, or several where one would be wider than the columns. A part is never broken.
  ///
  /// - Parameter columns: nil for no limit.
  func folded(separator: String, to columns: Int?) -> StyledText {
    var lines: [[StyledText]] = []
    for part in self {
      if let columns, let last = lines.last, (last + [part]).joined(separator: separator).displayWidth > columns {
        lines.append([part])
      } else {
        lines.append((lines.popLast() ?? []) + [part])
      }
    }
    return lines.map { $0.joined(separator: separator) }.joined(separator: "\n")
  }
}
