import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Runs every file in jobs/ unchanged, over pictures in the folders that `make images images-broken` makes.
  @Suite struct Jobs {
    private static let jobs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("jobs")

    private func run(_ job: String, _ arguments: String..., in folder: TemporaryFolder) async throws
      -> BuiltCommand.Ending
    {
      try FileManager.default.copyItem(at: Self.jobs, to: URL(fileURLWithPath: folder("jobs")))
      return try await BuiltCommand.run(
        executable: BuiltCommand.path, ["jobs/\(job)", "--json"] + arguments, in: folder)
    }

    private func photos() throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      for name in ["photo-01.jpg", "2024/coast/photo-02.jpg", "2025/hills/draft.jpg"] {
        try folder.write(SyntheticPhoto(seed: name.count, width: 500, height: 400).jpeg(), to: "images/\(name)")
      }
      return folder
    }

    @Test func onePhotoMakesOneThumbnail() async throws {
      let folder = try photos()
      let ending = try await run("one-photo.yml", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(folder.files(below: "thumbs") == ["one-photo/photo-01.jpg"])
    }

    @Test func galleryMakesTwoSizesOfEveryPhoto() async throws {
      let folder = try photos()
      let ending = try await run("gallery.yml", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      let names = ["2024/coast/photo-02.jpg", "photo-01.jpg"]
      #expect(
        folder.files(below: "thumbs/gallery/thumb") == names && folder.files(below: "thumbs/gallery/large") == names)
    }

    @Test func webExportMakesTwoOutputs() async throws {
      let folder = try photos()
      let ending = try await run("web-export.yml", in: folder)
      #expect(ending.status == 0 && ending.number("thumbnails") == 30, "\(ending.errors)")
      // Two widths in three formats: the photos are 500 pixels wide.
      #expect(folder.files(below: "thumbs/web-export/site").count == 18)
      #expect(folder.files(below: "thumbs/web-export/print").count == 3)
    }

    @Test func brokenFailsBadFilesAndMakesTheOthers() async throws {
      let folder = TemporaryFolder()
      let good = SyntheticPhoto(seed: 1, width: 400, height: 300).jpeg()
      try folder.write(good, to: "images-broken/good.jpg")
      try folder.write(Array(good.prefix(good.count / 2)), to: "images-broken/cut-off.jpg")
      try folder.write([], to: "images-broken/empty.jpg")
      let ending = try await run("broken.yml", in: folder)
      #expect(ending.status == 1 && ending.number("made") == 1 && ending.number("failed") == 2)
    }

    @Test func optionsOverrideAJobFile() async throws {
      let folder = try photos()
      let ending = try await run("gallery.yml", "-o", "elsewhere", "-s", "32", "images/photo-01.jpg", in: folder)
      #expect(ending.status == 0 && folder.files(below: "elsewhere") == ["photo-01.jpg"])
    }

    @Test func everyShippedJobFileHasATest() throws {
      let shipped = try FileManager.default.contentsOfDirectory(atPath: Self.jobs.path).filter { $0.hasSuffix(".yml") }
      #expect(Set(shipped) == ["one-photo.yml", "gallery.yml", "web-export.yml", "broken.yml"])
    }
  }
}
