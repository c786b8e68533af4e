import Files
import Sourcing
import Testing
import Thumbnails

@testable import JobSettings

@Suite struct NamePatternTests {
  private func place(_ pattern: String, _ source: Path, _ size: String = "320x200") throws -> Path {
    let pattern = try NamePattern(parsing: pattern, for: "--name")
    let photo = Source(path: Path("/photos").appending(source), relativePath: source, argument: 0, origin: .folder)
    return pattern.place(
      of: source, Rendition(try SizeSpec(parsing: size, for: "--size"), pattern.format ?? .jpeg),
      NameFacts(of: photo, .uri))
  }

  @Test(
    arguments: [
      ("%d/%s-small", "2024/06/a.jpg", "2024/06/a-small.jpg"), ("%d/%s", "a.JPG", "a.jpg"),
      ("%s.webp", "d/a.jpg", "a.webp"), ("%s.AVIF", "a.jpg", "a.AVIF"), ("%s.%e", "a.png", "a.png.jpg"),
      ("%s", "2024/06/a.jpg", "a.jpg"),
      ("%d-%s", "2024/06/a.jpg", "2024-06-a.jpg"), ("%d-%s", "a.jpg", "a.jpg"), ("%d--%s", "a.jpg", "-a.jpg"),
      ("%s.%e", "x/b.c.JPEG", "b.c.JPEG"), ("%s_%e", "b.png", "b_png.jpg"),
      ("%wx%h/%d/%s", "x/a.jpg", "320x200/x/a.jpg"), ("100%%/%s", "a.jpg", "100%/a.jpg"),
      ("%s-%Wx%H", "a.jpg", "a-320x200.jpg"), ("%d/@eaDir/%f/%n", "x/a.png", "x/@eaDir/a.png/320x200.jpg"),
      // md5sum of file:///photos/x%20%C3%A4/a.jpg
      ("%n/%u.png", "x ä/a.jpg", "320x200/e2c0f0ef6f8bd90a404ef48208404b2b.png"),
      // md5sum of a%20b.jpg
      ("%d/.sh_thumbnails/%n/%U.png", "x/a b.jpg", "x/.sh_thumbnails/320x200/749d36c73fee145124f6f43eb634c68e.png"),
      ("t/%s", ".hidden", "t/.hidden.jpg"),
      ("%s", "none", "none.jpg"), ("%s.%e", "none", "none..jpg"), ("%s/%w", "a.jpg", "a/320.jpg"),
      ("x//%s", "a.jpg", "x/a.jpg"),
    ] as [(String, Path, Path)]) func thePartsOfASourceAreInsertedIntoThePattern(
      pattern: String, source: Path, place: Path
    ) throws
  {
    #expect(try self.place(pattern, source) == place)
  }

  @Test func aBoxWithoutAWidthOrHeightHasNoneInTheName() throws {
    #expect(try place("%s-%wx%h", "a.jpg", "x200") == "a-x200.jpg")
  }

  /// A source may be called `...jpg` or `.thumbjob.jpg`.
  @Test(
    arguments: [
      ("%s/a", "...jpg", "_../a.jpg"), ("%s/a", "..jpg", "_./a.jpg"), ("%s/a", ".thumbjob.jpg", "_.thumbjob/a.jpg"),
      ("%e/%s", "a", "_/a.jpg"),
    ] as [(String, Path, Path)]) func noNameLeadsOutOfTheOutputOrIntoItsWorkingFolder(
      pattern: String, source: Path, place: Path
    ) throws
  {
    #expect(try self.place(pattern, source) == place)
  }

  @Test(arguments: [
    ("x", "“x” has none of %s, %f, %u and %U, so all photos of a folder would have one place"),
    ("", "“” has no name for the file"), ("%s/", "“%s/” has no name for the file"),
    ("/%s", "“/%s” begins with a slash, but a place is relative to the output folder"),
    ("../%s", "“../%s” has “..”, which no folder of a place may be called"),
    (".thumbjob/%s", "“.thumbjob/%s” has “.thumbjob”, which no folder of a place may be called"),
    ("%s%", "“%s%” has a % that none of s, e, f, d, n, u, U, w, h, W, H, Y, m, D, c and % follows"),
    ("a\u{FFFD}%s", "“a\u{FFFD}%s” is not valid UTF-8"),
    ("%S", "“%S” has a % that none of s, e, f, d, n, u, U, w, h, W, H, Y, m, D, c and % follows"),
    ("%Y-%m-%d_%s", "“%Y-%m-%d_%s” has %d, which is the folder of the photo, after %m; the day is %D"),
  ]) func aPatternThatCannotNamePlacesIsRejected(pattern: String, reason: String) {
    #expect(throws: TextError("--name: \(reason)")) { try NamePattern(parsing: pattern, for: "--name") }
    #expect(throws: TextError.self) { try NamePattern(parsing: "%s\0", for: "--name") }
  }

  @Test(
    arguments: [
      ("%Y/%m/%s", "undated/a.jpg"), ("%Y/%Y-%m-%D/%s", "undated/a.jpg"), ("%Y-%m-%D_%s", "undated_a.jpg"),
      ("%Y%m%D-%s", "undated-a.jpg"), ("%Y/%m%D-%s", "undated/a.jpg"), ("%s.%D", "a.undated.jpg"),
      ("by day %D/%s", "by day undated/a.jpg"), ("%Y/x%m/%s", "undated/x/a.jpg"),
    ] as [(String, Path)]) func aPhotoWithoutADateHasOneWordInsteadOfIt(pattern: String, place: Path) throws
  {
    #expect(try self.place(pattern, "2024/a.jpg") == place)
  }

  @Test func twoSizesMayNotHaveOnePlace() throws {
    var settings = JobSettings()
    settings.outputs[0].sizes = try ["64", "64^", "32"].map { try SizeSpec(parsing: $0, for: "size") }
    try settings.validate()
    settings.outputs[0].name = try NamePattern(parsing: "%s", for: "name")
    try settings.validate()
    settings.outputs[0].name = try NamePattern(parsing: "%s-%w", for: "name")
    let message =
      "“%s-%w” gives the sizes 64x64 and 64x64^ one place; without %w and %h each has a folder of its own"
    #expect(throws: TextError(in: "name", message)) { try settings.validate() }
  }
}
