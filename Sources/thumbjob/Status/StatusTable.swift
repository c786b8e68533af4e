import Files
import StatusEndpoint

/// Formats the status of running jobs as a table with a line for each.
struct StatusTable {
  let jobs: [RunStatus]
  /// The process ids of jobs that did not answer.
  var silent: [Int] = []

  /// The texts of a column from its title down.
  private struct Column {
    var cells: [String]
    /// Where the table would be too wide, columns are left out, the highest rank first. Those of rank 0 stay.
    let rank: Int
    /// Whether its texts are paths, which may be cut off.
    var isPath = false

    var width: Int { cells.map(\.displayWidth).max() ?? 0 }
  }

  /// The space between two columns, and the least width of a path that is cut off.
  private static let (gap, shortestPath) = (2, 10)

  /// - Parameter columns: the width of the terminal; nil for no limit.
  func text(columns limit: Int?, _ charset: Charset) -> String {
    var columns = columns
    if let limit {
      while Self.least(columns) > limit, let drop = columns.map(\.rank).max(), drop > 0 {
        columns.removeAll { $0.rank == drop }
      }
      Self.fit(&columns, to: limit, charset)
    }
    return Columns.text((0...jobs.count + silent.count).map { row in columns.map { $0.cells[row] } })
  }

  private var columns: [Column] {
    func column(
      _ title: String, rank: Int = 0, isPath: Bool = false, silent: [String]? = nil, _ cell: (RunStatus) -> String
    ) -> Column {
      let silent = silent ?? self.silent.map { _ in "-" }
      return Column(cells: [title] + jobs.map(cell) + silent, rank: rank, isPath: isPath)
    }
    let silentStates = silent.map { ProcessStatus(of: $0)?.isStopped == true ? "stopped" : "silent" }
    // Columns with bad news stay longest.
    let hasFailed = jobs.contains { $0.counters.failed > 0 }
    let isTight = jobs.contains { $0.pressure.level != .normal }
    return [
      column("PID", silent: silent.map { "\($0)" }) { "\($0.pid)" },
      column("STATE", silent: silentStates) { $0.state.rawValue },
      column("DONE") { StatusFields.done($0) },
      column("FAILED", rank: hasFailed ? 1 : 5) { "\($0.counters.failed)" },
      column("RATE", rank: 6) { StatusFields.rate($0) },
      column("ETA", rank: 4) { StatusFields.eta($0) ?? "-" },
      column("RESERVED", rank: 8) { ByteCount.memory($0.memory.reservedBytes, of: $0.memory.budgetBytes) },
      column("PRESSURE", rank: isTight ? 2 : 7) { $0.pressure.level.rawValue },
      column("SOURCES", rank: 3, isPath: true) { StatusFields.sources($0) },
      column("OUT", isPath: true) { StatusFields.outputs($0) },
    ]
  }

  private static func least(_ columns: [Column]) -> Int {
    columns.reduce((columns.count - 1) * gap) { $0 + ($1.isPath ? min($1.width, shortestPath) : $1.width) }
  }

  /// Cuts the paths off, the longest first.
  private static func fit(_ columns: inout [Column], to limit: Int, _ charset: Charset) {
    var widths = columns.map(\.width)
    var excess = widths.reduce((columns.count - 1) * gap - limit, +)
    while excess > 0 {
      let widest = columns.indices.filter { columns[$0].isPath }.max { widths[$0] < widths[$1] }
      guard let widest, widths[widest] > shortestPath else { break }
      widths[widest] -= 1
      excess -= 1
    }
    for index in columns.indices where columns[index].isPath {
      columns[index].cells = columns[index].cells.map { $0.fittedAtEnd(to: widths[index], charset.ellipsis) }
    }
  }
}
