import Foundation
import TestSupport
import Testing

extension TemporaryFolder {
  fileprivate func contents(_ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: self(name)).map { Array($0) }
  }

  func setModified(_ name: String, seconds: Int) throws {
    let time = Date(timeIntervalSince1970: Double(seconds))
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: self(name))
  }
}

extension CommandTests {
  /// `--name`: places that do not mirror the sources.
  @Suite struct Names {
    private func run(_ arguments: String..., in folder: TemporaryFolder) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(executable: BuiltCommand.path, arguments + ["--json"], in: folder)
    }

    /// Different photos with these names.
    private func photos(_ names: String...) throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      for (number, name) in names.enumerated() {
        try folder.write(SyntheticPhoto(seed: number, width: 64 + number, height: 48).jpeg(), to: name)
        try folder.setModified(name, seconds: 1_500_000_000 + number * 1000)
      }
      return folder
    }

    @Test func thumbnailsMayBeBesideTheirPhotos() async throws {
      let folder = try photos("pics/a.jpg", "pics/2024/b.jpg")
      let originals = ["pics/a.jpg", "pics/2024/b.jpg"].map { folder.contents($0) }
      for made in [2, 0] {
        let ending = try await run("pics", "-o", "pics", "--name", "%d/%s-small", in: folder)
        #expect(ending.status == 0 && ending.number("made") == made && ending.number("up_to_date") == 2 - made)
        #expect(folder.files(below: "pics") == ["2024/b-small.jpg", "2024/b.jpg", "a-small.jpg", "a.jpg"])
      }
      #expect(["pics/a.jpg", "pics/2024/b.jpg"].map { folder.contents($0) } == originals)
      // Without the name, the folder of the photos is refused as before.
      #expect(try await run("pics", "-o", "pics", in: folder).status == 73)
    }

    @Test func sizesAboveThatOfAPhotoShareOneFile() async throws {
      let folder = TemporaryFolder()
      try folder.write(SyntheticPhoto(seed: 1, width: 90, height: 60).jpeg(), to: "in/large.jpg")
      try folder.write(SyntheticPhoto(seed: 2, width: 40, height: 60).jpeg(), to: "in/small.jpg")
      try folder.write([1, 2, 3], to: "in/broken.jpg")
      let names = ["large-32.jpg", "large-64.jpg", "large-80.jpg", "small-32.jpg", "small-40.jpg"]
      for isFirst in [true, false] {
        let ending = try await run(
          "in", "-o", "web", "-s", "32x", "-s", "64x", "-s", "80x", "--name", "%s-%W", "--manifest", "m.json",
          in: folder)
        #expect(ending.status == 1 && ending.number("failed") == 1, "\(ending.errors)")
        #expect(ending.number(isFirst ? "made" : "up_to_date") == 2)
        #expect(folder.files(below: "web").filter { $0.hasSuffix(".jpg") } == names)
        let manifest = try #require(folder.contents("m.json").map { String(decoding: $0, as: UTF8.self) })
        #expect(manifest.components(separatedBy: "small-40.jpg").count == 3, "\(manifest)")
      }
      // The first of the sizes that share a file may go.
      let ending = try await run("in/small.jpg", "-o", "web", "-s", "80x", "--name", "%s-%W", in: folder)
      #expect(ending.status == 0 && folder.files(below: "web").filter { $0.hasSuffix(".jpg") } == names)
    }

    @Test func differentThumbnailsOfAPhotoDoNotShareAFile() async throws {
      let folder = try photos("a.jpg")
      for _ in 0..<2 {
        let ending = try await run("a.jpg", "-o", "web", "-s", "100x", "-s", "200x20^", "--name", "%s-%W", in: folder)
        #expect(ending.status == 1 && ending.number("failed") == 1)
        #expect(
          ending.errorLines.contains {
            $0.hasSuffix(
              "a.jpg: its thumbnails of 100x and 200x20^ differ and would have one place, web/a-64.jpg; use %w and %h, "
                + "the box of the size, in the pattern")
          }, "\(ending.errors)")
        #expect(folder.files(below: "web").filter { $0.hasSuffix(".jpg") }.isEmpty)
      }
    }

    @Test func ofTwoPhotosThatWantOnePlaceTheFirstKeepsIt() async throws {
      let folder = try photos("a/x.jpg", "b/x.jpg")
      var kept: [UInt8]?
      // One operation at a time: of two that run at once, either may be first.
      for (sources, made) in [(["a", "b"], 1), (["a", "b"], 0), (["b", "a"], 0)] {
        let ending = try await run(
          sources[0], sources[1], "-o", "flat", "--name", "%s", "--max", "1", in: folder)
        #expect(ending.status == 1 && ending.number("made") == made && ending.number("failed") == 1)
        #expect(
          ending.errorLines.contains {
            $0.hasSuffix(
              "b/x.jpg: another source has the place of its thumbnail, flat/x.jpg; rename one of the sources, or use "
                + "--name '%d/%s-%e' or another folder with --out, or give the folders of both in one run; --force replaces it"
            )
          }, "\(ending.errors)")
        #expect(ending.output.contains("\"kind\":\"collision\""))
        let thumbnail = folder.contents("flat/x.jpg")
        #expect(kept == nil || kept == thumbnail)
        kept = thumbnail
      }
      #expect(try await run("a", "b", "-o", "advised", "--name", "%d/%s-%e", in: folder).number("made") == 2)
      // The owner may change. When it is gone, the other gets its place.
      try folder.write(SyntheticPhoto(seed: 9, width: 60, height: 40).jpeg(), to: "a/x.jpg")
      #expect(try await run("a", "b", "-o", "flat", "--name", "%s", in: folder).number("made") == 1)
      // In an empty folder it might only be out of reach.
      try folder.write(Array("note".utf8), to: "a/note.txt")
      try FileManager.default.removeItem(atPath: folder("a/x.jpg"))
      for made in [1, 0] {
        let ending = try await run("a", "b", "-o", "flat", "--name", "%s", in: folder)
        #expect(ending.status == 0 && ending.number("made") == made, "\(ending.errors)")
      }
    }

    @Test func aPhotoOfALaterRunDoesNotReplaceTheThumbnailOfAnother() async throws {
      let folder = try photos("a/x.jpg", "b/x.jpg")
      func report() async throws -> [String] {
        let ending = try await BuiltCommand.run(
          executable: BuiltCommand.path, ["report", "thumbs", "--json"], in: folder)
        return ending.output.split(separator: "\n").map(String.init)
      }
      #expect(try await run("a", in: folder).number("made") == 1)
      let first = folder.contents("thumbs/x.jpg")
      let second = try await run("b", in: folder)
      #expect(second.status == 1 && second.number("failed") == 1 && folder.contents("thumbs/x.jpg") == first)
      #expect(second.errors.contains("b/x.jpg: another source has the place of its thumbnail, thumbs/x.jpg; "))
      let before = try await report()
      #expect(before.count == 1 && before[0].contains("a/x.jpg"))
      let forced = try await run("b", "--force", in: folder)
      #expect(forced.status == 0 && forced.errors.contains("replaced 1 thumbnail of other sources, which exist"))
      let after = try await report()
      #expect(after.count == 1 && after[0].contains("b/x.jpg"))
      #expect(try await run("a", in: folder).number("failed") == 1)
    }

    @Test func aPhotoThatLosesItsPlaceIsNoLongerReportedAsMade() async throws {
      let folder = try photos("in/scan.png.jpg")
      #expect(try await run("in", in: folder).number("made") == 1)
      try folder.write(SyntheticPhoto(seed: 7, width: 70, height: 48).jpeg(), to: "in/scan.png")
      let second = try await run("in", in: folder)
      #expect(second.number("made") == 1 && second.number("failed") == 1)
      let report = try await BuiltCommand.run(executable: BuiltCommand.path, ["report", "thumbs"], in: folder)
      #expect(report.output.hasPrefix("1 source: 1 made (1 thumbnail)"), "\(report.output)")
    }

    private static let hasOneCase =
      system("command -v mkntfs lowntfs-3g >/dev/null && test -w /dev/fuse && unshare -m true 2>/dev/null") == 0

    @Test(.enabled(if: hasOneCase, "needs root, ntfs-3g and /dev/fuse"))
    func whereCapitalLettersDoNotCountThePhotoThatHasThePlaceKeepsIt() async throws {
      let folder = try photos("in/A.jpg", "in/a.jpg")
      let script = """
        truncate -s 8M disk && mkntfs -Q -F -q disk && mkdir out && lowntfs-3g -o ignore_case disk out || exit 99
        for run in 1 2; do "$0" in -o out/thumbs; echo "$? $(cksum < out/thumbs/a.jpg)"; done
        rm in/A.jpg; "$0" in -o out/thumbs 2>/dev/null; echo "$? $(cksum < out/thumbs/a.jpg)"
        "$0" in -o whole 2>/dev/null; echo "$? $(cksum < whole/a.jpg)"
        """
      let ending = try await BuiltCommand.run(
        executable: "/usr/bin/env", ["unshare", "-m", "sh", "-c", script, BuiltCommand.path], in: folder)
      let lines = ending.output.split(separator: "\n")
      try #require(ending.status == 0 && lines.count == 4, "\(ending)")
      #expect(lines[0].hasPrefix("1 ") && lines[1] == lines[0], "\(ending)")
      // The marks differ, because they name the source from the output.
      let (there, whole) = (lines[2].split(separator: " "), lines[3].split(separator: " "))
      #expect(there.first == "0" && there.last == whole.last && lines[2] != lines[0], "\(ending)")
      #expect(ending.errors.components(separatedBy: "another source has the place of its thumbnail").count == 3)
    }

    @Test func aFolderInThePlaceOfAThumbnailIsNamed() async throws {
      let folder = try photos("in/x.jpg")
      try folder.write([], to: "thumbs/x.jpg/note")
      let ending = try await run("in", in: folder)
      #expect(ending.status == 1)
      #expect(ending.errors.contains("thumbs/x.jpg: cannot be written: a folder has this name"), "\(ending.errors)")
    }

    @Test func foldersOfOneTimeThatTradeTheirNamesGetNewThumbnails() async throws {
      let folder = try photos("in/a/x.jpg", "in/b/x.jpg")
      for name in ["in/a/x.jpg", "in/b/x.jpg"] { try folder.setModified(name, seconds: 1_500_000_000) }
      #expect(try await run("in", in: folder).number("made") == 2)
      for (from, to) in [("a", "c"), ("b", "a"), ("c", "b")] {
        try FileManager.default.moveItem(atPath: folder("in/\(from)"), toPath: folder("in/\(to)"))
      }
      #expect(try await run("in", in: folder).number("made") == 2)
      #expect(try await run("in", in: folder).number("up_to_date") == 2)
    }

    @Test func aRenamedFolderKeepsItsThumbnails() async throws {
      let folder = try photos("old/x.jpg", "old/y.jpg")
      #expect(try await run("old", in: folder).number("made") == 2)
      try FileManager.default.moveItem(atPath: folder("old"), toPath: folder("new"))
      for _ in 0..<2 { #expect(try await run("new", in: folder).number("up_to_date") == 2) }
    }

    @Test func photosOfOneTimeThatTradeTheirNamesGetNewThumbnails() async throws {
      let folder = try photos("in/a.jpg", "in/b.jpg")
      for name in ["in/a.jpg", "in/b.jpg"] { try folder.setModified(name, seconds: 1_500_000_000) }
      #expect(try await run("in", in: folder).number("made") == 2)
      /// The bytes after the mark, which names the source.
      func picture(_ name: String) -> ArraySlice<UInt8>? { folder.contents(name)?.dropFirst(20 + 4 + 59) }
      let (first, second) = (picture("thumbs/a.jpg"), picture("thumbs/b.jpg"))
      for (from, to) in [("a.jpg", "c"), ("b.jpg", "a.jpg"), ("c", "b.jpg")] {
        try FileManager.default.moveItem(atPath: folder("in/\(from)"), toPath: folder("in/\(to)"))
      }
      #expect(try await run("in", in: folder).number("made") == 2)
      #expect(picture("thumbs/a.jpg") == second && picture("thumbs/b.jpg") == first && first != second)
      #expect(try await run("in", in: folder).number("up_to_date") == 2)
    }

    @Test func whatIsGoneIsCountedAlsoWhereNamesTellContents() async throws {
      let folder = try photos("in/a.jpg", "in/b.jpg")
      func run() async throws -> BuiltCommand.Ending {
        try await self.run("in", "-s", "60", "-s", "30", "--name", "%s-%w-%c", in: folder)
      }
      #expect(try await run().number("made") == 2)
      try FileManager.default.removeItem(atPath: folder("in/a.jpg"))
      let after = try await run()
      #expect(after.status == 0 && after.number("gone_thumbnails") == 2, "\(after.output)")
      let line = "2 thumbnails are of photos that are gone; where they are, only the manifest of an earlier run tells "
      #expect(after.errorLines.contains { $0.hasPrefix(line) }, "\(after.errors)")
    }

    @Test func anEntryOfAListDoesNotFailForAFileThatIsNoEntry() async throws {
      let folder = try photos("in/scan", "in/scan.jpg")
      func run(_ entries: String...) async throws -> BuiltCommand.Ending {
        try folder.write(Array(entries.map { "\($0)\0" }.joined().utf8), to: "list")
        let arguments = ["--files0-from", "list", "--max", "1", "--json"]
        return try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
      }
      #expect(try await run("in/scan.jpg").number("made") == 1)
      // Both want the same place. The first had it, and keeps it in every later run.
      for _ in 0..<2 {
        let both = try await run("in/scan", "in/scan.jpg")
        #expect(both.status == 1 && both.number("up_to_date") == 1 && both.number("failed") == 1)
        #expect(both.errors.hasPrefix("thumbjob: in/scan: another source has the place of its thumbnail, thumbs/"))
      }
    }

    @Test func aCopyOfTheWholeTreeAndAFurtherSourceKeepTheThumbnails() async throws {
      let folder = try photos("a/x.jpg", "b/y.jpg")
      _ = try await run("a", "-o", "a", "--name", "%d/%s-small", in: folder)
      try FileManager.default.copyItem(atPath: folder("a"), toPath: folder("copy"))
      try folder.setModified("copy/x.jpg", seconds: 1_700_000_000)
      let copy = try await run("copy", "-o", "copy", "--name", "%d/%s-small", in: folder)
      #expect(copy.status == 0 && copy.number("up_to_date") == 1 && copy.number("made") == 0, "\(copy.errors)")
      _ = try await run("a", "-o", "flat", "--name", "%s", in: folder)
      let both = try await run("a", "b", "-o", "flat", "--name", "%s", in: folder)
      #expect(both.status == 0 && both.number("up_to_date") == 1 && both.number("made") == 1, "\(both.errors)")
    }

    @Test func aPlaceIsKeptOverSeparateRuns() async throws {
      let folder = try photos("a/x.jpg", "b/x.jpg")
      for (source, status) in [("a", 0), ("b", 1), ("a", 0), ("b/x.jpg", 1)] {
        let ending = try await run(source, "-o", "flat", "--name", "%s", in: folder)
        #expect(ending.status == status, "\(source): \(ending.errors)")
      }
    }

    @Test(arguments: ["%s", "small/%s", "%s-%wx%h"]) func ownThumbnailsThatAreFoundAsSourcesArePassedOver(
      name: String
    ) async throws {
      let folder = try photos("pics/deep/a.jpg", "pics/b.jpg")
      for made in [2, 0] {
        let ending = try await run("pics", "-o", "pics/t", "-s", "32", "--name", name, in: folder)
        #expect(ending.status == 0 && ending.number("made") == made && ending.number("failed") == 0, "\(ending.errors)")
      }
    }

    /// A run with names makes a working folder beside the photos, which must not pass for that of a folder of thumbnails.
    @Test func afterARunWithNamesTheFolderOfThePhotosIsStillRefused() async throws {
      let folder = try photos("pics/a.jpg")
      _ = try await run("pics", "-o", "pics", "--name", "%d/%s-small", in: folder)
      let ending = try await run(".", "-o", "pics", in: folder)
      #expect(
        ending.status == 73 && ending.errors.contains("it is in a source folder and has photos"), "\(ending.errors)")
    }

    @Test func aTakenPlaceInOneOutputDoesNotPreventTheOther() async throws {
      let folder = try photos("a/x.jpg", "b/x.jpg")
      try folder.write(
        Array("sources: [a, b]\noutputs: [{out: flat, name: \"%s\"}, {out: all}]\nmax: 1\n".utf8), to: "job.yml")
      _ = try await run("job.yml", in: folder)
      #expect(folder.files(below: "all") == ["a/x.jpg", "b/x.jpg"] && folder.files(below: "flat") == ["x.jpg"])
      try FileManager.default.removeItem(atPath: folder("all/b/x.jpg"))
      #expect(try await run("job.yml", in: folder).number("failed") == 1)
      #expect(folder.files(below: "all") == ["a/x.jpg", "b/x.jpg"])
    }

    @Test func aPhotoWhoseCommentBeginsLikeAMarkIsAPhoto() async throws {
      let folder = try photos("in/a.jpg")
      let jpeg = try #require(folder.contents("in/a.jpg"))
      for comment in ["thumbjob rocks", "thumbjob 0123456789abcdef!", "thumbjob 0123456789abcde"] {
        let text = Array(comment.utf8)
        try folder.write(jpeg[..<20] + [0xFF, 0xFE, 0, UInt8(text.count + 2)] + text + jpeg[20...], to: "in/b.jpg")
        let ending = try await run("in", "--force", in: folder)
        #expect(ending.number("made") == 2, "\(comment)")
      }
    }

    @Test func ofManyPhotosThatWantOnePlaceAtOnceOneGetsIt() async throws {
      let folder = TemporaryFolder()
      for number in 0..<40 {
        try folder.write(SyntheticPhoto(seed: number, width: 64 + number, height: 48).jpeg(), to: "in/\(number)/x.jpg")
        try folder.setModified("in/\(number)/x.jpg", seconds: 1_500_000_000 + number)
      }
      let ending = try await run("in", "-o", "flat", "--name", "%s", "--max", "8", in: folder)
      #expect(ending.number("made") == 1 && ending.number("failed") == 39 && ending.addsUp)
      #expect(folder.files(below: "flat") == ["x.jpg"] && folder.leftovers.isEmpty)
    }

    @Test func aNameMayTellTheSizesApart() async throws {
      let folder = try photos("in/a.jpg")
      _ = try await run("in", "-s", "32", "-s", "40x", "--name", "%s-%wx%h", in: folder)
      #expect(folder.files(below: "thumbs") == ["a-32x32.jpg", "a-40x.jpg"])
      _ = try await run("in", "-s", "32", "-s", "40x", "-o", "two", "--name", "t/%s", in: folder)
      #expect(folder.files(below: "two") == ["32x32/t/a.jpg", "40x/t/a.jpg"])
      let clash = try await run("in", "-s", "32", "-s", "32^", "--name", "%s-%w", in: folder)
      #expect(clash.status == 64 && clash.errors.contains("gives the sizes 32x32 and 32x32^ one place"))
    }

    @Test func noPhotoIsOverwritten() async throws {
      let folder = try photos("in/a.jpg", "in/b.jpg")
      let before = folder.contents("in/b.jpg")
      let own = try await run("in/b.jpg", "-o", "in", "--name", "%s", in: folder)
      #expect(own.status == 1 && own.errors.contains("its thumbnail would overwrite the source itself"))
      try FileManager.default.moveItem(atPath: folder("in/a.jpg"), toPath: folder("in/b.jpeg"))
      let other = try await run("in/b.jpeg", "-o", "in", "--name", "%s", in: folder)
      #expect(other.status == 1 && other.errors.contains("in/b.jpg: exists and is not a thumbnail of thumbjob"))
      #expect(folder.contents("in/b.jpg") == before)
    }

    @Test func aThumbnailInAMirroredPlaceIsTakenOver() async throws {
      let folder = try photos("in/a.jpg")
      for arguments in [[], ["--name", "%d/%s"], ["--name", "%d/%s"], []] {
        let ending = try await BuiltCommand.run(
          executable: BuiltCommand.path, ["in"] + arguments + ["--json"], in: folder)
        #expect(ending.status == 0 && ending.number("made") + ending.number("up_to_date") == 1, "\(ending.errors)")
      }
    }
  }
}
