import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// What the built binary remembers, reports and prunes.
  @Suite struct Remembering {
    private func withABrokenPhoto() throws -> TemporaryFolder {
      let folder = try TemporaryFolder.withPhotos(4)
      try folder.write(try folder.bytes("images/0/photo 0.jpg").prefix(400), to: "images/broken.jpg")
      return folder
    }

    @Test func aBrokenFileIsTriedOnceAndNamedEachTime() async throws {
      let folder = try withABrokenPhoto()
      let first = try await BuiltCommand.run("images", in: folder)
      #expect(first.status == 1 && first.errors.contains("1 failed") && !first.errors.contains("--retry-failed"))
      let second = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(second.status == 1)
      let line = try #require(second.errorLines.first { $0.contains("images/broken.jpg: ") })
      #expect(line.contains(/; not tried since \d{4}-\d\d-\d\d; --retry-failed tries it$/), "\(line)")
      #expect(second.errors.contains("1 failed (in an earlier run, and not tried again)"), "\(second.errors)")
      #expect(second.output.contains("\"tried\":false") && second.output.contains("\"failed_earlier\":1"))
      let third = try await BuiltCommand.run("images", "--retry-failed", in: folder)
      #expect(third.status == 1 && !third.errors.contains("not tried"))

      try folder.write(try folder.bytes("images/0/photo 0.jpg"), to: "images/broken.jpg")
      let mended = try await BuiltCommand.run("images", in: folder)
      #expect(mended.status == 0 && folder.exists("thumbs/broken.jpg"))
      #expect(try await BuiltCommand.run("report", "--failed", in: folder).output == "")
    }

    @Test func knownFailuresAreNoFailuresOfARunThatSaysSo() async throws {
      let folder = try withABrokenPhoto()
      let known = ["images", "--known-failures", "ok"]
      func run(_ more: String...) async throws -> BuiltCommand.Ending {
        try await BuiltCommand.run(executable: BuiltCommand.path, known + more, in: folder)
      }
      let first = try await run("--quiet")
      #expect(first.status == 1 && first.errors.hasPrefix("thumbjob: images/broken.jpg: "), "\(first.errors)")
      let second = try await run()
      #expect(second.status == 0 && !second.errors.contains("broken.jpg"), "\(second.errors)")
      #expect(second.errors.contains(/\n1 known failure, first on \d{4}-\d\d-\d\d\n/), "\(second.errors)")
      let quiet = try await run("--quiet")
      #expect(quiet.status == 0 && quiet.errors == "")
      #expect(try await run("--verbose").errors.contains("images/broken.jpg: "))

      try folder.write(try folder.bytes("images/0/photo 0.jpg").prefix(500), to: "images/other.jpg")
      let new = try await run("--json")
      #expect(new.status == 1 && new.errors.contains("images/other.jpg: ") && !new.errors.contains("broken.jpg"))
      #expect(new.errors.contains("1 failed · 1 known failure"), "\(new.errors)")
      #expect(new.output.contains("\"failed_earlier\":1") && new.output.contains("\"exit_status\":1"))
    }

    @Test func aFileTellsPrometheusOfTheLastRunAndTheLastSuccess() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let words = ["images", "--metrics-file", "thumbs.prom", "--quiet"]
      @Sendable func value(_ name: String) throws -> Int? {
        let text = String(decoding: try folder.bytes("thumbs.prom"), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("thumbjob_last_run_\(name){out=\"/") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
      }
      #expect(try await BuiltCommand.run(executable: BuiltCommand.path, words, in: folder).status == 0)
      let success = try #require(try value("success_timestamp_seconds"))
      #expect(try value("made") == 2 && value("exit_status") == 0 && value("end_timestamp_seconds") == success)
      try folder.write(try folder.bytes("images/0/photo 0.jpg").prefix(400), to: "images/broken.jpg")
      #expect(try await BuiltCommand.run(executable: BuiltCommand.path, words, in: folder).status == 1)
      #expect(try value("failed") == 1 && value("exit_status") == 1 && value("success_timestamp_seconds") == success)
      #expect(folder.files(below: "").filter { $0.contains("metrics") }.isEmpty)

      let refused = try await BuiltCommand.run("images", "--metrics-file", "x.txt", in: folder)
      #expect(refused.status == 64 && refused.errors.contains("end in .prom"), "\(refused.errors)")
      let missing = try await BuiltCommand.run("images", "--retry-failed", "--metrics-file", "no/x.prom", in: folder)
      #expect(missing.errors.contains("--metrics-file no/x.prom: No such file or directory"), "\(missing.errors)")
    }

    @Test func theReportShowsFoldersAndReasons() async throws {
      let folder = try withABrokenPhoto()
      _ = try await BuiltCommand.run("images", in: folder)
      let report = try await BuiltCommand.run("report", in: folder)
      #expect(report.status == 0 && report.errors == "")
      #expect(report.output.hasPrefix("5 sources: 4 made (4 thumbnails), 1 failed; last change "), "\(report.output)")
      #expect(report.output.contains("images/0"))
      let failed = try await BuiltCommand.run("report", "thumbs", "--failed", in: folder)
      #expect(failed.output.hasPrefix("images/broken.jpg: ") && failed.output.split(separator: "\n").count == 1)
      let lines = try await BuiltCommand.run("report", "--json", "--since", "1h", in: folder).output.split(
        separator: "\n")
      #expect(lines.count == 5 && lines.allSatisfy { $0.contains("\"event\":\"remembered\"") })
      #expect(lines.contains { $0.contains("\"thumbnail\":\"thumbs/0/photo 0.jpg\"") }, "\(lines)")
      #expect(try await BuiltCommand.run("report", "--json", "--since", "2999-01-01", in: folder).output == "")
    }

    @Test func aFileOfAFormatThatIsNotReadIsNoFailureOfItsFolder() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write([0, 0, 0, 24] + Array("ftypmp42".utf8), to: "mixed/film.mp4")
      try folder.write(Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), to: "mixed/logo.svg")
      try folder.write(Array("FOVb and more".utf8), to: "mixed/old.x3f")
      try folder.write(Array("text".utf8), to: "mixed/notes.txt")
      try folder.write(try folder.bytes("images/0/photo 0.jpg"), to: "mixed/photo.jpg")
      let files = ["film.mp4", "logo.svg", "old.x3f", "notes.txt", "photo.jpg"].map { "mixed/\($0)" }
      for _ in 1...2 {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, files, in: folder)
        #expect(ending.status == 1 && !ending.errors.contains("not tried"), "\(ending.errors)")
        #expect(ending.errors.contains("mixed/film.mp4: an MP4 video, a format of which no thumbnails are made"))
      }
      let report = try await BuiltCommand.run("report", in: folder)
      #expect(report.output.hasPrefix("1 source: 1 made (1 thumbnail); last change "), "\(report.output)")
      #expect(try await BuiltCommand.run("report", "--quiet", in: folder).output == "")

      let walked = try await BuiltCommand.run("mixed", "--out", "other", "-v", in: folder)
      #expect(walked.status == 0)
      #expect(walked.errors.contains("mixed/logo.svg: an SVG picture, a format of which"), "\(walked.errors)")
    }

    @Test func theReportNamesFoldersAsTheUserSeesThem() async throws {
      let folder = try withABrokenPhoto()
      let images = "\(folder.path)/images"
      _ = try await BuiltCommand.run(images, "--out", "out/deep", in: folder)
      let report = try await BuiltCommand.run("report", "out/deep", in: folder)
      #expect(report.output.contains("  images\n") && !report.output.contains(".."), "\(report.output)")
      let quiet = try await BuiltCommand.run("report", "out/deep", "--quiet", in: folder)
      #expect(quiet.output.contains("  images\n") && !quiet.output.contains("images/0"), "\(quiet.output)")
      let other = try await BuiltCommand.run("report", "\(folder.path)/out/deep", in: TemporaryFolder())
      let absolute = try #require(other.output.split(separator: "\n").first { $0.hasSuffix("/images") })
      #expect(absolute.contains("  /") && !absolute.contains(".."), "\(other.output)")
    }

    @Test func theReportFindsWhatNoRunHasReached() async throws {
      let folder = try withABrokenPhoto()
      _ = try await BuiltCommand.run("images", in: folder)
      let complete = try await BuiltCommand.run("report", "--sources", "images", in: folder)
      #expect(complete.output.hasSuffix("\nno source is missing\n"), "\(complete.output)")
      try folder.write(try folder.bytes("images/0/photo 0.jpg"), to: "images/new/photo.jpg")
      try folder.write(Array("text".utf8), to: "images/new/notes.txt")
      let report = try await BuiltCommand.run("report", "--sources", "images", in: folder)
      #expect(report.output.hasSuffix("\n1 source missing; --failed lists them\n"), "\(report.output)")
      let failed = try await BuiltCommand.run("report", "--failed", "--sources", "images", in: folder)
      #expect(
        failed.output.split(separator: "\n").last
          == "images/new/photo.jpg: missing: not made, and no failure is remembered",
        "\(failed.output)")
      let json = try await BuiltCommand.run("report", "--json", "--failed", "--sources", "images", in: folder)
      #expect(json.output.contains("\"outcome\":\"missing\",\"source\":\"images/new/photo.jpg\""), "\(json.output)")
    }

    @Test func theReportMakesAGallery() async throws {
      let folder = try withABrokenPhoto()
      _ = try await BuiltCommand.run("images", "-s", "big=200", "-s", "small=40", in: folder)
      let ending = try await BuiltCommand.run("report", "--html", "web", in: folder)
      #expect(ending.status == 0 && ending.errors == "gallery web: 4 pictures\n", "\(ending.errors)")
      let data = String(decoding: try folder.bytes("web/page/data.js"), as: UTF8.self)
      #expect(data.contains("../thumbs/big/0/photo 0.jpg") && data.contains("\"source\":\"broken.jpg\""), "\(data)")
      try folder.write(Array("<html>".utf8), to: "site/index.html")
      let refused = try await BuiltCommand.run("report", "--html", "site", in: folder)
      #expect(refused.status == 73 && refused.errors.contains("site/index.html: exists and is not a gallery"))
    }

    @Test(arguments: [
      (["report"], 66, "thumbjob: ledger thumbs/.thumbjob/ledger: there is none; a run makes it\n"),
      (["report", "--since", "soon"], 64, "“soon” is no moment"),
      (["report", "images", "--threads", "a.json"], 64, "--threads reads a trace"),
    ])
    func aReportThatCannotBeMadeSaysWhy(arguments: [String], status: Int, line: String) async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
      #expect(ending.status == status && ending.errors.contains(line), "\(ending.errors)")
    }

    @Test func aLedgerThatCannotBeUsedIsOneLine() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      try folder.write(Array("This is a letter to my aunt, and no database.".utf8), to: "thumbs/.thumbjob/ledger")
      let ending = try await BuiltCommand.run("images", in: folder)
      #expect(ending.status == 0 && folder.exists("thumbs/0/photo 0.jpg"))
      #expect(
        ending.errorLines.filter { $0.contains("ledger") } == [
          "thumbjob: ledger thumbs/.thumbjob/ledger: it is no ledger of thumbjob; move it away, and the next run makes a new "
            + "one; the run goes on without it"
        ], "\(ending.errors)")
    }

    @Test func aKilledRunLosesNoEntryOfAThumbnail() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let arguments = TemporaryFolder.heldArguments + ["--json", "--progress", "none"]
      _ = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { run in
        try await expectEventually { run.output.split(separator: "\n").count == 12 }
        run.send(SIGKILL)
      }
      try folder.releaseHeldPlaces()
      let next = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
      #expect(next.status == 0, "\(next.errors)")
      let lines = try await BuiltCommand.run("report", "--json", in: folder).output.split(separator: "\n")
      #expect(lines.count == 34 && lines.allSatisfy { $0.contains("\"outcome\":\"made\"") }, "\(lines.count)")
    }

    @Test func aSourceDuringWhichThreeRunsDiedHasFailedInTheReportToo() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write(try folder.bytes("images/0/photo 0.jpg"), to: "more/b.jpg")
      let name = "../images/0/photo 0.jpg"
      for _ in 0..<3 {
        // What a killed run leaves: the length of the path, and the path.
        try folder.write([UInt8(name.utf8.count), 0] + name.utf8, to: "thumbs/.thumbjob/run-dead/under-way")
        try folder.write(Data(), to: "thumbs/.thumbjob/run-dead/lock")
        // The ledger has it at once, though this run does not try that source.
        _ = try await BuiltCommand.run("more", in: folder)
      }
      let next = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(next.status == 1 && next.number("failed_earlier") == 1, "\(next.errors)")
      let report = try await BuiltCommand.run("report", in: folder)
      #expect(report.output.hasPrefix("2 sources: 1 made (1 thumbnail), 1 failed; "), "\(report.output)")
      let line = try await BuiltCommand.run("report", "--failed", "--json", in: folder).output
      #expect(line.contains("\"outcome\":\"failed\"") && line.contains("the process died 3 times"), "\(line)")
    }

    @Test func anEmptyLedgerOfAPartIsPassedOver() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      _ = try await BuiltCommand.run("images", in: folder)
      try folder.write(Data(), to: "thumbs/.thumbjob/ledger-0-of-2")
      let report = try await BuiltCommand.run("report", in: folder)
      #expect(report.status == 0 && report.output.hasPrefix("3 sources: 3 made"), "\(report.errors)")
    }

    @Test func aFailureInTheLedgerOfAPartIsForgottenWithThePicture() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      try folder.write([0xFF, 0xD8, 0xFF, 0xE0, 0], to: "images/odd")
      for part in 0..<2 { _ = try await BuiltCommand.run("images", "--shard", "\(part)/2", in: folder) }
      let failed = try await BuiltCommand.run("report", "--failed", in: folder)
      #expect(failed.output.contains("images/odd"), "\(failed.output)")
      try folder.write(Data("a note".utf8), to: "images/odd")
      _ = try await BuiltCommand.run("images", in: folder)
      let report = try await BuiltCommand.run("report", "--failed", in: folder)
      #expect(!report.output.contains("images/odd"), "\(report.output)")
    }

    @Test func aRunNamesTheThumbnailsOfPhotosThatAreGone() async throws {
      let folder = try TemporaryFolder.withPhotos(12)
      _ = try await BuiltCommand.run("images", "-s", "big=200", "-s", "small=40", in: folder)
      let whole = try await BuiltCommand.run("images", "-s", "big=200", "-s", "small=40", "--json", in: folder)
      #expect(!whole.errors.contains("gone") && !whole.output.contains("gone_thumbnails"), "\(whole.errors)")
      try FileManager.default.moveItem(atPath: folder("images/0"), toPath: folder("elsewhere"))
      let run = try await BuiltCommand.run("images", "-s", "big=200", "-s", "small=40", "--json", in: folder)
      #expect(run.status == 0 && run.number("gone_thumbnails") == 8, "\(run.output)")
      #expect(
        run.errorLines.contains(
          "8 thumbnails are of photos that are gone; --prune removes them; --prune --dry-run lists them"),
        "\(run.errors)")
      let report = try await BuiltCommand.run("report", in: folder)
      #expect(
        report.output.hasPrefix("12 sources: 8 made (16 thumbnails), 4 gone (8 thumbnails); "), "\(report.output)")
      #expect(report.output.contains(/0 +0 +0 +4 +\d{4}-\d\d-\d\d +images\/0\n/))
      let lines = try await BuiltCommand.run("report", "--json", in: folder).output.split(separator: "\n")
      #expect(lines.filter { $0.contains("\"gone\":true") }.count == 4)

      try FileManager.default.removeItem(atPath: folder("images/1"))
      let most = try await BuiltCommand.run("images", "-s", "big=200", "-s", "small=40", in: folder)
      #expect(
        most.errorLines.contains(
          "16 thumbnails are of photos that are gone; --prune=all removes them, although 8 of 12 photos of images are gone; "
            + "--prune=all --dry-run lists them"), "\(most.errors)")
      let pruned = try await BuiltCommand.run("images", "-s", "big=200", "-s", "small=40", "--prune=all", in: folder)
      #expect(pruned.errors.contains("removed 16 thumbnails"), "\(pruned.errors)")
      let after = try await BuiltCommand.run("images", "-s", "big=200", "-s", "small=40", in: folder)
      #expect(!after.errors.contains("gone"), "\(after.errors)")
    }

    @Test func photosThatAreOutOfReachAreNotGone() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      _ = try await BuiltCommand.run("images", in: folder)
      // As where the disk of the folder is not mounted.
      try FileManager.default.moveItem(atPath: folder("images/0"), toPath: folder("disk"))
      try FileManager.default.createDirectory(atPath: folder("images/0"), withIntermediateDirectories: false)
      let run = try await BuiltCommand.run("images", in: folder)
      #expect(run.status == 0 && !run.errors.contains("gone"), "\(run.errors)")
      #expect(try await BuiltCommand.run("report", in: folder).output.hasPrefix("6 sources: 6 made "))
      let excluded = try await BuiltCommand.run("images", "--exclude", "1", in: folder)
      #expect(!excluded.errors.contains("gone"), "\(excluded.errors)")
    }

    @Test func pruningListsThenRemoves() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      _ = try await BuiltCommand.run("images", in: folder)
      let before = folder.files(below: "thumbs").filter { !$0.contains(".thumbjob") }
      let name = try #require(folder.files(below: "images").first)
      try FileManager.default.removeItem(atPath: folder("images/\(name)"))
      let left = try await BuiltCommand.run("images", in: folder)
      #expect(left.status == 0 && folder.exists("thumbs/\(name)"))
      let listed = try await BuiltCommand.run("images", "--prune", "--dry-run", in: folder)
      #expect(listed.output == "would remove thumbs/\(name)\n" && folder.exists("thumbs/\(name)"))
      #expect(listed.errors.contains("would remove 1 thumbnail ("), "\(listed.errors)")
      let pruned = try await BuiltCommand.run("images", "--prune", "--json", in: folder)
      #expect(
        pruned.status == 0 && pruned.output.contains("\"event\":\"removed\"") && pruned.output.contains("\"removed\":1")
      )
      #expect(folder.files(below: "thumbs").filter { !$0.contains(".thumbjob") }.count == before.count - 1)
      #expect(!folder.exists("thumbs/\(name)"))
    }

    @Test(arguments: [[], ["--size", "small=32", "--size", "large=64"]])
    func aPhotoMayBecomeAFolderAndBack(options: [String]) async throws {
      let folder = try TemporaryFolder.withPhotos(8)
      let photo = "images/0/photo 0.jpg"
      _ = try await BuiltCommand.run(executable: BuiltCommand.path, ["images"] + options, in: folder)
      try FileManager.default.moveItem(atPath: folder(photo), toPath: folder("photo"))
      for name in ["a.jpg", "b.jpg", "deep/c.jpg"] {
        try folder.write(try Data(contentsOf: URL(filePath: folder("photo"))), to: "\(photo)/\(name)")
      }
      let made = try await BuiltCommand.run(executable: BuiltCommand.path, ["images"] + options, in: folder)
      let removed = options.isEmpty ? "1 thumbnail removed" : "2 thumbnails removed"
      #expect(made.status == 0 && made.errors.contains(removed), "\(made.errors)")

      try FileManager.default.removeItem(atPath: folder(photo))
      try FileManager.default.moveItem(atPath: folder("photo"), toPath: folder(photo))
      let refused = try await BuiltCommand.run(executable: BuiltCommand.path, ["images"] + options, in: folder)
      let reason = "a folder has this name; if it has only thumbnails of photos that are gone, --prune removes them"
      #expect(refused.status == 1 && refused.errors.contains(reason), "\(refused.errors)")
      let back = try await BuiltCommand.run(executable: BuiltCommand.path, ["images", "--prune"] + options, in: folder)
      #expect(back.status == 0, "\(back.errors)")
      let again = try await BuiltCommand.run(executable: BuiltCommand.path, ["images"] + options, in: folder)
      #expect(again.status == 0 && again.errors.contains("8 up to date"), "\(again.errors)")
    }

    @Test func whatIsInTheWayMayBeOfAnotherTree() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      let photo = try Data(contentsOf: URL(filePath: folder("images/0/photo 0.jpg")))
      try folder.write(photo, to: "images/trip.jpg")
      _ = try await BuiltCommand.run("images", in: folder)
      #expect(folder.exists("thumbs/trip.jpg"))
      for name in ["trip.jpg/a.jpg", "other/b.jpg"] { try folder.write(photo, to: name) }
      // Now the thumbnails mirror the folder that has both.
      let kept = try await BuiltCommand.run("trip.jpg", "other", in: folder)
      #expect(kept.status == 1 && kept.errors.contains("a file is where a folder is needed"), "\(kept.errors)")
      unlink(folder("images/trip.jpg"))
      // A folder that is not there may only be out of reach.
      try FileManager.default.moveItem(atPath: folder("images"), toPath: folder("away"))
      let unreached = try await BuiltCommand.run("trip.jpg", "other", in: folder)
      #expect(unreached.status == 1 && !folder.exists("thumbs/trip.jpg/a.jpg"), "\(unreached.errors)")
      try FileManager.default.moveItem(atPath: folder("away"), toPath: folder("images"))
      let made = try await BuiltCommand.run("trip.jpg", "other", in: folder)
      #expect(made.status == 0 && made.errors.contains("1 thumbnail removed"), "\(made.errors)")
      #expect(folder.exists("thumbs/trip.jpg/a.jpg") && folder.exists("thumbs/0/photo 0.jpg"))
    }

    @Test func whatIsInTheWayMayBeOfAnEarlierSize() async throws {
      let folder = try TemporaryFolder.withPhotos(4)
      let photo = try Data(contentsOf: URL(filePath: folder("images/0/photo 0.jpg")))
      _ = try await BuiltCommand.run("images", "--size", "small=32", "--size", "large=64", in: folder)
      #expect(folder.exists("thumbs/small/0/photo 0.jpg"))
      // Its thumbnail gets where that of a photo that is still there has been.
      try folder.write(photo, to: "images/small/0/photo 0.jpg/a.jpg")
      let kept = try await BuiltCommand.run("images", in: folder)
      #expect(kept.status == 1 && kept.errors.contains("a file is where a folder is needed"), "\(kept.errors)")
      #expect(folder.exists("thumbs/small/0/photo 0.jpg"))
      let made = try await BuiltCommand.run("images", "--prune", in: folder)
      #expect(made.status == 0, "\(made.errors)")
      #expect(folder.exists("thumbs/small/0/photo 0.jpg/a.jpg") && folder.exists("thumbs/0/photo 0.jpg"))
    }

    @Test func onlyWhatIsInTheWayOfAFolderIsRemoved() async throws {
      let folder = try TemporaryFolder.withPhotos(4)
      let (photo, sizes) = ("images/0/photo 0.jpg", ["images", "--size", "small=32", "--size", "large=64"])
      _ = try await BuiltCommand.run("images", in: folder)
      _ = try await BuiltCommand.run(executable: BuiltCommand.path, sizes, in: folder)
      // In the large size, a file of somebody else is in the way.
      try folder.write(Data("a note".utf8), to: "thumbs/large/0/photo 0.jpg")
      try FileManager.default.moveItem(atPath: folder(photo), toPath: folder("photo"))
      try folder.write(try Data(contentsOf: URL(filePath: folder("photo"))), to: "\(photo)/a.jpg")
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, sizes, in: folder)
      let reason = "thumbs/large/0/photo 0.jpg/a.jpg: cannot be written: a file is where a folder is needed"
      #expect(ending.status == 1 && ending.errors.contains(reason), "\(ending.errors)")
      #expect(ending.errors.contains("1 thumbnail removed"), "\(ending.errors)")
      #expect(folder.exists("thumbs/0/photo 0.jpg"))
      let pruned = try await BuiltCommand.run(executable: BuiltCommand.path, sizes + ["--prune"], in: folder)
      #expect(pruned.errors.contains("removed 4 thumbnails"), "\(pruned.errors)")
      #expect(!folder.exists("thumbs/0/photo 0.jpg"))
    }

    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func aDiskThatReturnsAfterAForcedRemovalIsRememberedAgain() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      let (disk, photo) = (folder("images/disk"), try Data(contentsOf: URL(filePath: folder("images/0/photo 0.jpg"))))
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      try folder.write(Data("a note".utf8), to: "images/disk/note.txt")
      for options in [["--prune=force"], ["--prune"]] {
        var mounted = MountedFolder(at: disk, options: "size=1m")
        #expect(mounted != nil)
        try folder.write(photo, to: "images/disk/d.jpg")
        _ = try await BuiltCommand.run("images", in: folder)
        #expect(folder.exists("thumbs/disk/d.jpg"))
        mounted = nil
        _ = try await BuiltCommand.run(executable: BuiltCommand.path, ["images"] + options, in: folder)
        #expect(folder.exists("thumbs/disk/d.jpg") == (options == ["--prune"]), "\(mounted == nil)")
      }
    }

    /// Its thumbnails are in the way of a photo of the disk that is mounted now.
    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func whatIsInTheWayOfAPhotoMayBelongToAnotherDisk() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let (disk, photo) = (folder("images/disk"), try Data(contentsOf: URL(filePath: folder("images/0/photo 0.jpg"))))
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      let first = MountedFolder(at: disk, options: "size=1m")
      #expect(first != nil)
      for name in ["a.jpg/b.jpg", "c.jpg"] { try folder.write(photo, to: "images/disk/\(name)") }
      _ = try await BuiltCommand.run("images", in: folder)
      #expect(folder.exists("thumbs/disk/a.jpg/b.jpg"))
      // On top of the first one, so that it cannot have its number.
      let second = MountedFolder(at: disk, options: "size=1m")
      #expect(second != nil)
      for name in ["a.jpg", "c.jpg"] { try folder.write(photo, to: "images/disk/\(name)") }
      let kept = try await BuiltCommand.run("images", "--prune=all", in: folder)
      #expect(kept.status == 1 && kept.errors.contains("thumbs/disk/a.jpg: cannot be written"), "\(kept.errors)")
      #expect(folder.exists("thumbs/disk/a.jpg/b.jpg"))
      let forced = try await BuiltCommand.run("images", "--prune=force", in: folder)
      #expect(forced.status == 0 && !folder.exists("thumbs/disk/a.jpg/b.jpg"), "\(forced.errors)")
      withExtendedLifetime((first, second)) {}
    }

    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func aPhotoWhosePathIsAMountPointNowIsGone() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      let (disk, photo) = (folder("images/disk"), try Data(contentsOf: URL(filePath: folder("images/0/photo 0.jpg"))))
      try folder.write(photo, to: "images/disk")
      _ = try await BuiltCommand.run("images", in: folder)
      #expect(folder.exists("thumbs/disk.jpg"))
      unlink(disk)
      try folder.write(Data("a note".utf8), to: "images/disk/note.txt")
      var mounted = MountedFolder(at: disk, options: "size=1m")
      #expect(mounted != nil)
      try folder.write(photo, to: "images/disk/d.jpg")
      _ = try await BuiltCommand.run("images", in: folder)
      mounted = nil
      let ending = try await BuiltCommand.run("images", "--prune", in: folder)
      #expect(!folder.exists("thumbs/disk.jpg") && folder.exists("thumbs/disk/d.jpg"), "\(ending.errors)")
      #expect(mounted == nil)
    }

    @Test func thePhotosOfAnEmptyFolderMayOnlyBeOutOfReach() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      _ = try await BuiltCommand.run("images", in: folder)
      try FileManager.default.removeItem(atPath: folder("images/0/photo 0.jpg"))
      let ending = try await BuiltCommand.run("images", "--prune", in: folder)
      #expect(ending.status == 0 && folder.exists("thumbs/0/photo 0.jpg"))
      #expect(
        ending.errors.contains("kept the thumbnails of 1 missing photo, because a folder is empty"), "\(ending.errors)")
    }

    @Test func nothingIsPrunedOfAnEmptyFolder() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      _ = try await BuiltCommand.run("images", in: folder)
      try FileManager.default.moveItem(atPath: folder("images"), toPath: folder("unmounted"))
      try FileManager.default.createDirectory(atPath: folder("images"), withIntermediateDirectories: false)
      let ending = try await BuiltCommand.run("images", "--prune", in: folder)
      #expect(
        ending.errors.contains(
          "--prune: nothing removed, because images is empty; perhaps its file system is not mounted"),
        "\(ending.errors)")
      #expect(folder.files(below: "thumbs").filter { !$0.contains(".thumbjob") }.count == 3)
      let list = try await BuiltCommand.run("-", "--prune", in: folder)
      #expect(list.status == 64 && list.errors.contains("a list does not tell which sources are gone"))
    }

    @Test(arguments: [("y\n", true), ("\n", false), ("no\n", false), ("\u{3}", false)])
    func onATerminalPruningAsksFirst(answer: String, isRemoved: Bool) async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      _ = try await BuiltCommand.run("images", in: folder)
      let name = try #require(folder.files(below: "images").first)
      try FileManager.default.removeItem(atPath: folder("images/\(name)"))
      let terminal = PseudoTerminal(columns: 100)
      let status = try await BuiltCommand.run(
        executable: "/bin/sh", ["-c", "exec setsid -c -w \"$0\" images --prune <&1", BuiltCommand.path], on: terminal,
        in: folder
      ) { _ in
        try await expectEventually {
          terminal.output.contains("remove 1 thumbnail (") && terminal.output.contains("[y/N] ")
        }
        terminal.type(answer)
      }
      #expect(status == (answer == "\u{3}" ? 130 : 0), "\(terminal.output)")
      #expect(folder.exists("thumbs/\(name)") == !isRemoved, "\(terminal.output)")
    }
  }
}
