/// Rows as a table: columns with two spaces between.
enum Columns {
  /// - Parameters:
  ///   - rows: a row may have fewer cells than others; its last may be wider than its column.
  ///   - right: the columns whose cells end together instead of beginning together, from 0.
  static func text(_ rows: [[String]], right: Set<Int> = []) -> String {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.filter { $0.count > column + 1 }.map { $0[column].count }.max() ?? 0
    }
    return rows.map { row in
      let cells = row.indices.map { column in
        let space = String(repeating: " ", count: max(0, widths[column] - row[column].count))
        return right.contains(column)
          ? space + row[column] : column == row.count - 1 ? row[column] : row[column] + space
      }
      return cells.joined(separator: "  ") + "\n"
    }.joined()
  }
}
