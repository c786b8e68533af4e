import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Galleries of the built binary: their sizes.
  @Suite struct Galleries {
    /// What a gallery lists.
    private struct Listed: Decodable {
      struct Size: Decodable { let name, folder: String }

      let sizes: [Size]
    }

    private func listed(_ folder: TemporaryFolder) throws -> Listed {
      let text = try folder.bytes("web/page/data.js").dropFirst("window.gallery=".utf8.count).dropLast(2)
      return try JSONDecoder().decode(Listed.self, from: text)
    }

    @Test func aGalleryHasASmallAndALargeSizeUnlessSizesAreGiven() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let first = try await BuiltCommand.run("images", "--html", "web", in: folder)
      #expect(first.status == 0, "\(first.errors)")
      #expect(
        first.errors.hasPrefix("gallery: in the sizes thumb=480x480 and large=1600x1600; -s chooses others\n"),
        "\(first.errors)")
      #expect(try listed(folder).sizes.map(\.folder) == ["../thumbs/thumb", "../thumbs/large"])
      let quiet = try await BuiltCommand.run("images", "--html", "web", "--quiet", in: folder)
      #expect(quiet.status == 0 && quiet.errors == "", "\(quiet.errors)")
      // Also if they are those of a job without a gallery.
      for options in [["-s", "256"], ["--preset", "archive"], ["--name", "%d/%s-small"]] {
        let ending = try await BuiltCommand.run(
          executable: BuiltCommand.path, ["images", "--html", "web", "-o", "out"] + options, in: folder)
        #expect(ending.status == 0 && !ending.errors.contains("in the sizes"), "\(ending.errors)")
        #expect(try listed(folder).sizes.map(\.folder) == ["../out"])
      }
      try folder.write(Array("sources: images\nsize: 100\nhtml: web\n".utf8), to: "job.yml")
      let job = try await BuiltCommand.run("job.yml", in: folder)
      #expect(job.status == 0 && !job.errors.contains("in the sizes"), "\(job.errors)")
    }
  }
}
