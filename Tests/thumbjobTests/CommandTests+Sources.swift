import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Which files are sources, and what happens to the others: no original is passed over unnamed.
  @Suite struct Sources {
    private func run(_ arguments: String..., in folder: TemporaryFolder) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
    }

    @Test(arguments: [
      (["images", "-o", "images"], "images: is the output folder or in it, where nothing is a source"),
      (["images/0", "-o", "images"], "images/0: is the output folder or in it, where nothing is a source"),
      (
        ["images/0/photo 0.jpg", "images/0", "-o", "images/0"],
        "is the output folder or in it, where nothing is a source"
      ),
      (
        ["more", "images", "-o", "images"],
        "images: cannot be the output folder: it is in a source folder and has photos"
      ),
      (["images", "-o", "images/0"], "images/0: cannot be the output folder: it is in a source folder and has photos"),
    ])
    func photosThatWouldBePassedOverAreRefusedBeforeAnythingIsWritten(arguments: [String], text: String) async throws {
      let folder = try TemporaryFolder.withPhotos(4)
      try folder.write([], to: "more/empty")
      let before = folder.files(below: "images")
      for dry in [["--dry-run"], []] {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments + dry, in: folder)
        #expect(ending.status == 73 && ending.errorLines.count == 1, "\(ending.errors)")
        #expect(
          ending.errors.contains(text) && ending.errors.contains("; choose another with --out"), "\(ending.errors)")
      }
      #expect(folder.files(below: "images") == before && folder.leftovers.isEmpty)
      #expect(try await run(".", "-o", "out", "--json", in: folder).number("made") == 4)
    }

    @Test func anOutputFolderAmongTheArgumentsIsPassedOverByName() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      for dry in [["--dry-run"], [], ["--dry-run"], []] {
        let ending = try await BuiltCommand.run(
          executable: BuiltCommand.path, ["images", "thumbs", "--json"] + dry, in: folder)
        #expect(ending.status == 0 && ending.number("found") == 2, "\(ending.errors)")
        #expect(ending.errors.contains("1 in the output folder passed over (thumbs)"), "\(ending.errors)")
      }
    }

    @Test func nothingIsCreatedIfNoSourceExists() async throws {
      let folder = TemporaryFolder()
      for arguments in [["nowhere"], ["nowhere", "elsewhere"], ["--files0-from", "nolist"]] {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
        #expect(ending.status == 66, "\(ending.errors)")
      }
      #expect(!FileManager.default.fileExists(atPath: folder("thumbs")))
    }

    @Test func thumbnailsAreNeverSourcesHoweverTheyAreNamed() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      _ = try await run("images", in: folder)
      _ = try await run("images", "-o", "images/small", in: folder)
      let walked = try await run(".", "-o", "out", "--json", in: folder)
      #expect(walked.number("made") == 3 && walked.number("own_thumbnails") == 6 && walked.status == 0)
      let named = try await run("thumbs/0/photo 0.jpg", "-o", "other", "--json", in: folder)
      #expect(named.number("made") == 0 && named.number("own_thumbnails") == 1 && named.status == 0)
      #expect(named.errors.contains("thumbs/0/photo 0.jpg: is a thumbnail that thumbjob has made; passed over"))
      let list = ["thumbs", "thumbs/0", "thumbs/0/photo 0.jpg", "images/0/photo 0.jpg"].map { $0 + "\0" }.joined()
      try folder.write(Array(list.utf8), to: "list")
      let listed = try await run("--files0-from", "list", "--json", in: folder)
      #expect(listed.number("found") == 1 && listed.number("in_output") == 3 && listed.status == 0, "\(listed.errors)")
    }

    @Test func aFolderThatWasOnceAnOutputIsNotPassedOver() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      _ = try await run("images", "-o", "photos", in: folder)
      try folder.write(SyntheticPhoto(seed: 7, width: 64, height: 48).jpeg(), to: "photos/original.jpg")
      let ending = try await run("photos", "-o", "out", "--json", in: folder)
      #expect(ending.number("made") == 1 && folder.files(below: "out") == ["original.jpg"])
    }

    @Test func severalSourcesAreMirroredBelowTheFolderTheyShare() async throws {
      let folder = TemporaryFolder()
      for (seed, name) in ["pics/x.jpg", "pics2/x.jpg", "pics2/deep/x.jpg"].enumerated() {
        try folder.write(SyntheticPhoto(seed: seed, width: 64, height: 48).jpeg(), to: name)
      }
      _ = try await run("pics", "pics2", "-o", "folders", in: folder)
      #expect(folder.files(below: "folders") == ["pics/x.jpg", "pics2/deep/x.jpg", "pics2/x.jpg"])
      _ = try await run("pics/x.jpg", "pics2/x.jpg", "-o", "files", in: folder)
      #expect(folder.files(below: "files") == ["pics/x.jpg", "pics2/x.jpg"])
      _ = try await run("pics2/x.jpg", "pics2/deep/x.jpg", "-o", "near", in: folder)
      #expect(folder.files(below: "near") == ["deep/x.jpg", "x.jpg"])
      _ = try await run("pics2", "-o", "one", in: folder)
      #expect(folder.files(below: "one") == ["deep/x.jpg", "x.jpg"])
    }

    @Test func thumbnailsOfOtherSizesThatStayAreNamed() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let first = try await run("images", in: folder)
      #expect(!first.errors.contains("left as they were"))
      let second = try await run("images", "-s", "200", "-s", "large=900", in: folder)
      #expect(
        second.errors.contains(
          "left as they were, from earlier runs with other sizes or formats: thumbnails in thumbs (size 256x256)"),
        "\(second.errors)")
      let dry = try await run("images", "-s", "300", "-s", "b=900", "--dry-run", in: folder)
      #expect(dry.errors.contains("thumbs (size 256x256), thumbs/200x200 (size 200x200), thumbs/large (size 900x900)"))
    }

    @Test func thumbnailsOfAnotherSizeThatAreReplacedAreNamed() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      _ = try await run("images", in: folder)
      #expect(!(try await run("more", "-s", "200", in: folder)).errors.contains("replaced"), "there is no such source")
      let second = try await run("images", "-s", "300", in: folder)
      #expect(
        second.errors.contains("\nreplaced 1 thumbnail of another size; several -s make and keep several\n"),
        "\(second.errors)")
      #expect(!(try await run("images", "-s", "300", "-q", "70", in: folder)).errors.contains("replaced"))
      _ = try await run("images", "-s", "200", in: folder)
      #expect(try await run("images", "-s", "200", in: folder).errors == "1 up to date\n")
    }

    @Test func aTreeThatBeginsElsewhereIsNamed() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write(SyntheticPhoto(seed: 1, width: 64, height: 48).jpeg(), to: "more/a.jpg")
      #expect(!(try await run("images", in: folder)).errors.contains("mirror"))
      let note = /the thumbnails (?:would )?mirror the tree below (.*); those made before mirror the one below (.*)/
      for dry in ["--dry-run", "--quality=80"] {
        let both = try #require(try await run("images", "more", dry, in: folder).errors.firstMatch(of: note))
        #expect(both.2 == "\(both.1)/images")
      }
      #expect(!(try await run("images", "more", in: folder)).errors.contains("mirror"))
      #expect(try await run("more", in: folder).errors.contains(note))
      #expect(!(try await run("nothing", in: folder)).errors.contains("mirror"), "nothing is made")
    }

    @Test func evenAQuietRunSaysThatItFoundNothing() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try FileManager.default.createDirectory(atPath: folder("empty"), withIntermediateDirectories: false)
      #expect(try await run("empty", "--quiet", in: folder).errors == "thumbjob: no picture found in ./empty\n")
      #expect(
        try await run("images", "--quiet", "--include", "x", in: folder).errors
          == "thumbjob: no picture found in ./images\nthumbjob: --include x: matched nothing\n")
      #expect(try await run("images", "--quiet", in: folder).errors.isEmpty)
    }

    @Test(arguments: [
      ("[ab", "a [ has no ]"), ("*.{jpg", "a { has no }"), ("!x", "a ! does not negate it"), ("../x", "has .."),
    ])
    func aPatternThatCannotMatchIsExitStatus64(pattern: String, reason: String) async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      for option in ["--include", "--exclude"] {
        let ending = try await run("images", option, pattern, in: folder)
        #expect(ending.status == 64 && ending.errors.contains(reason), "\(ending.errors)")
      }
    }

    @Test func aPatternThatMatchedNothingIsNamed() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let ending = try await run(
        "images", "--include", "*.{JPG,png}", "--include", "*.gif", "--exclude", "cache/", in: folder)
      #expect(ending.status == 0 && ending.errors.contains("--include *.gif: matched nothing"), "\(ending.errors)")
      #expect(ending.errors.contains("--exclude cache/: matched nothing") && !ending.errors.contains("png}: matched"))
    }

    @Test func hiddenFilesAreCountedAndMadeOnRequest() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write(SyntheticPhoto(seed: 1, width: 64, height: 48).jpeg(), to: "images/.hidden.jpg")
      let ending = try await run("images", "--json", in: folder)
      #expect(ending.number("made") == 1 && ending.number("hidden") == 1 && ending.errors.contains("1 hidden"))
      #expect(try await run("images", "--hidden", "--json", in: folder).number("made") == 1)
      #expect(folder.files(below: "thumbs").contains(".hidden.jpg"))
    }

    @Test func aMisspelledSourceIsRecognised() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let ending = try await run("./imagse", "./other", in: folder)
      #expect(
        ending.errorLines.prefix(2) == [
          "thumbjob: ./imagse: no such file or folder; did you mean ./images?",
          "thumbjob: ./other: no such file or folder",
        ], "\(ending.errors)")
    }

    @Test func aMissingJobFileIsExitStatus66() async throws {
      let ending = try await run("nosuch.yml", in: TemporaryFolder())
      #expect(
        ending.status == 66 && ending.errorLines == ["thumbjob: nosuch.yml: no such job file"], "\(ending.errors)")
    }
  }
}
