import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// When photos were taken, in what the built binary makes of them.
  @Suite struct Dates {
    private struct Manifest: Decodable {
      struct Source: Decodable { let taken: String? }

      let sources: [Source]
    }

    private func manifest(in folder: TemporaryFolder) throws -> [Manifest.Source] {
      try JSONDecoder().decode(Manifest.self, from: Data(folder.bytes("m.json"))).sources
    }

    private func photo(_ tags: TestTags, seed: Int = 1) -> [UInt8] {
      var photo = SyntheticPhoto(seed: seed, width: 90, height: 60)
      photo.tags = tags
      return photo.jpeg()
    }

    private static let lisbon = TestTags(
      taken: "2024:07:14 18:03:12", offset: "+01:00", camera: "A Camera  ", place: "Lisbon")

    /// Two JPEG photos, one without an offset, and one photo of each of the other formats that these tests can write.
    private func photos() throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      try folder.write(photo(Self.lisbon), to: "in/a.jpg")
      try folder.write(photo(TestTags(taken: "2023:12:31 23:59:59")), to: "in/b.jpg")
      try folder.write(photo(TestTags(taken: "0000:00:00 00:00:00", camera: "   ")), to: "in/c.jpg")
      var png = TestPNG(width: 40, height: 30, colorType: 2, bitDepth: 8)
      png.after = [(type: "eXIf", data: Self.lisbon.bytes)]
      try folder.write(png.bytes, to: "in/d.png")
      var heic = TestHEIF()
      heic.primary = heic.add(.hevcColors)
      let exif = heic.add(TestHEIF.Item(type: "Exif", data: [0, 0, 0, 0] + Self.lisbon.bytes))
      heic.refer("cdsc", from: exif, to: [heic.primary])
      try folder.write(heic.bytes, to: "in/e.heic")
      return folder
    }

    @Test func aManifestTellsWhenPhotosWereTakenInEveryRun() async throws {
      let folder = try photos()
      for run in ["made", "up_to_date", "up_to_date"] {
        let ending = try await BuiltCommand.run("in", "--manifest", "m.json", "--json", in: folder)
        #expect(ending.status == 0 && ending.number(run) == 5, "\(ending.errors)")
        let taken = try manifest(in: folder).map(\.taken)
        let lisbon = "2024-07-14T18:03:12+01:00"
        #expect(taken == [lisbon, "2023-12-31T23:59:59", nil, lisbon, lisbon])
      }
    }

    @Test func galleryAndContactSheetTellItTooAndNothingTellsThePlace() async throws {
      let folder = try photos()
      let arguments = [
        "in", "--manifest", "m.json", "--html", "web", "--contact-sheet",
        "sheet.pdf", "--json",
      ]
      for _ in 0..<2 {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
        #expect(ending.status == 0, "\(ending.errors)")
        let data = String(decoding: try folder.bytes("web/page/data.js"), as: UTF8.self)
        #expect(data.components(separatedBy: #""taken":"2024-07-14T18:03:12+01:00""#).count == 4, "\(data)")
        let sheet = try folder.bytes("sheet.pdf")
        #expect(sheet.range(of: Data("(a.jpg \\267 2024-07-14)".utf8)) != nil)
        #expect(sheet.range(of: Data("(c.jpg)".utf8)) != nil)
      }
      for name in folder.files(below: ".") where !name.hasPrefix("in/") {
        #expect(try folder.bytes(name).range(of: Data("Lisbon".utf8)) == nil, "\(name)")
        // Thumbnails have no metadata unless `--keep` asks for it.
        if name.hasPrefix("thumbs/"), name.hasSuffix(".jpg") {
          for date in ["2024:07", "2024-07"] {
            #expect(try folder.bytes(name).range(of: Data(date.utf8)) == nil, "\(name)")
          }
        }
      }
    }
  }
}
