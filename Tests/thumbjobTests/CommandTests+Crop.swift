import TestSupport
import Testing

extension CommandTests {
  @Suite struct Crop {
    @Test func aThumbnailIsUpToDateOnlyAtItsPosition() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      func run(_ size: String) async throws -> String {
        try await BuiltCommand.run("images", "-s", size, in: folder).errors
      }
      #expect(try await run("40x90^").hasPrefix("1 thumbnail in "))
      #expect(try await run("40x90^centre") == "1 up to date\n")
      for position in ["left", "right", "0.3,0.2", "attention", "top-left"] {
        #expect(try await run("40x90^\(position)").hasPrefix("1 thumbnail in "), "\(position)")
        #expect(try await run("40x90^\(position)") == "1 up to date\n")
      }
      #expect(try await run("40x90^0,0") == "1 up to date\n")
    }

    @Test func positionsOfOneBoxHaveFoldersOfTheirOwn() async throws {
      let folder = TemporaryFolder()
      for orientation in [1, 6, 8] {
        var photo = SyntheticPhoto(seed: 3, width: orientation == 1 ? 90 : 240, height: orientation == 1 ? 240 : 90)
        photo.orientation = orientation
        try folder.write(photo.jpeg(), to: "images/\(orientation).jpg")
      }
      try folder.write(
        Array("sources: images\nsize:\n  - 60x60^top\n  - 60x60^bottom\n  - point=60x60^0.3,0.2\n".utf8), to: "job.yml")
      let ending = try await BuiltCommand.run("job.yml", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      let names = ["1.jpg", "6.jpg", "8.jpg"]
      let folders = ["60x60-fill-bottom", "60x60-fill-top", "point"]
      #expect(folder.files(below: "thumbs") == folders.flatMap { size in names.map { "\(size)/\($0)" } })
      for name in names {
        #expect(try folder.bytes("thumbs/60x60-fill-top/\(name)") != folder.bytes("thumbs/60x60-fill-bottom/\(name)"))
      }
    }

    @Test func aPositionThatIsNoneIsRefusedWithTheWayOut() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let ending = try await BuiltCommand.run("images", "-s", "100x100^topp", in: folder)
      #expect(ending.status == 64)
      let refusal =
        "thumbjob: --size: “100x100^topp” is not a size: “topp” is not a position, which is top, bottom, left, right, a "
        + "corner such as top-left, attention, or a point such as 0.3,0.2; for example 300x200^top\n"
      #expect(ending.errors == refusal)
    }
  }
}
