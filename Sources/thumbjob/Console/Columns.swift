/// Formats tables.
enum Columns {
  /// Aligns cells in columns, with two spaces between them. A character may take two columns.
  ///
  /// - Parameters:
  ///   - rows: a row may have fewer cells than others; its last cell may be wider than the column.
  ///   - right: the columns to align at the right, counted from 0.
  static func text(_ rows: [[String]], right: Set<Int> = []) -> String {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.filter { $0.count > column + 1 }.map { $0[column].displayWidth }.max() ?? 0
    }
    return rows.map { row in
      let cells = row.indices.map { column in
        let space = String(repeating: " ", count: max(0, widths[column] - row[column].displayWidth))
        return right.contains(column)
          ? space + row[column] : column == row.count - 1 ? row[column] : row[column] + space
      }
      return cells.joined(separator: "  ") + "\n"
    }.joined()
  }
}
