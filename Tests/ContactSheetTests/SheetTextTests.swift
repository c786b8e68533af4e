import TestSupport
import Testing

@testable import ContactSheet

@Suite(.timeLimit(.minutes(5))) struct SheetTextTests {
  @Test(arguments: [
    ("IMG_1.jpg", "IMG_1.jpg"), ("Käse", "K\u{E4}se"), ("Ka\u{308}se", "K\u{E4}se"), ("€–…", "\u{80}\u{96}\u{85}"),
    ("ž\u{9D}", "\u{9E}?"), ("写真.jpg", "??.jpg"), ("a\nb\tc\r\nd", "a?b?c?d"), ("👩‍👩‍👧‍👦🇩🇪", "??"), ("שלום", "????"),
    ("q\u{308}", "?"), ("\u{7F}\u{80}", "??"), ("", ""),
  ])
  func aCharacterOutsideTheFontIsAQuestionMark(text: String, codes: String) {
    #expect(WinAnsi.codes(text) == codes.unicodeScalars.map { UInt8($0.value) })
  }

  @Test(arguments: [
    (0, "0"), (12, "12"), (-0.5, "-0.5"), (1.23456, "1.2346"), (0.0004, "0.0004"), (0.00004, "0"), (99.99999, "100"),
    (-0.00001, "0"), (7.05, "7.05"),
  ])
  func aNumberHasFourDecimalsAtMost(value: Double, text: String) {
    #expect(PDFSyntax.number(value) == text)
  }

  @Test func aStringEscapesWhatWouldEndIt() {
    #expect(PDFSyntax.literal(Array(#")\(a"#.utf8) + [0xE9, 0x0A, 0x7F]) == #"(\)\\\(a\351\012\177)"#)
  }

  @Test func aTextStringHasEveryCharacterAndNoEscape() {
    #expect(PDFSyntax.text(")\n€😀") == "<FEFF0029000A20ACD83DDE00>")
    #expect(PDFSyntax.text("\u{1B}en") == "<FEFFFFFD0065006E>")
  }

  @Test func aLongTextIsCutBetweenCharacters() {
    let limit = PDFSyntax.textLimit
    #expect(PDFSyntax.clipped(String(repeating: "a", count: limit)).utf16.count == limit)
    let emoji = "a" + String(repeating: "😀", count: limit)
    #expect(PDFSyntax.clipped(emoji).utf16.count == limit - 1 && emoji.hasPrefix(PDFSyntax.clipped(emoji)))
  }

  @Test func aTextIsAsWideAsTheFontSays() {
    // From the font's metrics: A 667, V 667, i 222, space 278, ellipsis 1000.
    #expect(Helvetica.width(WinAnsi.codes("AVi …"), size: 1000) == 2834)
  }

  @Test func aTextThatFitsStaysAsItIs() {
    let codes = WinAnsi.codes("DSC_0001.jpg")
    let width = Helvetica.width(codes, size: 8)
    #expect(Helvetica.shortened(codes, size: 8, to: width) == codes)
    #expect(Helvetica.shortened(codes, size: 8, to: width - 0.01) != codes)
  }

  @Test(arguments: [
    ("a-very-long-name-of-a-holiday-picture-0042.jpeg", "a-very-long…icture-0042.jpeg"),
    ("a-very-long-name-without-an-extension-at-all", "a-very-long-na…tension-at-all"),
    (".a-hidden-file-whose-dot-begins-its-name", ".a-hidden-file-…gins-its-name"),
    ("name.a-long-ending-that-is-not-an-extension", "name.a-long-…-an-extension"),
  ])
  func aLongNameLosesItsMiddleAndKeepsItsExtension(name: String, shown: String) {
    #expect(Helvetica.shortened(WinAnsi.codes(name), size: 7.5, to: 100) == WinAnsi.codes(shown))
  }

  @Test func aShortenedTextIsNeverWiderThanItsPlace() {
    var numbers = SplitMix(seed: 3)
    for _ in 0..<1000 {
      let codes = (0..<Int.random(in: 0...260, using: &numbers)).map { _ in UInt8.random(in: 32...255, using: &numbers)
      }
      let (size, limit) = (Double.random(in: 4...7.5, using: &numbers), Double.random(in: 0...200, using: &numbers))
      #expect(Helvetica.width(Helvetica.shortened(codes, size: size, to: limit), size: size) <= limit + 1e-9)
      let lines = Helvetica.lines(codes, size: size, width: limit, count: 3)
      #expect(lines.count <= 3 && lines.allSatisfy { Helvetica.width($0, size: size) <= limit + 1e-9 })
    }
  }

  @Test func aReasonIsBrokenAtSpaces() {
    let codes = WinAnsi.codes("the file has no pixels, and nothing else")
    let lines = Helvetica.lines(codes, size: 10, width: 70, count: 2)
    #expect(lines == ["the file has no", "pixels, and n…"].map(WinAnsi.codes))
    let first = Helvetica.lines(codes, size: 10, width: 80, count: 1)
    #expect(first == [WinAnsi.codes("the file has no…")])
  }
}
