/// Suggests a known word for a misspelled one.
package enum NearestWord {
  /// The word with the smallest edit distance, or the first of several. Nil if this distance is more than one and more
  /// than a third of the shorter word's length: a wrong suggestion is worse than none.
  package static func to(_ word: String, among words: [String]) -> String? {
    let written = Array(word.lowercased().prefix(40))
    let ranked = words.map { (word: $0, distance: distance(written, Array($0))) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(1, min(written.count, best.word.count) / 3) ? best.word : nil
  }

  /// The edit distance: how many characters to insert, delete, replace or swap with a neighbour to get from `a` to `b`
  /// (optimal string alignment).
  package static func distance(_ a: [Character], _ b: [Character]) -> Int {
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
