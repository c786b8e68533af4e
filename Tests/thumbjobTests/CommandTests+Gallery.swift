import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Galleries of the built binary: their sizes, and those that are sent to others.
  @Suite struct Galleries {
    private static let standalone = ["images", "--html", "web", "--html-standalone", "-s", "thumb=40"] + large
    private static let large = ["-s", "large=80"]
    private static let copies = "web/page/pictures"

    /// What a gallery lists.
    private struct Listed: Decodable {
      struct Size: Decodable { let name, folder: String }
      struct Picture: Decodable { let source: String }

      let sizes: [Size]
      let originals: String?
      let pictures: [Picture]
      let missing: [Picture]
    }

    private func listed(_ folder: TemporaryFolder) throws -> Listed {
      let text = try folder.bytes("web/page/data.js").dropFirst("window.gallery=".utf8.count).dropLast(2)
      return try JSONDecoder().decode(Listed.self, from: text)
    }

    /// The pictures that a gallery lists and has no file for, from the files in its folder alone.
    private func lost(_ folder: TemporaryFolder) throws -> [String] {
      let listed = try listed(folder)
      return listed.sizes.flatMap { size in listed.pictures.map { "web/\(size.folder)/\($0.source)" } }
        .filter { !folder.exists($0) }
    }

    private func inode(_ path: String) -> UInt64? {
      var status = stat()
      return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
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

    @Test func aStandaloneGalleryHasAllThatItShowsAndNothingElse() async throws {
      let folder = try TemporaryFolder.withPhotos()
      try folder.write(Array("no photo".utf8), to: "images/broken.jpg")
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, Self.standalone, in: folder)
      #expect(ending.status == 1 && ending.errors.hasSuffix("\ngallery web: 12 pictures\n"), "\(ending.errors)")
      let listed = try listed(folder)
      #expect(listed.sizes.map(\.folder) == ["page/pictures/thumb", "page/pictures/large"])
      #expect(listed.originals == nil && listed.missing.isEmpty)
      #expect(try lost(folder) == [])
      // They take no room: each is a second name of a thumbnail.
      let names = folder.files(below: "thumbs")
      #expect(folder.files(below: Self.copies) == names && names.count == 24)
      for name in names { #expect(inode(folder("thumbs/\(name)")) == inode(folder("\(Self.copies)/\(name)"))) }
    }

    @Test func asPhotosChangeAStandaloneGalleryFollowsAndTouchesNothingElse() async throws {
      let folder = try TemporaryFolder.withPhotos(4)
      _ = try await BuiltCommand.run(executable: BuiltCommand.path, Self.standalone, in: folder)
      let names = folder.files(below: "images")
      let changed = "\(Self.copies)/large/\(names[0])"
      let gone = "\(Self.copies)/large/\(names[1])"
      let same = "\(Self.copies)/large/\(names[2])"
      // As after a copy of the whole folder, or on another disk: equal, and no second name.
      let equal = try folder.bytes(same)
      try FileManager.default.removeItem(atPath: folder(same))
      try folder.write(equal, to: same)
      let before = (inode(folder(same)), inode(folder(changed)))
      try folder.write(SyntheticPhoto(seed: 9, width: 320, height: 200).jpeg(), to: "images/\(names[0])")
      try FileManager.default.removeItem(atPath: folder("images/\(names[1])"))
      try folder.write(Array("mine".utf8), to: "\(Self.copies)/notes.txt")
      try folder.write(equal, to: "\(Self.copies)/large/.thumbjob.tmp")
      try folder.write(equal, to: "\(Self.copies)/old/2020/a.jpg")

      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, Self.standalone, in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(inode(folder(same)) == before.0 && inode(folder(changed)) != before.1)
      #expect(try folder.bytes(changed) == folder.bytes("thumbs/large/\(names[0])"))
      #expect(!folder.exists(gone) && folder.exists("thumbs/large/\(names[1])"))
      #expect(!folder.exists("\(Self.copies)/old"))
      #expect(folder.files(below: Self.copies).count == 7 && folder.exists("\(Self.copies)/notes.txt"))
      #expect(try lost(folder) == [])
      let again = try await BuiltCommand.run(
        executable: BuiltCommand.path, Self.standalone + ["--json", "--quiet"], in: folder)
      #expect(again.output.contains(#""event":"gallery","outcome":"up-to-date""#), "\(again.output)")

      // Without the option, it shows the thumbnails where they are, and has no copies.
      let plain = try await BuiltCommand.run("images", "--html", "web", in: folder)
      #expect(plain.status == 0 && folder.files(below: Self.copies) == ["notes.txt"], "\(plain.errors)")
    }

    @Test func aFileThatIsNoThumbnailIsNeverReplacedByACopy() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let photo = try folder.bytes("images/0/photo 0.jpg")
      let place = "\(Self.copies)/large/0/photo 0.jpg"
      try folder.write(photo, to: place)
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, Self.standalone, in: folder)
      #expect(
        ending.status == 73 && ending.errors.contains("\(place): exists and is not a thumbnail"), "\(ending.errors)")
      #expect(try folder.bytes(place) == photo && !folder.exists("web/index.html"))
    }

    @Test func galleryAndContactSheetHaveATitle() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let named = try await BuiltCommand.run(
        "images", "--html", "web", "--contact-sheet", "s.pdf", "--title", "  Trip to\tRome ", in: folder)
      #expect(named.status == 0, "\(named.errors)")
      #expect(
        String(decoding: try folder.bytes("web/page/data.js"), as: UTF8.self).contains("\"title\":\"Trip to Rome\""))
      let usual = try await BuiltCommand.run("images", "--html", "web", in: folder)
      #expect(usual.status == 0)
      #expect(String(decoding: try folder.bytes("web/page/data.js"), as: UTF8.self).contains("\"title\":\"images\""))
      let alone = try await BuiltCommand.run("images", "--title", "Rome", in: folder)
      #expect(alone.status == 64 && alone.errors.contains("there is neither a gallery nor a contact sheet"))
    }

    @Test func aStandaloneGalleryNeedsAFolderOfItsOwn() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      for (options, text) in [
        (["--html-standalone"], "--html-standalone: needs “html”"),
        (
          ["--html", "web", "--html-standalone", "-o", "web/thumbs"],
          "--html-standalone: the output web/thumbs is in the folder"
        ),
        (["--html", ".", "--html-standalone"], "--html-standalone: the output thumbs is in the folder"),
        (["--html", "web", "--share"], "did you mean --html-standalone?"),
      ] {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, ["images"] + options, in: folder)
        #expect(ending.status == 64 && ending.errors.contains(text), "\(ending.errors)")
      }
      // The thumbnails themselves may be where copies would be.
      let beside = try await BuiltCommand.run("images", "--html", "web", "-o", Self.copies, in: folder)
      #expect(beside.status == 0 && folder.files(below: Self.copies).count == 2, "\(beside.errors)")
    }

    @Test func aKillAtAnyMomentLosesNoPictureOfAStandaloneGallery() async throws {
      let folder = try TemporaryFolder.withPhotos()
      let arguments = Self.standalone + ["--quiet", "--max", "2"]
      let start = ContinuousClock.now
      let whole = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
      let time = ContinuousClock.now - start
      #expect(whole.status == 0)
      let files = folder.files(below: "web")
      for moment in 1...8 {
        // Every second time there is nothing before; otherwise each copy is replaced.
        if moment % 2 == 0 { try? FileManager.default.removeItem(atPath: folder("web")) }
        let changed = arguments + ["-q", "\(moment + 40)"]
        _ = try await BuiltCommand.run(executable: BuiltCommand.path, changed, in: folder) { run in
          try await Task.sleep(for: time * (moment + 2) / 10)
          run.send(SIGKILL)
        }
        if folder.exists("web/page/data.js") { #expect(try lost(folder) == [], "killed at moment \(moment)") }
      }
      // A photo that was being made at four of the kills would not be tried.
      let last = try await BuiltCommand.run(
        executable: BuiltCommand.path, arguments + ["--retry-failed"], in: folder)
      #expect(last.status == 0 && folder.files(below: "web") == files, "\(last.errors)")
    }

    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func onAFullDiskAStandaloneGalleryStaysAsItWas() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let words = ["images", "--html", "web", "--html-standalone", "-s", "thumb=120", "-s", "large=1600"]
      try FileManager.default.createDirectory(atPath: folder("web"), withIntermediateDirectories: false)
      let disk = try #require(MountedFolder(at: folder("web"), options: "size=512k"))
      defer { withExtendedLifetime(disk) {} }
      // Another disk has no second names of thumbnails, so their contents are copied.
      let first = try await BuiltCommand.run(executable: BuiltCommand.path, words, in: folder)
      #expect(first.status == 0, "\(first.errors)")
      let files = folder.files(below: "web")
      for seed in 1...20 {
        try folder.write(SyntheticPhoto(seed: seed, width: 1200, height: 800).jpeg(), to: "images/\(seed).jpg")
      }
      let full = try await BuiltCommand.run(executable: BuiltCommand.path, words, in: folder)
      #expect(full.status == 74 && full.errors.contains("cannot be written: No space left on device"), "\(full.errors)")
      #expect(try lost(folder) == [] && listed(folder).pictures.count == 2)
      for seed in 1...20 { try FileManager.default.removeItem(atPath: folder("images/\(seed).jpg")) }
      let last = try await BuiltCommand.run(executable: BuiltCommand.path, words, in: folder)
      #expect(last.status == 0 && folder.files(below: "web") == files, "\(last.errors)")
    }

    @Test func aReportMakesAStandaloneGalleryToo() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      _ = try await BuiltCommand.run("images", "-o", "a", in: folder)
      _ = try await BuiltCommand.run("images/0", "-o", "b", "-s", "64", in: folder)
      let ending = try await BuiltCommand.run("report", "a", "--html", "web", "--html-standalone", in: folder)
      #expect(ending.status == 0 && ending.errors == "gallery web: 2 pictures\n", "\(ending.errors)")
      #expect(folder.files(below: Self.copies) == folder.files(below: "a"))
      let listed = try listed(folder)
      #expect(listed.sizes.map(\.folder) == [Self.copies.replacing("web/", with: "")] && listed.originals == nil)
      let two = try await BuiltCommand.run("report", "a", "b", "--html", "web", "--html-standalone", in: folder)
      #expect(two.status == 0, "\(two.errors)")
      #expect(folder.files(below: Self.copies).allSatisfy { $0.hasPrefix("a/") || $0.hasPrefix("b/") })
      let mistake = try await BuiltCommand.run("report", "a", "--html-standalone", in: folder)
      #expect(mistake.status == 64 && mistake.errors.contains("needs “html”"), "\(mistake.errors)")
    }
  }
}
