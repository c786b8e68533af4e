/// The font Helvetica, one of the fourteen that every PDF reader has.
enum Helvetica {
  /// The width of a text in points.
  static func width(_ codes: some Sequence<UInt8>, size: Double) -> Double {
    Double(codes.reduce(0) { $0 + width(of: $1) }) * size / 1000
  }

  /// A text that is at most as wide as the limit. An ellipsis replaces the middle: the beginning and the end of a
  /// file's name distinguish it, and its extension stays whole.
  static func shortened(_ codes: [UInt8], size: Double, to limit: Double) -> [UInt8] {
    if width(codes, size: size) <= limit { return codes }
    let fileExtension = fileExtension(codes)
    let rest = codes.dropLast(fileExtension.count)
    let forRest = limit - width([WinAnsi.ellipsis] + fileExtension, size: size)
    guard forRest >= 0 else { return cut(codes, size: size, to: limit) }
    let tail = prefix(rest.reversed(), size: size, to: forRest / 2).reversed()
    let head = prefix(rest, size: size, to: forRest - width(tail, size: size))
    return head + [WinAnsi.ellipsis] + tail + fileExtension
  }

  /// A text that is at most as wide as the limit. An ellipsis replaces its end.
  private static func cut(_ codes: [UInt8], size: Double, to limit: Double) -> [UInt8] {
    if width(codes, size: size) <= limit { return codes }
    let room = limit - width([WinAnsi.ellipsis], size: size)
    if room < 0 { return [] }
    var kept = prefix(codes, size: size, to: room)
    while kept.last == UInt8(ascii: " ") { kept.removeLast() }
    return kept + [WinAnsi.ellipsis]
  }

  /// A text as lines, broken at spaces. The last line, and a word that is wider than a line, lose their end.
  ///
  /// - Parameter count: the most lines that there may be, at least 1.
  static func lines(_ codes: [UInt8], size: Double, width limit: Double, count: Int) -> [[UInt8]] {
    let space = UInt8(ascii: " ")
    var words = codes.split(separator: space)[...]
    var lines: [[UInt8]] = []
    while let first = words.popFirst() {
      var line = Array(first)
      let isLast = lines.count == count - 1
      while let next = words.first, isLast || width(line + [space] + next, size: size) <= limit {
        line += [space] + next
        words.removeFirst()
      }
      lines.append(cut(line, size: size, to: limit))
    }
    return lines
  }

  /// The first codes that are together not wider than the limit.
  private static func prefix(_ codes: some Sequence<UInt8>, size: Double, to limit: Double) -> [UInt8] {
    var room = limit * 1000 / size
    return codes.prefix { code in
      room -= Double(width(of: code))
      return room >= 0
    }
  }

  /// A file name's extension with its dot; empty if there is none, or if it is too long to be one.
  private static func fileExtension(_ codes: [UInt8]) -> ArraySlice<UInt8> {
    guard let dot = codes.lastIndex(of: UInt8(ascii: ".")), dot > 0, (2...6).contains(codes.count - dot) else {
      return []
    }
    return codes[dot...]
  }

  /// In thousandths of the font's size.
  private static func width(of code: UInt8) -> Int { code < 0x20 ? 0 : widths[Int(code) - 0x20] }

  /// The widths of the codes from 0x20 in WinAnsiEncoding. Codes without a character are a bullet.
  ///
  /// *Source*: Adobe's font metrics, Helvetica.afm.
  private static let widths = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, 350,
    556, 350, 222, 556, 333, 1000, 556, 556, 333, 1000, 667, 333, 1000, 350, 611, 350,
    350, 222, 222, 333, 333, 350, 556, 1000, 333, 1000, 500, 333, 944, 350, 500, 667,
    278, 333, 556, 556, 556, 556, 260, 556, 333, 737, 370, 556, 584, 333, 737, 333,
    400, 584, 333, 333, 333, 556, 537, 278, 333, 333, 365, 556, 834, 834, 834, 611,
    667, 667, 667, 667, 667, 667, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278,
    722, 722, 778, 778, 778, 778, 778, 584, 778, 722, 722, 722, 722, 667, 667, 611,
    556, 556, 556, 556, 556, 556, 889, 500, 556, 556, 556, 556, 278, 278, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 584, 611, 556, 556, 556, 556, 500, 556, 500,
  ]
}
