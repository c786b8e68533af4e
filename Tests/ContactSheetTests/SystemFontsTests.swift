import TestSupport
import Testing

@testable import ContactSheet

/// What the fonts of this machine show.
private enum InstalledFonts {
  static let hasFonts = shows("я")
  static let hasPictures = shows("🎉👨‍👩‍👧.jpg") && !hasOutlines("🎉")
  static let hasChinese = shows("東京")

  private static func shows(_ text: String) -> Bool {
    let fonts = SystemFonts()
    return fonts.line(text, limit: .infinity) != nil && fonts.unshown == nil
  }

  private static func hasOutlines(_ text: String) -> Bool {
    let fonts = SystemFonts()
    return fonts.line(text, limit: .infinity)?.glyphs.contains { fonts.fonts[$0.font].digits(of: $0.code).count == 4 }
      ?? false
  }
}

/// Names that Helvetica cannot show. The font DejaVu Sans, which these tests need, has those of the first ones.
@Suite(.timeLimit(.minutes(5)), .enabled(if: InstalledFonts.hasFonts, "needs fonts and the libraries that find them"))
struct SystemFontsTests {
  static let names = ["Берег моря.jpg", "صورة.jpg", "Ωmega 😀.jpg", "q\u{308}.jpg", "שלום עולם 3.jpg"]

  private func cell(_ name: String) -> SheetCell { SheetCell(caption: name, picture: .missing(reason: "none")) }

  @Test func aNameIsInAFontThatTheFileHas() throws {
    let document = try SheetFile.of(Self.names.map(cell), usesSystemFonts: true)
    // What runs from right to left has no replacement text.
    let captions = Self.names.flatMap { $0.contains(/[صש]/) ? ["none"] : ["none", $0] }
    #expect(try document.texts(0) == captions + ["Photos", "page 1"])
    // Only what Helvetica has is in it.
    let inHelvetica = try document.shownTexts(0)
    #expect(inHelvetica == Self.names.map { _ in "none" } + ["Photos", "page 1"])
    let fonts = document.objects.values.filter { $0.value.contains("/Subtype /Type0 ") }
    #expect(!fonts.isEmpty)
    for font in fonts {
      let descendant = try #require(font.references("DescendantFonts").first.flatMap { document.objects[$0] })
      let descriptor = try #require(descendant.references("FontDescriptor").first.flatMap { document.objects[$0] })
      let program = descriptor.references("FontFile2") + descriptor.references("FontFile3")
      let size = try #require(program.first.flatMap { document.objects[$0]?.stream?.count })
      #expect((400..<30_000).contains(size), "a subset has \(size) bytes")
      #expect(font.references("Encoding").count == 1 && font.references("ToUnicode").count == 1)
    }
  }

  @Test func theTextOfEveryCodeIsTold() throws {
    let document = try SheetFile.of([cell("Берег")], usesSystemFonts: true)
    let line = try #require(document.content(0).split(separator: "\n").first { $0.hasSuffix("] TJ ET") })
    let font = try #require(document.objects.values.first { $0.value.contains("/Subtype /Type0 ") })
    let map = try #require(font.references("ToUnicode").first.flatMap { document.objects[$0]?.stream })
    var texts: [Substring: String] = [:]
    for match in String(decoding: map, as: UTF8.self).matches(of: /<([0-9A-F]{4})> <([0-9A-F]+)>\n/) {
      texts[match.1] = PDFDocument.text(hexadecimal: String(match.2))
    }
    let shown = line.matches(of: /<([0-9A-F]{4})>/).map { texts[$0.1] ?? "?" }
    #expect(shown == ["Б", "е", "р", "е", "г"])
  }

  @Test func rightToLeftTextIsInVisualOrder() throws {
    let fonts = SystemFonts()
    let line = try #require(fonts.line("אב12.jpg", limit: .infinity))
    let text = line.glyphs.map { glyph in fonts.fonts[glyph.font].text(of: glyph.code) }.joined()
    #expect(text == "jpg.12בא")
    #expect(zip(line.glyphs, line.glyphs.dropFirst()).allSatisfy { $0.x < $1.x })
  }

  @Test func arabicLettersAreJoined() throws {
    let fonts = SystemFonts()
    // The same letter alone, and at the beginning, in the middle and at the end of a word.
    let alone = try #require(fonts.line("ع", limit: .infinity))
    let word = try #require(fonts.line("ععع", limit: .infinity))
    #expect(Set(alone.glyphs.map(\.code) + word.glyphs.map(\.code)).count == 4)
  }

  @Test func aLongNameLosesItsMiddleAndKeepsItsExtension() throws {
    let fonts = SystemFonts()
    for limit in stride(from: 300.0, to: 40_000, by: 900) {
      let name = String(repeating: "Слишком длинное имя ", count: 4) + "42.jpeg"
      guard let line = fonts.line(name, limit: limit) else {
        #expect(limit < 2000)
        continue
      }
      #expect(line.width <= limit)
      let text = line.glyphs.map { fonts.fonts[$0.font].text(of: $0.code) }.joined()
      if limit > 6000 { #expect(text.hasPrefix("Сл") && text.hasSuffix(".jpeg") && text.contains("…")) }
      if limit > 8000 { #expect(line.width > limit - 1500) }
    }
  }

  @Test func whatNoFontHasIsAQuestionMarkAndTold() throws {
    let file = try SheetFile()
    var writer = ContactSheetWriter(to: file.number, title: "Photos")
    // For private use, and in no font.
    let names = ["\u{10FFFC}я.jpg", "я.jpg", "\u{10FFFD}\u{301}.jpg"]
    try writer.addPage(names.map(cell))
    try writer.finish()
    #expect(writer.unshown == UnshownTexts(count: 2, first: names[0], reason: nil))
    #expect(try file.document().texts(0).contains(names[2]))
  }

  @Test(.enabled(if: InstalledFonts.hasPictures, "needs fonts-noto-color-emoji")) func emojiOfOneSequenceAreOnePicture()
    throws
  {
    let document = try SheetFile.of([cell("🎉👨‍👩‍👧.jpg"), cell("🎉.jpg")], usesSystemFonts: true)
    let font = try #require(document.objects.values.first { $0.value.contains("/Subtype /Type3 ") })
    #expect(font.number("LastChar") == 2)
    let images = document.objects.values.filter { $0.value.contains("/Subtype /Image ") }
    #expect(images.count == 2)
    for image in images {
      let (width, height) = (try #require(image.number("Width")), try #require(image.number("Height")))
      #expect((16...128).contains(width) && image.stream?.count == width * height * 3)
    }
  }

  @Test(.enabled(if: InstalledFonts.hasChinese, "needs fonts-noto-cjk or another font of Chinese"))
  func namesMayHaveSeveralFonts()
    throws
  {
    let document = try SheetFile.of([cell("東京 Фото 서울.jpg")], usesSystemFonts: true)
    #expect(try document.texts(0).contains("東京 Фото 서울.jpg"))
    #expect(document.objects.values.filter { $0.value.contains("/Subtype /Type0 ") }.count >= 2)
  }

  @Test func theSameNamesGiveTheSameBytes() throws {
    func sheet() throws -> [UInt8] {
      let file = try SheetFile()
      var writer = ContactSheetWriter(to: file.number, grid: SheetGrid(columns: 1, rows: 2), title: "Фото")
      for name in Self.names { try writer.addPage([cell(name)], header: "папка") }
      try writer.finish()
      return try file.bytes()
    }
    #expect(try sheet() == sheet())
  }

  @Test func thousandsOfNamesTakeNoMoreFontsThanTheirGlyphs() throws {
    func size(_ pages: Int) throws -> (file: Int, fonts: Int) {
      let file = try SheetFile()
      var writer = ContactSheetWriter(to: file.number, grid: SheetGrid(columns: 1, rows: 1), title: "Photos")
      for page in 0..<pages { try writer.addPage([cell("Берег \(page % 10).jpg")]) }
      try writer.finish()
      let streams = try file.document().objects.values.filter { $0.value.contains("/Length1 ") }
      return (streams.count, streams.reduce(0) { $0 + ($1.stream?.count ?? 0) })
    }
    #expect(try size(10) == size(500))
  }

  @Test func theContentOfAPageIsWithinItsBound() throws {
    // Letters with many accents have the most glyphs.
    for name in [String(repeating: "я\u{301}\u{308}", count: 300), String(repeating: "עа", count: 400)] {
      for grid in [SheetGrid(), SheetGrid(columns: 20, rows: 20), SheetGrid(columns: 1, rows: 20)] {
        let file = try SheetFile()
        var writer = ContactSheetWriter(to: file.number, grid: grid, title: name)
        var page = SheetPage(grid)
        for index in 0..<grid.count { _ = page.add(cell(name), under: "\(index / grid.columns)\(name)") }
        try writer.addPage(page)
        try writer.finish()
        let size = try file.document().content(0).unicodeScalars.count
        #expect(size <= PageContent.sizeLimit(grid), "\(grid)")
      }
    }
  }
}

@Suite struct ContactSheetHeadings {
  @Test func eachFolderHasAHeadingWhereItBegins() throws {
    let file = try SheetFile()
    let grid = SheetGrid(columns: 2, rows: 3)
    var writer = ContactSheetWriter(to: file.number, grid: grid, title: "Photos")
    var page = SheetPage(grid)
    for (folder, name) in [("a", "1"), ("a", "2"), ("a", "3"), ("b", "4")] {
      _ = page.add(SheetCell(caption: name, picture: .missing(reason: "")), under: folder)
    }
    try writer.addPage(page)
    try writer.finish()
    #expect(try file.document().texts(0) == ["a", "1", "2", "3", "b", "4", "Photos", "page 1"])
  }
}
