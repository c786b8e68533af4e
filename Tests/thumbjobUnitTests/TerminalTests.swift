import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct TerminalTests {
  @Test(arguments: [
    (["LANG": "de_DE.UTF-8"], Charset.unicode), (["LANG": "C.utf8"], .unicode), (["LC_CTYPE": "UTF-8"], .unicode),
    (["LANG": "ca_ES.UTF-8@valencia"], .unicode), ([:], .ascii), (["LANG": "C"], .ascii), (["LANG": "POSIX"], .ascii),
    (["LANG": "de_DE@euro"], .ascii), (["LANG": "de_DE.ISO-8859-15"], .ascii),
    (["LC_ALL": "C", "LC_CTYPE": "C.UTF-8", "LANG": "C.UTF-8"], .ascii),
    (["LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"], .unicode), (["LC_MESSAGES": "C.UTF-8"], .ascii),
  ])
  func theLocaleDecidesTheCharacters(environment: [String: String], charset: Charset) {
    #expect(Charset(environment: environment) == charset)
  }

  @Test func inASCIISymbolsAreSpeltAndNamesAreEscapedOnATerminalOnly() {
    let text = "a.jpg → ./späß · 写 256 × 171 …"
    #expect(Charset.unicode.text(text, escapingOthers: true) == text)
    #expect(Charset.ascii.text(text, escapingOthers: false) == "a.jpg -> ./späß | 写 256 x 171 ...")
    #expect(
      Charset.ascii.text(text, escapingOthers: true)
        == "a.jpg -> ./sp\\u{00E4}\\u{00DF} | \\u{5199} 256 x 171 ...")
  }

  @Test(arguments: [
    ("abc", 3), ("späß", 4), ("spa\u{308}", 3), ("写真", 4), ("한글", 4), ("→ · ━", 5), ("🌅", 2), ("🇩🇪", 4),
    ("👩‍👩‍👧", 6), ("❤️", 3), ("", 0),
  ])
  func aTextIsNeverWiderThanItsDisplayWidth(text: String, width: Int) {
    #expect(text.displayWidth == width)
  }

  @Test func aTextIsCutBetweenCharacters() {
    #expect("写真.jpg".fitted(to: 8, "…") == "写真.jpg")
    #expect("写真.jpg".fitted(to: 7, "…") == "写真.j…")
    #expect("写真.jpg".fitted(to: 4, "…") == "写…")
    #expect("写真.jpg".fitted(to: 0, "…") == "")
    #expect("a/folder/写真.jpg".fittedAtEnd(to: 10, "...") == "...真.jpg")
    #expect("spa\u{308}ß".fitted(to: 3, "") == "spa\u{308}")
    #expect("abcdef".fitted(to: 2, "...") == "..")
    let styled = StyledText("red", .failure) + StyledText(" and plain")
    #expect(styled.fitted(to: 13, "…") == styled)
    #expect(styled.fitted(to: 8, "…") == StyledText("red", .failure) + StyledText(" and") + StyledText("…"))
    #expect(styled.fitted(to: 3, "…") == StyledText("re", .failure) + StyledText("…"))
  }

  @Test func partsAreFoldedIntoLines() {
    let parts = ["one", "two", "three"].map { StyledText($0) }
    #expect(parts.folded(separator: " · ", to: nil).text == "one · two · three")
    #expect(parts.folded(separator: " · ", to: 9).text == "one · two\nthree")
    #expect(parts.folded(separator: " · ", to: 2).text == "one\ntwo\nthree", "a part is never broken")
    #expect([StyledText]().folded(separator: " · ", to: 9).isEmpty)
  }

  @Test func aPathLooksLikeOne() {
    #expect(
      ["thumbs", "./thumbs", "../x", "/x", "."].map { PlaceText.text($0) } == [
        "./thumbs", "./thumbs", "../x", "/x", ".",
      ])
    #expect(PlaceText.text(["./a", "./b", "./c"]) == "./a, ./b, ./c")
    #expect(PlaceText.text(["./a", "./b", "./c", "./d"]) == "./a, ./b and 2 more")
  }

  @Test func controlCharactersAndChangesOfDirectionAreEscaped() {
    #expect(Terminal.escaped("a\u{1B}[31mb\nc") == "a\\u{1B}[31mb\nc")
    #expect(Terminal.escaped("photo\u{202E}gpj.exe") == "photo\\u{202E}gpj.exe")
    #expect(Terminal.escaped("Grüße → 写真") == "Grüße → 写真")
  }
}
