import Files

/// How far a job is, as one line: figures, and on a terminal a bar before them and the running operations after them.
struct ProgressLine {
  /// Sources that are done, and those found so far.
  var (done, found) = (0, 0)
  /// The number of all sources; nil until it is known.
  var total: Int?
  /// Sources made per second.
  var rate = 0.0
  /// The estimated time until the end; nil while unknown.
  var remaining: Duration?
  /// Why nothing starts, such as `paused by the user`; nil if operations start.
  var pause: String?
  var failed = 0
  /// The process, for those who want to send it a signal.
  var pid: Int32
  /// How many operations may run at once.
  var places = 1
  /// The running operations, each with its stage.
  var running: [String] = []

  /// A part of the line. Where the line would be too long, parts are left out, the highest rank first; 0 stays.
  private struct Field {
    let text: StyledText
    let rank: Int
  }

  private var fields: [Field] {
    var fields = [
      Field(text: StyledText("\(done) of \(total.map(String.init) ?? "\(found) found so far")"), rank: 0)
    ]
    if failed > 0 { fields.append(Field(text: StyledText("\(failed) failed", .failure), rank: 1)) }
    if let pause { fields.append(Field(text: StyledText(pause, .warning), rank: 2)) }
    fields.append(Field(text: StyledText("\(Units.decimal(rate))/s"), rank: 5))
    if let remaining { fields.append(Field(text: StyledText("ETA \(Units.time(remaining))"), rank: 3)) }
    fields.append(Field(text: StyledText("PID \(pid)", .faint), rank: 4))
    return fields
  }

  /// The figures, for a line among others.
  var figures: String { fields.map(\.text).joined(separator: " · ").text }

  /// The least columns of a bar, and of a running operation whose name is cut off.
  private static let (shortestBar, shortestName) = (6, 12)
  /// The columns that are kept for each running operation where there is room.
  private static let columnsForName = 30

  /// The line for a terminal, at most `columns` wide.
  func bar(columns: Int, _ charset: Charset) -> StyledText {
    let hasBar = (total ?? 0) > 0
    let least = hasBar ? Self.shortestBar + 1 : 0
    var fields = fields
    while text(fields, charset).displayWidth + least > columns, let drop = fields.map(\.rank).max(), drop > 0 {
      fields.removeAll { $0.rank == drop }
    }
    let figures = text(fields, charset)
    var room = columns - figures.displayWidth
    var line = StyledText()
    if hasBar, room >= least {
      // In steps of ten, so that the length stays the same while the figures change.
      let spare = (room - places * Self.columnsForName) / 10 * 10
      let width = min(max(Self.shortestBar, columns / 5, spare), columns / 2, room - 1)
      line = bar(width: width, charset) + StyledText(" ")
      room -= width + 1
    }
    return line + figures + names(within: room, charset)
  }

  private func text(_ fields: [Field], _ charset: Charset) -> StyledText {
    fields.map(\.text).joined(separator: charset.separator)
  }

  private func bar(width: Int, _ charset: Charset) -> StyledText {
    let full = total.map { min(width, width * done / max($0, 1)) } ?? 0
    let characters = charset.bar
    return StyledText(String(repeating: characters.done, count: full), .done)
      + StyledText(String(repeating: characters.rest, count: width - full), .faint)
  }

  /// As many running operations as fit. The first may be cut off.
  private func names(within columns: Int, _ charset: Charset) -> StyledText {
    var (result, room, separator) = (StyledText(), columns, charset.separator)
    for name in running {
      room -= separator.displayWidth
      let isFirst = result.isEmpty
      guard name.displayWidth <= room || isFirst && room >= Self.shortestName else { break }
      let name = name.fitted(to: room, charset.ellipsis)
      result += StyledText(separator + name)
      room -= name.displayWidth
      separator = ", "
    }
    return result
  }
}
