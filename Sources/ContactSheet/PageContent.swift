/// The operators that draw a page: the content stream.
///
/// *Source*: ISO 32000-1, 8 and 9; 14.9.4 for replacement text.
struct PageContent {
  /// How dark things are: 0 is black, 1 is white.
  enum Grey {
    static let heading = 0.15
    static let caption = 0.3
    static let margin = 0.45
    static let edge = 0.88
    static let missingFill = 0.96
    static let missingLine = 0.84
  }
  enum Alignment { case left, centre, right }

  private(set) var bytes: [UInt8] = []

  /// Where a line of text is, in points: `x` is its beginning, middle or end.
  struct TextPlace {
    let x: Double
    let baseline: Double
    let width: Double
    let size: Double
    let grey: Double
    let align: Alignment

    /// Where a text of a width begins.
    func start(of width: Double) -> Double {
      switch align {
      case .left: x
      case .centre: x - width / 2
      case .right: x - width
      }
    }
  }

  /// The most bytes of the operators of a line in fonts of the system. Only a name of very many accents has more.
  private static let lineLimit = 6000

  /// The most bytes that the content of a page has: for each cell two texts, each with its replacement text of four
  /// digits for each UTF-16 unit, three lines of a reason, each at most as long as the page is wide, and the line of the
  /// name. A heading for each row and two texts in the footer are lines like those of names.
  static func sizeLimit(_ grid: SheetGrid) -> Int {
    let text = 4 * PDFSyntax.textLimit + 64
    let line = 1200
    return grid.count * (2 * text + 3 * line + lineLimit + 400) + (grid.rows + 2)
      * (text + lineLimit)
  }

  /// - Parameter capacity: how many bytes to have room for, so that the array never grows while it is filled.
  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  private mutating func draw(_ operators: String) {
    bytes += operators.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  private func numbers(_ values: Double...) -> String {
    values.map(PDFSyntax.number).joined(separator: " ")
  }

  private func rectangle(_ box: SheetBox) -> String {
    numbers(box.x, box.y, box.width, box.height) + " re"
  }

  /// - Parameter name: the image's name among the resources of the page.
  mutating func drawImage(_ name: String, in box: SheetBox) {
    // The edge shows where a white picture ends. It is a larger box behind the picture, not a line around it, because a viewer
    // rounds lines and pictures to pixels in different ways and would leave gaps.
    let edge = 0.3
    let behind = SheetBox(x: box.x - edge, y: box.y - edge, width: box.width + 2 * edge, height: box.height + 2 * edge)
    draw("q \(numbers(Grey.edge)) g \(rectangle(behind)) f Q")
    draw("q \(numbers(box.width, 0, 0, box.height, box.x, box.y)) cm /\(name) Do Q")
  }

  /// A crossed box with the reason why it has no picture.
  mutating func drawMissing(_ reason: String, in box: SheetBox, size: Double) {
    let (right, top) = (box.x + box.width, box.y + box.height)
    draw(
      "q \(numbers(Grey.missingFill)) g \(numbers(Grey.missingLine)) G 0.5 w \(rectangle(box)) B")
    draw(
      "\(numbers(box.x, box.y)) m \(numbers(right, top)) l \(numbers(box.x, top)) m \(numbers(right, box.y)) l S Q"
    )

    let leading = 1.3 * size
    let count = min(3, Int(0.8 * box.height / leading))
    let codes = WinAnsi.codes(PDFSyntax.clipped(reason))
    guard count > 0, !codes.isEmpty else { return }
    let lines = Helvetica.lines(codes, size: size, width: box.width - 2 * size, count: count)
    let (centreX, centreY) = (box.x + box.width / 2, box.y + box.height / 2)
    // This box hides the part of the cross behind the words.
    let width = (lines.map { Helvetica.width($0, size: size) }.max() ?? 0) + size
    let height = leading * Double(lines.count) + 0.6 * size
    let background = SheetBox(
      x: centreX - width / 2, y: centreY - height / 2, width: width, height: height)
    draw("q \(numbers(Grey.missingFill)) g \(rectangle(background)) f Q")
    beginText(reason)
    for (index, line) in lines.enumerated() {
      // Letters without descender are 0.72 high: this puts the middle line's letters in the middle.
      let middle = centreY + leading * (Double(lines.count - 1) / 2 - Double(index))
      drawLine(
        line,
        at: TextPlace(
          x: centreX, baseline: middle - 0.36 * size, width: box.width, size: size,
          grey: Grey.margin, align: .centre))
    }
    draw("EMC")
  }

  /// A line of text. One that is too wide is shortened in the middle.
  mutating func drawText(_ text: String, at place: TextPlace) {
    let codes = Helvetica.shortened(
      WinAnsi.codes(PDFSyntax.clipped(text)), size: place.size, to: place.width)
    guard !codes.isEmpty else { return }
    beginText(text)
    drawLine(codes, at: place)
    draw("EMC")
  }

  /// A line of text in fonts of the system. False if it has too many glyphs, and nothing is drawn.
  mutating func drawText(
    _ text: String, as line: ShapedLine, of fonts: SystemFonts, at place: TextPlace
  ) -> Bool {
    let scale = place.size / 1000
    let start = place.start(of: line.width * scale)
    var operators = "BT \(numbers(place.grey)) g"
    // The font and the height of the glyphs so far, and where the next one would be.
    var last: (font: Int, y: Double, end: Double)?
    for glyph in line.glyphs {
      if let known = last, known.font == glyph.font, known.y == glyph.y {
        // Less than a tenth of a thousandth is not seen.
        let gap = known.end - glyph.x
        if abs(gap) > 0.1 { operators += " \(numbers(gap)) " }
      } else {
        if last != nil { operators += "] TJ" }
        let (x, y) = (start + glyph.x * scale, place.baseline + glyph.y * scale)
        operators +=
          " /\(fonts.fonts[glyph.font].name) \(numbers(place.size)) Tf 1 0 0 1 \(numbers(x, y)) Tm ["
      }
      operators += "<\(fonts.fonts[glyph.font].digits(of: glyph.code))>"
      last = (glyph.font, glyph.y, glyph.x + glyph.advance)
    }
    guard last != nil, operators.utf8.count < Self.lineLimit - 16 else { return false }
    // Readers put what runs from right to left in order, which would reverse a replacement text. They know the text of
    // each glyph.
    if !line.hasRightToLeft { beginText(text) }
    draw(operators + "] TJ ET")
    if !line.hasRightToLeft { draw("EMC") }
    return true
  }

  /// Begins marked content. Readers copy, search and speak the whole text instead of the codes that are shown.
  private mutating func beginText(_ text: String) {
    draw("/Span << /ActualText \(PDFSyntax.text(text)) >> BDC")
  }

  private mutating func drawLine(_ codes: [UInt8], at place: TextPlace) {
    let start = place.start(of: Helvetica.width(codes, size: place.size))
    draw(
      "BT \(numbers(place.grey)) g /F1 \(numbers(place.size)) Tf \(numbers(start, place.baseline)) Td "
        + "\(PDFSyntax.literal(codes)) Tj ET")
  }
}
