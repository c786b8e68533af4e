import Testing

@testable import Previews

/// The picture in a form that comes in pieces.
@Suite struct FormTests {
  private static func form(_ parts: [(head: String, body: String)], end: String = "--\r\n") -> [UInt8] {
    Array((parts.map { "--B\r\n\($0.head)\r\n\r\n\($0.body)\r\n" }.joined() + "--B\(end)").utf8)
  }

  private static func picture(
    _ form: [UInt8], pieces: Int, field: String? = "file"
  ) throws(PreviewError) -> [UInt8] {
    guard var reader = try FormReader(contentType: "multipart/form-data; boundary=\"B\"", field: field) else {
      return []
    }
    var picture: [UInt8] = []
    for start in stride(from: 0, to: form.count, by: pieces) {
      picture += try reader.take(Array(form[start..<min(start + pieces, form.count)]))
    }
    try reader.checkEnd()
    return picture
  }

  /// Contents that look like the beginning of a boundary.
  private static let contents = "a\r\n--\r\n--A\r\n-B\r\r\n\n--C\r\n"

  @Test(arguments: [1, 2, 3, 5, 7, 1000])
  func aPictureIsFoundWhereverThePiecesEnd(_ pieces: Int) throws {
    let form = Self.form([
      ("Content-Disposition: form-data; name=\"other\"", "x\r\n--"),
      ("Content-Disposition: form-data; name=\"file\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg", Self.contents),
      ("Content-Disposition: form-data; name=\"last\"", "y"),
    ])
    #expect(String(decoding: try Self.picture(form, pieces: pieces), as: UTF8.self) == Self.contents)
  }

  @Test func theFirstFileCountsIfNoFieldIsNamed() throws {
    let form = Self.form([
      ("content-disposition: form-data; name=text", "t"),
      ("content-disposition: form-data; name=x; filename=b", "picture"),
    ])
    #expect(String(decoding: try Self.picture(form, pieces: 4, field: nil), as: UTF8.self) == "picture")
  }

  @Test(arguments: [
    ("--B--\r\n", 400), ("", 400), ("--B\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nx\r\n--B--", 400),
    ("--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc", 400),
    ("--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n--B--", 400),
  ])
  func aFormWithoutItsPictureIsRefused(_ text: String, _ status: Int) {
    for pieces in [1, 3, 1000] {
      do throws(PreviewError) {
        let picture = try Self.picture(Array(text.utf8), pieces: pieces)
        // An empty picture is refused later.
        #expect(picture.isEmpty)
      } catch {
        #expect(error.status == status)
      }
    }
  }

  @Test func aLongHeadIsRefused() {
    let form = "--B\r\nX: " + String(repeating: "y", count: 20_000)
    #expect(throws: PreviewError.self) { try Self.picture(Array(form.utf8), pieces: 4096) }
  }

  @Test func boundariesMustBeThere() throws {
    #expect(throws: PreviewError.self) { try FormReader(contentType: "multipart/form-data", field: nil) }
    let reader = try FormReader(contentType: "image/jpeg", field: nil)
    #expect(reader == nil ? true : false)
  }
}
