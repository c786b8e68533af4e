import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// When photos were taken, in what the built binary makes of them.
  @Suite struct Dates {
    private struct Manifest: Decodable {
      struct Source: Decodable {
        struct Thumbnail: Decodable { let path, size: String }

        let source: String
        let taken, camera, sha256: String?
        let modified: Double?
        let thumbnails: [Thumbnail]?
      }

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
        #expect(try manifest(in: folder).allSatisfy { $0.camera == nil && $0.sha256 == nil && $0.modified == nil })
      }
    }

    @Test func galleryAndContactSheetTellItTooAndNothingTellsThePlace() async throws {
      let folder = try photos()
      let arguments = [
        "in", "--manifest", "m.json", "--manifest-fields", "camera,sha256,modified", "--html", "web", "--contact-sheet",
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

    @Test func aManifestHasCameraDigestAndTimeIfAsked() async throws {
      let folder = try photos()
      _ = try await BuiltCommand.run("in", in: folder)
      for _ in 0..<2 {
        let ending = try await BuiltCommand.run(
          "in", "--manifest", "m.json", "--manifest-fields", "camera,sha256,modified", in: folder)
        #expect(ending.status == 0, "\(ending.errors)")
        let sources = try manifest(in: folder)
        #expect(sources.map(\.camera) == ["A Camera", nil, nil, "A Camera", "A Camera"])
        #expect(sources.allSatisfy { $0.modified != nil })
        let sums = try await BuiltCommand.run("checksum", "in", in: folder).output
        for source in sources {
          let digest = try #require(source.sha256)
          #expect(sums.contains("\(digest)  \(source.source)\n"), "\(sums)")
        }
      }
      // A digest is not that of contents of before.
      try folder.write(photo(TestTags(taken: "2023:12:31 23:59:59"), seed: 2), to: "in/b.jpg")
      let before = try manifest(in: folder).map(\.sha256)
      _ = try await BuiltCommand.run("in", "--manifest", "m.json", "--manifest-fields", "sha256", in: folder)
      let after = try manifest(in: folder).map(\.sha256)
      #expect(after[1] != before[1] && after[0] == before[0] && after.allSatisfy { $0 != nil })
    }

    /// As `git clone` does, which gives every file the time of now.
    @Test func aManifestOfACopyWithOtherTimesIsTheSame() async throws {
      let folder = try photos()
      var manifests: [Data] = []
      for (copy, time) in [("one", 1_500_000_000), ("two", 1_600_000_000)] {
        try FileManager.default.createDirectory(atPath: folder(copy), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: folder("in"), toPath: folder("\(copy)/in"))
        for name in folder.files(below: "in") { try folder.setModified("\(copy)/in/\(name)", seconds: time) }
        _ = try await BuiltCommand.run(
          "\(copy)/in", "-o", "\(copy)/thumbs", "--manifest", "\(copy)/m.json", "--manifest-fields", "sha256",
          in: folder)
        manifests.append(try folder.bytes("\(copy)/m.json"))
      }
      #expect(manifests[0] == manifests[1])
    }

    @Test func aPatternPutsThumbnailsIntoFoldersByDate() async throws {
      let folder = try photos()
      let arguments = ["in", "--name", "%Y/%m/%Y-%m-%D_%s", "-s", "64", "-s", "small=16", "--json"]
      let names = ["2023/12/2023-12-31_b.jpg", "2024/07/2024-07-14_a.jpg", "2024/07/2024-07-14_d.jpg"]
      let places = names + ["2024/07/2024-07-14_e.jpg", "undated/c.jpg"]
      for run in ["made", "up_to_date", "up_to_date"] {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
        #expect(ending.status == 0 && ending.number(run) == 5, "\(ending.errors)")
        #expect(folder.files(below: "thumbs/small").sorted() == places)
      }
      let dry = try await BuiltCommand.run("in", "--name", "%Y/%s", "-o", "dry", "--dry-run", "--json", in: folder)
      #expect(dry.output.contains("dry/2024/a.jpg") && dry.output.contains("dry/undated/c.jpg"))
      // A photo that is found to have been taken on another day has another place.
      try folder.write(photo(TestTags(taken: "2022:02:02 02:02:02")), to: "in/b.jpg")
      let later = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
      #expect(later.number("made") == 1 && later.number("up_to_date") == 4, "\(later.errors)")
      #expect(folder.files(below: "thumbs/64x64").contains("2022/02/2022-02-02_b.jpg"))
    }

    @Test func aPatternNamesThumbnailsByContentsAndSettings() async throws {
      let folder = try photos()
      func names(_ arguments: String...) async throws -> Set<String> {
        try? FileManager.default.removeItem(atPath: folder("thumbs"))
        let all = ["in", "--name", "%s.%c", "--json"] + arguments
        for run in ["made", "up_to_date"] {
          let ending = try await BuiltCommand.run(executable: BuiltCommand.path, all, in: folder)
          #expect(ending.status == 0 && ending.number(run) == 5, "\(ending.errors)")
        }
        return Set(folder.files(below: "thumbs"))
      }
      let first = try await names()
      let form = /[a-e]\.[0-9a-f]{8}\.jpg/
      #expect(first.count == 5 && first.allSatisfy { $0.wholeMatch(of: form) != nil }, "\(first)")
      try folder.setModified("in/a.jpg", seconds: 1_500_000_000)
      #expect(try await names() == first)
      #expect(try await names("-q", "70").isDisjoint(with: first))
      try folder.write(photo(Self.lisbon, seed: 2), to: "in/a.jpg")
      #expect(try await names().subtracting(first).count == 1)
    }

    @Test func whatAPatternCannotKnowIsAMistake() async throws {
      let folder = try photos()
      let prune = try await BuiltCommand.run("in", "--name", "%Y/%s", "--prune", in: folder)
      #expect(prune.status == 64 && prune.errors.contains("--prune: with %W, %H, %Y, %m, %D and %c in “name”"))
      let network = try await BuiltCommand.run("http://127.0.0.1:9/a.jpg", "--name", "%s.%c", in: folder)
      #expect(network.status == 64 && network.errors.contains("named before it is fetched"))
    }

    @Test func sizesThatAreEqualHaveOneFileInManifestAndGallery() async throws {
      let folder = TemporaryFolder()
      try folder.write(SyntheticPhoto(seed: 3, width: 50, height: 40).jpeg(), to: "in/small.jpg")
      try folder.write(SyntheticPhoto(seed: 4, width: 300, height: 200).jpeg(), to: "in/large.jpg")
      let sizes = ["-s", "64x", "-s", "128x", "-s", "64^"]
      for run in ["made", "up_to_date"] {
        let ending = try await BuiltCommand.run(
          executable: BuiltCommand.path, ["in", "--manifest", "m.json", "--html", "web", "--json"] + sizes, in: folder)
        #expect(ending.status == 0 && ending.number(run) == 2, "\(ending.errors)")
        let sources = try manifest(in: folder)
        #expect(
          sources.map { $0.thumbnails?.map(\.path) } == [
            ["thumbs/64x/large.jpg", "thumbs/128x/large.jpg", "thumbs/64x64-fill/large.jpg"],
            ["thumbs/64x/small.jpg", "thumbs/64x/small.jpg", "thumbs/64x64-fill/small.jpg"],
          ])
        #expect(sources[1].thumbnails?.map(\.size) == ["64x", "128x", "64x64-fill"])
        let data = String(decoding: try folder.bytes("web/page/data.js"), as: UTF8.self)
        #expect(data.contains("\"thumbnails\":[[50,40],null,[40,40]]"), "\(data)")
      }
      // A page that names no manifest finds each size where its name says.
      #expect(try folder.bytes("thumbs/128x/small.jpg").count == folder.bytes("thumbs/64x/small.jpg").count)
    }

    @Test func fieldsWithoutAManifestAndUnknownOnesAreMistakes() async throws {
      let folder = try photos()
      let without = try await BuiltCommand.run("in", "--manifest-fields", "sha256", in: folder)
      #expect(without.status == 64 && without.errors.contains("--manifest-fields: there is no manifest"))
      let unknown = try await BuiltCommand.run("in", "--manifest", "m.json", "--manifest-fields", "gps", in: folder)
      #expect(unknown.status == 64 && unknown.errors.contains("“gps” is not one of camera, modified, sha256"))
    }
  }
}
