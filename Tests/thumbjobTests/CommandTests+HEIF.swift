import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// HEIC files as cameras and other programs write them, and damaged ones.
  @Suite(.timeLimit(.minutes(2))) struct HEIF {
    /// A file of one picture.
    private func file(_ picture: CodedPicture) -> [UInt8] {
      var file = TestHEIF()
      file.primary = file.add(picture)
      return file.bytes
    }

    /// One process decodes both files, so that memory of the first picture is there for the second. The large one gets memory
    /// that the kernel maps.
    @Test(arguments: [
      CodedPicture.hevcSlices.without(unit: 1), .hevcSlices.without(unit: 3), .hevcLargeSlices.without(unit: 1),
    ])
    func aPictureThatLacksASliceFailsAndShowsNothingOfTheOneBefore(_ picture: CodedPicture) async throws {
      let folder = TemporaryFolder()
      try folder.write(file(.hevcColors), to: "images/1.heic")
      try folder.write(file(picture), to: "images/2.heic")
      for isolation in ["auto", "never"] {
        let arguments = ["images", "--max", "1", "--out", isolation, "--isolate", isolation]
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
        let message = "thumbjob: images/2.heic: damaged: a part of a tile is missing"
        #expect(ending.status == 1 && ending.errorLines.first ?? "" == message, "\(ending.errors)")
        #expect(folder.files(below: isolation) == ["1.heic.jpg"])
      }
    }

    @Test func aTileThatLacksASliceFailsThePicture() async throws {
      let folder = TemporaryFolder()
      var file = TestHEIF()
      let tiles = [file.add(.hevcSlices), file.add(CodedPicture.hevcTurnedSlices.without(unit: 3))]
      file.primary = file.add(
        TestHEIF.Item(
          type: "grid", data: TestHEIF.grid(rows: 1, columns: 2, 128, 64), properties: [TestHEIF.size(128, 64)],
          isInItemData: true))
      file.refer("dimg", from: file.primary, to: tiles)
      try folder.write(file.bytes, to: "images/grid.heic")
      let ending = try await BuiltCommand.run("images", in: folder)
      let message = "thumbjob: images/grid.heic: damaged: a part of a tile is missing"
      #expect(ending.status == 1 && ending.errorLines.first ?? "" == message, "\(ending.errors)")
    }

    /// The memory for pictures of 8192 × 8192 pixels, 100 MiB, would be more than the decoder process may have.
    @Test func aPictureThatIsCodedMuchLargerThanItsTileIsRefused() async throws {
      let folder = TemporaryFolder()
      let huge = CodedPicture.hugeParameters
      try folder.write(file(CodedPicture.hevcSlices.preceded(by: huge)), to: "images/data.heic")
      var configured = CodedPicture.hevcSlices
      configured.configuration[22] += 1
      configured.configuration += [33 | 0x80, 0, 1] + TestHEIF.number(huge.count, 2) + huge
      try folder.write(file(configured), to: "images/configuration.heic")
      let ending = try await BuiltCommand.run("images", "--max", "1", in: folder)
      let message = "damaged: a tile is coded with 8192 x 8192 pixels instead of 64 x 64"
      #expect(ending.status == 1, "\(ending.errors)")
      #expect(
        ending.errorLines.prefix(2) == [
          "thumbjob: images/configuration.heic: \(message)", "thumbjob: images/data.heic: \(message)",
        ], "\(ending.errors)")
    }

    /// A picture of 512 × 512 pixels with a thumbnail of 64 × 64.
    private func file(smaller: CodedPicture) -> [UInt8] {
      var file = TestHEIF()
      file.primary = file.add(.hevcLargeSlices)
      let thumbnail = file.add(smaller)
      file.refer("thmb", from: thumbnail, to: [file.primary])
      return file.bytes
    }

    @Test func theWholePictureIsUsedIfItsThumbnailIsDamaged() async throws {
      let folder = TemporaryFolder()
      try folder.write(file(smaller: .hevcSlices), to: "images/sound.heic")
      try folder.write(file(smaller: CodedPicture.hevcSlices.without(unit: 2)), to: "images/damaged.heic")
      let ending = try await BuiltCommand.run("images", "--size", "32", "-v", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      // The thumbnail has colours, and the picture is grey.
      #expect(try folder.bytes("thumbs/sound.heic.jpg") != folder.bytes("thumbs/damaged.heic.jpg"))
      let warning =
        "images/damaged.heic: a smaller version of it in the file is not used: damaged: a part of a tile is missing"
      #expect(ending.errorLines.contains(warning[...]), "\(ending.errors)")
      #expect(!ending.errors.contains("images/sound.heic: "), "\(ending.errors)")
      let strict = try await BuiltCommand.run(
        "images", "--size", "32", "--out", "strict", "--fail-on", "warning", in: folder)
      #expect(strict.status == 1 && folder.files(below: "strict") == ["sound.heic.jpg"], "\(strict.errors)")
    }

    @Test func aPictureWhoseVersionsAreAllDamagedFails() async throws {
      let folder = TemporaryFolder()
      var file = TestHEIF()
      file.primary = file.add(CodedPicture.hevcLargeSlices.without(unit: 1))
      let thumbnail = file.add(CodedPicture.hevcSlices.without(unit: 0))
      file.refer("thmb", from: thumbnail, to: [file.primary])
      try folder.write(file.bytes, to: "images/1.heic")
      let ending = try await BuiltCommand.run("images", "--size", "32", in: folder)
      let message = "thumbjob: images/1.heic: damaged: a part of a tile is missing"
      #expect(ending.status == 1 && ending.errorLines.first ?? "" == message, "\(ending.errors)")
    }
  }
}
