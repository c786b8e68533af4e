import Files

/// How many pictures a page of a contact sheet has: columns and rows. As text `4x5`: 4 columns, 5 rows.
package struct SheetGrid: Sendable, Hashable, CustomStringConvertible {
  /// The columns or rows that a grid may have.
  package static let range = 1...20

  package let columns: Int
  package let rows: Int

  /// The default is as wide as it is high on A4: upright and lying pictures get about the same area.
  ///
  /// - Precondition: both numbers are in ``range``.
  package init(columns: Int = 4, rows: Int = 5) {
    precondition(Self.range.contains(columns) && Self.range.contains(rows), "a grid has 1 to 20 columns and rows")
    (self.columns, self.rows) = (columns, rows)
  }

  /// Parses `COLUMNSxROWS`.
  package init(parsing text: String) throws(SheetGridError) {
    let parts = text.split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw SheetGridError(text: text, reason: "it is not COLUMNSxROWS") }
    var counts: [Int] = []
    for (part, name) in zip(parts, ["columns", "rows"]) {
      guard !part.isEmpty, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        throw SheetGridError(text: text, reason: "the number of \(name) is not a whole number")
      }
      guard let count = Int(part), Self.range.contains(count) else {
        throw SheetGridError(
          text: text, reason: "the number of \(name) is not from \(Self.range.lowerBound) to \(Self.range.upperBound)")
      }
      counts.append(count)
    }
    self.init(columns: counts[0], rows: counts[1])
  }

  /// How many cells a page has.
  package var count: Int { columns * rows }

  package var description: String { "\(columns)x\(rows)" }
}

/// Why a text is not a grid. The description is one line with the reason and a valid example.
package struct SheetGridError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The invalid text.
  package let text: String
  /// The reason why it is invalid.
  package let reason: String

  package var description: String { "grid '\(printableText(of: Array(text.utf8)))': \(reason); for example 4x5" }
}
