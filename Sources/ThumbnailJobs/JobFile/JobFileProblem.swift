import Files

/// Something wrong in a job file, and where: `jobs/gallery.yml:7:1: unknown key “qualty”; did you mean “quality”?`
public struct JobFileProblem: Error, Sendable, Equatable, CustomStringConvertible {
  public let file: Path
  /// Both counted from 1; columns in Unicode scalars.
  public let line: Int
  public let column: Int
  public let message: String

  /// One line. Where no line is to blame, line 0, the file alone is named.
  public var description: String {
    line == 0 ? "\(file.printable): \(message)" : "\(file.printable):\(line):\(column): \(message)"
  }
}

/// All that is wrong in a job file, in the order of its lines.
public struct JobFileProblems: Error, Sendable, Equatable, CustomStringConvertible {
  public let problems: [JobFileProblem]

  init(problems: [JobFileProblem]) { self.problems = problems }

  /// Something wrong with the whole, which no one line is to blame for.
  public init(in file: Path, _ message: String) {
    problems = [JobFileProblem(file: file, line: 0, column: 0, message: message)]
  }

  /// A line each.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Finds the word that was meant.
enum NearestWord {
  /// The word at the least distance, if that is near enough to be a slip and not another word; the first of equals.
  static func to(_ word: String, among words: [String]) -> String? {
    let written = Array(word.lowercased().prefix(40))
    let ranked = words.map { (word: $0, distance: distance(written, Array($0))) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(1, min(written.count, best.word.count) / 2) ? best.word : nil
  }

  /// Letters to add, drop, replace or swap with the next (optimal string alignment).
  static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var rows = [Array(0...b.count)]
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
