import CShaping
import Files

/// A font of the system of which a PDF file gets the glyphs that it shows: as a subset, or as pictures if the font has no
/// outlines. In the file, a glyph's code is its number in the order of first use, from 1 on.
///
/// *Source*: ISO 32000-1, 9.6.5 (Type 3 fonts), 9.7 (composite fonts), 9.9 (embedded fonts), 9.10.3 (ToUnicode).
final class EmbeddedFont {
  /// Among the resources of pages.
  let name: String
  private let font: OpaquePointer
  private let metrics: cshaping_metrics
  private var codes: [UInt32: UInt16] = [:]
  /// The glyph of each code, and the text for which it was first used.
  private var glyphs: [(number: UInt32, advance: Double, text: [UInt32])] = []
  private var shaped = [cshaping_glyph](repeating: cshaping_glyph(), count: 1024)

  /// The most glyphs, so that the memory is limited. More are never on one sheet, unless by ill will.
  private var limit: Int { metrics.has_pictures ? 255 : 20_000 }

  /// Nil if the font cannot be used.
  init?(at place: cshaping_place, name: String) {
    var place = place
    guard let font = cshaping_font_open(&place) else { return nil }
    var metrics = cshaping_metrics()
    cshaping_measure(font, &metrics)
    (self.font, self.name, self.metrics) = (font, name, metrics)
  }

  deinit { cshaping_font_close(font) }

  func has(_ scalar: UInt32) -> Bool { cshaping_font_has(font, scalar) }

  /// The glyphs of a part of a text, from left to right; nil if there are too many.
  func shape(
    _ scalars: [UInt32], _ range: Range<Int>, script: UInt32, isRightToLeft: Bool
  ) -> ArraySlice<cshaping_glyph>? {
    let count = cshaping_shape(
      font, scalars, scalars.count, range.lowerBound, range.count, script, isRightToLeft, &shaped,
      shaped.count)
    return count <= shaped.count ? shaped[..<count] : nil
  }

  /// The code of a glyph; nil if there are too many.
  ///
  /// - Parameter text: the scalars that it stands for, of which the first ones count.
  func code(of glyph: UInt32, text: ArraySlice<UInt32>) -> UInt16? {
    if let known = codes[glyph] { return known }
    guard glyphs.count < limit else { return nil }
    glyphs.append((glyph, cshaping_advance(font, glyph), Array(text.prefix(16))))
    let code = UInt16(glyphs.count)
    codes[glyph] = code
    return code
  }

  /// The text for which a code was first used.
  func text(of code: UInt16) -> String {
    String(String.UnicodeScalarView(glyphs[Int(code) - 1].text.compactMap(Unicode.Scalar.init)))
  }

  /// The digits of a code in a string: two bytes, or one in a font of pictures.
  func digits(of code: UInt16) -> String {
    let digits = PDFSyntax.hexadecimal(code)
    return metrics.has_pictures ? String(digits.suffix(2)) : digits
  }

  /// In thousandths of the size.
  func advance(of code: UInt16) -> Double { glyphs[Int(code) - 1].advance }

  // MARK: Writing

  /// Writes the font with the glyphs that have codes.
  ///
  /// - Parameter index: differs from font to font.
  /// - Returns: the number of the font object.
  func write(to objects: inout ObjectWriter, index: Int) throws(Errno) -> Int {
    let unicode = objects.reserveNumber()
    let texts = (0..<glyphs.count).map { UInt16($0 + 1) }.compactMap { code in
      let text = text(of: code).utf16.map(PDFSyntax.hexadecimal).joined()
      return text.isEmpty ? nil : "<\(digits(of: code))> <\(text)>"
    }
    let codes = "<\(digits(of: 0))> <\(digits(of: 0xFFFF))>"
    try objects.write(
      unicode,
      stream: CharacterMap.stream(
        "\(name)-text", system: "UCS", kind: 2, codes: codes, section: "bfchar", texts))
    return metrics.has_pictures
      ? try writePictures(to: &objects, unicode: unicode)
      : try writeSubset(
        to: &objects, unicode: unicode,
        baseName: Self.tag(index) + "+" + Self.text(of: metrics.name))
  }

  private func writeSubset(to objects: inout ObjectWriter, unicode: Int, baseName: String)
    throws(Errno) -> Int
  {
    var identifiers = [UInt32](repeating: 0, count: glyphs.count)
    let program = cshaping_subset(font, glyphs.map(\.number), glyphs.count, &identifiers)
    defer { program.map { cshaping_program_destroy($0) } }
    let numbers = (0..<4).map { _ in objects.reserveNumber() }
    let (font, descendant, descriptor, encoding) = (numbers[0], numbers[1], numbers[2], numbers[3])
    var programEntry = ""
    // Without it, a reader takes a font of its own.
    if let program {
      let number = objects.reserveNumber()
      programEntry = metrics.is_compact ? "/FontFile3 \(number) 0 R" : "/FontFile2 \(number) 0 R"
      var size = 0
      let bytes = cshaping_program_bytes(program, &size)
      try objects.write(
        number, metrics.is_compact ? "/Subtype /CIDFontType0C " : "/Length1 \(size) ",
        stream: Array(UnsafeBufferPointer(start: bytes, count: size)))
    }
    try objects.write(
      font,
      "<< /Type /Font /Subtype /Type0 /BaseFont /\(baseName) /Encoding \(encoding) 0 R "
        + "/DescendantFonts [\(descendant) 0 R] /ToUnicode \(unicode) 0 R >>")

    let system = "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
    let kind = metrics.is_compact ? "/CIDFontType0" : "/CIDFontType2 /CIDToGIDMap /Identity"
    let widths = zip(identifiers, glyphs).sorted { $0.0 < $1.0 }
      .map { "\($0) [\(PDFSyntax.number($1.advance))]" }.joined(separator: " ")
    try objects.write(
      descendant,
      "<< /Type /Font /Subtype \(kind) /BaseFont /\(baseName) \(system) /FontDescriptor \(descriptor) 0 R "
        + "/W [\(widths)] >>")
    let box = [metrics.left, metrics.bottom, metrics.right, metrics.top].map(PDFSyntax.number)
      .joined(separator: " ")
    let (ascent, descent) = (PDFSyntax.number(metrics.ascent), PDFSyntax.number(metrics.descent))
    try objects.write(
      descriptor,
      "<< /Type /FontDescriptor /FontName /\(baseName) /Flags 4 /FontBBox [\(box)] /ItalicAngle 0 /Ascent \(ascent) "
        + "/Descent \(descent) /CapHeight \(ascent) /StemV 80 \(programEntry) >>")
    let identified = identifiers.enumerated().map { "<\(digits(of: UInt16($0 + 1)))> \($1)" }
    try objects.write(
      encoding, "/Type /CMap /CMapName /\(name) \(system) /WMode 0 ",
      stream: CharacterMap.stream(
        name, system: "Identity", kind: 1, codes: "<0000> <FFFF>", section: "cidchar", identified))
    return font
  }

  /// Writes the pictures, each as an image that the description of its glyph draws.
  private func writePictures(to objects: inout ObjectWriter, unicode: Int) throws(Errno) -> Int {
    var (images, procedures, names, widths) = ("", "", "", "")
    for (index, glyph) in glyphs.enumerated() {
      var drawing = "\(PDFSyntax.number(glyph.advance)) 0 d0"
      var picture = cshaping_picture()
      defer { cshaping_picture_free(&picture) }
      if cshaping_draw(font, glyph.number, &picture), let samples = picture.samples {
        let image = objects.reserveNumber()
        try objects.write(
          image,
          "/Type /XObject /Subtype /Image /Width \(picture.width) /Height \(picture.height) /BitsPerComponent 8 "
            + "/ColorSpace /DeviceRGB /Interpolate true ",
          stream: Array(
            UnsafeBufferPointer(start: samples, count: picture.width * picture.height * 3)))
        let matrix = [picture.shown_width, 0, 0, picture.shown_height, picture.x, picture.y]
        drawing += " q \(matrix.map(PDFSyntax.number).joined(separator: " ")) cm /P\(index) Do Q"
        images += "/P\(index) \(image) 0 R "
      }
      let procedure = objects.reserveNumber()
      try objects.write(procedure, stream: Array(drawing.utf8))
      procedures += "/g\(index) \(procedure) 0 R "
      names += " /g\(index)"
      widths += "\(PDFSyntax.number(glyph.advance)) "
    }
    let number = objects.reserveNumber()
    try objects.write(
      number,
      "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 0 0] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 1 "
        + "/LastChar \(glyphs.count) /Widths [\(widths)] /Encoding << /Type /Encoding /Differences [1\(names)] >>\n"
        + "/CharProcs << \(procedures)>>\n/Resources << /XObject << \(images)>> >> /ToUnicode \(unicode) 0 R >>"
    )
    return number
  }

  /// Six letters, which mark the name of a subset, and differ from font to font.
  private static func tag(_ index: Int) -> String {
    "THUMB" + String(Unicode.Scalar(UInt8(ascii: "A") + UInt8(index % 26)))
  }

  private static func text<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// Where a font is.
struct FontPlace: Hashable {
  private let path: [UInt8]
  private let index: CInt

  init(_ place: cshaping_place) {
    path = withUnsafeBytes(of: place.path) { Array($0.prefix { $0 != 0 }) }
    index = place.index
  }
}

/// A CMap: what the codes of a font stand for.
///
/// *Source*: ISO 32000-1, 9.7.5; Adobe Technical Note #5014.
private enum CharacterMap {
  /// - Parameters:
  ///   - kind: 1 for CIDs, 2 for text.
  ///   - codes: the first and the last one that is possible.
  ///   - lines: one for each code.
  static func stream(
    _ name: String, system: String, kind: Int, codes: String, section: String, _ lines: [String]
  ) -> [UInt8] {
    var text = """
      /CIDInit /ProcSet findresource begin
      12 dict begin
      begincmap
      /CIDSystemInfo << /Registry (Adobe) /Ordering (\(system)) /Supplement 0 >> def
      /CMapName /\(name) def
      /CMapType \(kind) def
      1 begincodespacerange
      \(codes)
      endcodespacerange

      """
    // A section has at most a hundred lines.
    for start in stride(from: 0, to: lines.count, by: 100) {
      let part = lines[start..<min(start + 100, lines.count)]
      text += "\(part.count) begin\(section)\n\(part.joined(separator: "\n"))\nend\(section)\n"
    }
    return Array((text + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n").utf8)
  }
}
