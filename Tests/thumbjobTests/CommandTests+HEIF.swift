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
  }
}
