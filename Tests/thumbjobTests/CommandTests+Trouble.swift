import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite struct Trouble {
    /// Runs the command; in an empty folder if none is given.
    private func run(_ arguments: String..., in folder: TemporaryFolder = TemporaryFolder()) async throws
      -> BuiltCommand.Ending
    {
      try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
    }

    @Test(arguments: [
      (["--max", "0", "x"], "--max: 0 is not within 1 to 1024"),
      (["x", "-q", "101"], "--quality: 101 is not within 1 to 100"),
      (
        ["x", "-s", "12y"],
        "--size: “12y” is not a size: “12y” is not a whole number of pixels; for example 256 or 300x200^"
      ),
      (["x", "--keep", "iptc"], "--keep: “iptc” is not one of icc, exif, gps, copyright"),
      (["x", "--timeout", "5"], "--timeout: “5” is not a duration; write 90s, 5m, 1h30m or 250ms"),
      (["--quiet"], "no source given: name a folder, such as thumbjob ./images, or see thumbjob --help"),
      (["x", "--output", "y"], "unknown option --output; did you mean --out?"),
      (
        ["x", "--width", "300"],
        "unknown option --width; the width is a size with x behind it: --size 300x"
      ),
      (["x", "-r"], "unknown option -r; a folder is read with all below it, so leave it out"),
      (["x", "--threads", "4"], "unknown option --threads; did you mean --max?"),
      (["x", "--overwrite"], "unknown option --overwrite; did you mean --force?"),
      (["x", "--gallery", "y"], "unknown option --gallery; did you mean --html?"),
      (["x", "--crop"], "unknown option --crop; a size with ^ fills and crops: --size 300x200^"),
      (["x", "--type", "webp"], "unknown option --type; did you mean --format?"),
      (["x", "--format", "gif"], "--format: “gif” is not one of jpeg, webp, avif, png"),
      (["x", "-n"], "unknown option -n; did you mean --dry-run?"),
      (["x", "-V"], "unknown option -V; did you mean --version?"),
      (["report", "--output"], "unknown option --output; see thumbjob report --help"),
      (["x", "--preset", "wbe"], "--preset: “wbe” is not one of web, gallery, archive"),
      (["version"], "version: no such file or folder; did you mean `thumbjob --version`?"),
      (["x", "--jsn"], "unknown option --jsn; did you mean --json?"),
      (["x", "--foreground", "0/2"], "unknown option --foreground; see thumbjob --help-all"),
      (["x", "--bogus"], "unknown option --bogus; see thumbjob --help-all"),
      (["status", "--jso"], "unknown option --jso; did you mean --json?"),
      (["status", "--max"], "unknown option --max; see thumbjob status --help"),
      (
        ["x", "-s", "a=400", "-s", "a=300^"],
        "--size: two sizes are called a; give them other names, as in small=300x300^"
      ),
      (["x", "--timeout", "0s"], "--timeout: must be more than zero; the longest is 366d"),
      (["compare", "x", "--max", "0"], "--max: 0 is not within 1 to 1024"),
      (["x", "--max", "many"], "--max: “many” is not a whole number"),
      (["x", "--json=3"], "--json: takes no value, but “3” was given"),
      (["x", "--quiet", "-v"], "--quiet: cannot be asked for together with verbose"),
      (
        ["x", "--include", "["],
        "--include: “[” is not a pattern of names: a [ has no ] before the next /; write \\[ for the character itself"
      ),
      (["x", "--sheet-grid", "z"], "--sheet-grid: “z” is not a grid: it is not COLUMNSxROWS; for example 4x5"),
      (["x", "--status", "z"], "--status: “z” is not an address: it is neither unix:PATH nor HOST:PORT nor off"),
      (["cancel", "1", "z"], "<operation>: “z” is not a number"),
      (["x", "--out"], "--out: has no value; write --out DIR"),
      (["x", "-o"], "-o: has no value; write -o DIR"),
      (["split", "x", "-o"], "-o: has no value; write -o DIR"),
      (["x", "-q"], "-q: has no value; write -q 80"),
      (["x", "-s"], "-s: has no value; write -s 256"),
      (["x", "-j"], "-j: has no value; write -j N"),
      (
        ["x", "--subsample", "422"],
        "--subsample: “422” is not one of 420, 444, auto"
      ),
    ])
    func usageMistakesAreNamedWithExitStatus64(arguments: [String], message: String) async throws {
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: TemporaryFolder())
      #expect(ending.status == 64)
      #expect(ending.errors == "thumbjob: \(message)\n")
    }

    @Test func withoutAnyWordTheHelpIsShown() async throws {
      let ending = try await run()
      #expect(ending.status == 64 && ending.output == "")
      #expect(ending.errors == (try await run("--help").output))
    }

    @Test func aPresetIsOverriddenByOtherOptions() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let ending = try await run("images", "-q", "60", "--preset", "web", "--dry-run", in: folder)
      #expect(ending.status == 0 && ending.output.contains("-320.avif"), "\(ending.errors)")
      let own = try await run("images", "--preset", "web", "-s", "90", "--format", "jpeg", "--dry-run", in: folder)
      #expect(own.status == 0 && own.output.contains("-90.jpg") && !own.output.contains("-320"), "\(own.output)")
      let named = try await run("images", "--preset", "web", "--name", "%s-%w.webp", "--dry-run", in: folder)
      #expect(named.status == 0 && named.output.contains("-320.webp"), "\(named.output) \(named.errors)")
    }

    @Test(arguments: [
      (["pause", "1", "2"], "unexpected argument “2”", "pause [<pid or address>]"),
      (
        ["split", "x"], "--into: is missing; write --into <folder>",
        "split <source> ... --into <folder> --parts <n> [options]"
      ),
      (["status", "1", "2"], "unexpected argument “2”", "status [<pid or address>] [--watch] [--json]"),
    ]) func aLineThatIsWrongAsAWholeIsFollowedByTheUsage(arguments: [String], message: String, usage: String)
      async throws
    {
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: TemporaryFolder())
      #expect(ending.status == 64 && ending.errors == "thumbjob: \(message)\nUsage: thumbjob \(usage)\n")
    }

    @Test(arguments: [("statsu", "status"), ("Status", "status"), ("cancle", "cancel"), ("hepl", "help")])
    func aMisspelledCommandIsRecognisedBeforeAnythingIsMade(word: String, meant: String) async throws {
      let folder = TemporaryFolder()
      let ending = try await run(word, "--json", in: folder)
      #expect(ending.status == 64)
      #expect(ending.errors == "thumbjob: \(word): no such file or folder; did you mean `thumbjob \(meant)`?\n")
      #expect(!folder.exists("thumbs") && !folder.exists("thumbjob"))
    }

    @Test func aSourceIsNotTakenForAMisspelledCommand() async throws {
      let folder = TemporaryFolder()
      try folder.write(SyntheticPhoto(seed: 1, width: 32, height: 24).jpeg(), to: "statsu/a.jpg")
      #expect(try await run("statsu", in: folder).status == 0)
      for word in ["./cancle", "cancle.jpg", "photos", "sun"] {
        let ending = try await run(word, in: folder)
        #expect(ending.status == 66 && !ending.errors.contains("did you mean"), "\(ending.errors)")
      }
      let named = try await run("run", "cancle", in: folder)
      #expect(named.status == 66 && !named.errors.contains("did you mean"), "\(named.errors)")
    }

    /// Swift reads the arguments of a process from there.
    @Test(.enabled(if: geteuid() == 0)) func itRunsWithoutProc() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write(TestPNG(colorType: 2, bitDepth: 8).bytes, to: "images/a.png")
      let script = "umount -l /proc && exec \"$0\" images"
      let ending = try await BuiltCommand.run(
        executable: "/usr/bin/unshare", ["-m", "sh", "-c", script, BuiltCommand.path], in: folder)
      #expect(ending.status == 0 && folder.files(below: "thumbs").count == 2, "\(ending.errors)")
      #expect(folder.exists("thumbs/.thumbjob/ledger") && !ending.errors.contains("ledger"), "\(ending.errors)")
    }

    @Test func aMissingSourceIsNamedAndTheOthersAreMade() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let ending = try await run("images", "nowhere", "--json", in: folder)
      #expect(ending.status == 66 && ending.number("made") == 2)
      #expect(ending.errorLines.contains("thumbjob: nowhere: no such file or folder"))
    }

    @Test func anOutputThatCannotBeMadeIsExitStatus73() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write([1], to: "thumbs")
      let ending = try await run("images", in: folder)
      #expect(ending.status == 73 && ending.errorLines.count == 1)
    }

    @Test func aMisspeltKeyOfAJobFileIsExitStatus65() async throws {
      let folder = TemporaryFolder()
      try folder.write(Array("sources: images\nqualty: 80\n".utf8), to: "job.yml")
      let ending = try await run("job.yml", in: folder)
      #expect(ending.status == 65)
      #expect(ending.errors == "thumbjob: job.yml:2:1: unknown key “qualty”; did you mean “quality”?\n")
    }

    /// Files of every kind that can go wrong, among good ones.
    @Test func brokenFilesFailByNameAndTheOthersAreMade() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      let good = SyntheticPhoto(seed: 5, width: 400, height: 300).jpeg()
      try folder.write(Array(good.prefix(good.count / 2)), to: "images/cut.jpg")
      try folder.write([], to: "images/empty.jpg")
      try folder.write([0xFF, 0xD8, 0xFF, 0xE0] + (0..<999).map { UInt8($0 & 0xFE) }, to: "images/noise.jpg")
      try folder.write(Array("words".utf8), to: "images/text.jpg")
      try folder.write(Array("words".utf8), to: "images/notes.txt")
      for name in ["a.x3f", "b.x3f"] { try folder.write(Array("FOVb".utf8), to: "images/\(name)") }
      try folder.write(Array(TestPNG(colorType: 2, bitDepth: 8).bytes.dropLast(100)), to: "images/cut.png")
      try folder.write(good, to: "images/folder.jpg/inside.jpg")
      try folder.write(good, to: "images/jpeg.txt")
      mkfifo(folder("images/pipe.jpg"), 0o600)
      symlink(".", folder("images/loop"))
      try folder.write(good, to: "images/" + String(repeating: "n", count: 250) + ".jpeg")
      let ending = try await run("images", "--json", in: folder)
      #expect(ending.status == 1)
      #expect(ending.number("made") == 6 && ending.number("failed") == 5 && ending.addsUp, "\(ending.errors)")
      #expect(ending.number("not_read") == 2 && ending.number("passed_over") == 1)
      for name in [
        "cut.jpg: truncated: ", "cut.png: truncated: ", "empty.jpg: the file is empty", "noise.jpg: ",
        "text.jpg: not an image",
      ] {
        #expect(ending.errorLines.count { $0.hasPrefix("thumbjob: images/\(name)") } == 1, "\(name)")
      }
      let passedOver = "a RAW picture, a format of which no thumbnails are made; it and any others are passed over"
      #expect(ending.errorLines.count { $0.hasSuffix(passedOver) } == 1, "once per type")
      #expect(folder.exists("thumbs/jpeg.txt.jpg") && folder.exists("thumbs/folder.jpg/inside.jpg"))
      #expect(folder.leftovers.isEmpty)
    }

    @Test func aNamedFileThatIsNoImageFails() async throws {
      let folder = TemporaryFolder()
      try folder.write(Array("words".utf8), to: "notes.txt")
      let ending = try await run("notes.txt", in: folder)
      #expect(ending.status == 1 && ending.errors.hasPrefix("thumbjob: notes.txt: not an image"))
    }

    @Test(arguments: [
      ("a.svg", "<?xml version=\"1.0\"?>\n", "an SVG picture"), ("a", "\n<svg xmlns=\"\">", "an SVG picture"),
      ("a.pdf", "%PDF-1.4\n", "a PDF document"), ("a.mp4", "\0\0\0\u{18}ftypisom\0\0\0\0", "an MP4 video"),
      ("a.x3f", "FOVb", "a RAW picture"),
    ]) func aNamedFileOfAFormatThatIsNotReadFailsWithItsName(name: String, head: String, format: String) async throws {
      let folder = TemporaryFolder()
      try folder.write(Array(head.utf8), to: name)
      let ending = try await run(name, in: folder)
      #expect(ending.status == 1)
      #expect(ending.errorLines[0] == "thumbjob: \(name): \(format), a format of which no thumbnails are made")
    }

    /// Among photos, as if they were named one by one, but only the first of each kind.
    @Test func drawingsInFoldersAreNamedAndCounted() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      for name in ["a.svg", "b.svg", "sub/c"] { try folder.write(Array("<svg>".utf8), to: "images/\(name)") }
      try folder.write(Array("%PDF-1.4\n".utf8), to: "images/scan.pdf")
      try folder.write(Array("words".utf8), to: "images/notes.txt")
      let ending = try await run("images", in: folder)
      #expect(ending.status == 0)
      let passedOver = "a format of which no thumbnails are made; it and any others are passed over"
      for (name, format) in [("scan.pdf", "a PDF document"), (".*", "an SVG picture")] {
        let lines = ending.errorLines.filter { $0.hasSuffix(": \(format), \(passedOver)") }
        #expect(lines.count == 1 && (name == ".*" || lines[0].contains(name)), "\(ending.errors)")
      }
      #expect(
        ending.errorLines.last == "5 passed over (1 not an image; 1 PDF, not read; 3 SVG, not read)", "\(ending.errors)"
      )
    }

    @Test func aSourceOverItsLimitsSaysWhichOptionAllowsMore() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let pixels = try await run("images", "--limit-pixels", "100k", in: folder)
      #expect(pixels.status == 1 && pixels.errors.contains("--limit-pixels 120000 would let it pass"))
    }

    @Test func anOutputInsideTheSourceIsNotWalked() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      for _ in 0..<2 {
        let ending = try await run("images", "-o", "images/small", "--force", "--json", in: folder)
        #expect(ending.status == 0 && ending.number("found") == 2)
      }
    }

    @Test func aThumbnailNeverOverwritesItsSource() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let before = try folder.bytes("images/0/photo 0.jpg")
      let ending = try await run("images/0/photo 0.jpg", "-o", "images/0", in: folder)
      #expect(ending.status == 73 && ending.errors.contains("choose another with --out"))
      #expect(try folder.bytes("images/0/photo 0.jpg") == before)
    }

    @Test func anOutputFolderThatIsALinkToNowhereIsNamedAsOne() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try FileManager.default.createSymbolicLink(atPath: folder("out"), withDestinationPath: "nowhere")
      for out in ["out", "out/thumbs"] {
        let ending = try await run("images", "-o", out, in: folder)
        #expect(ending.status == 73 && ending.errors.contains("a link that leads nowhere"), "\(ending.errors)")
      }
    }

    @Test func thousandsOfNamesAndNamesThatAreNotUTF8AreAllAccepted() async throws {
      let folder = TemporaryFolder()
      let photo = SyntheticPhoto(seed: 1, width: 32, height: 24).jpeg()
      try folder.write(photo, to: "one.jpg")
      let script = """
        mkdir m; for i in $(seq 2000); do ln one.jpg m/$i.jpg; done
        cp one.jpg $'caf\\xe8.jpg'; cp one.jpg $'caf\\xe9.jpg'
        exec "$0" -s8 -q90 m/* caf* --exclude $'*\\xe9*' --json -j4
        """
      let ending = try await BuiltCommand.run(executable: "/bin/bash", ["-c", script, BuiltCommand.path], in: folder)
      // 2,000 links and two copies: `--exclude` does not apply to files that are named.
      #expect(ending.status == 0 && ending.number("found") == 2_002 && ending.addsUp, "\(ending.errors)")
      #expect(ending.number("made") == 2_002)
    }

    @Test func controlCharactersInMessagesAreEscaped() async throws {
      let folder = TemporaryFolder()
      for arguments in [["-s", "\u{1B}[31m", "."], ["\u{1B}.yml", "b.yml"], ["--progress", "\u{1B}[2J", "."]] {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
        #expect(
          ending.status == 64 && !ending.errors.contains("\u{1B}") && ending.errors.lowercased().contains("1b"))
      }
    }

    @Test func invalidSettingsInAJobFileAreReportedForTheFile() async throws {
      let folder = TemporaryFolder()
      for text in ["sources: .\nverbose: yes\nquiet: yes", "sources: []", "sources: ''", "sources: .\nout: ''"] {
        try folder.write(Array(text.utf8), to: "job.yml")
        let ending = try await run("job.yml", in: folder)
        #expect(ending.status == 65 && ending.errors.hasPrefix("thumbjob: job.yml:"), "\(ending.errors)")
      }
    }

    @Test func originalsInTheOutputAreNeverOverwritten() async throws {
      let folder = TemporaryFolder()
      for (number, name) in ["a/x.jpg", "b/x.jpg", "c/x.jpg", "c/sub/x.jpg"].enumerated() {
        try folder.write(SyntheticPhoto(seed: number, width: 64, height: 48).jpeg(), to: name)
      }
      let before = try ["a/x.jpg", "c/sub/x.jpg"].map { try folder.bytes($0) }
      // As if there had been a run before the photo came.
      try folder.write([], to: "c/sub/.thumbjob/tree")
      for arguments in [["b", "-o", "a"], ["c", "-o", "c/sub", "--force"]] {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
        #expect(ending.status == 1 && ending.errors.contains("x.jpg: exists and is not a thumbnail of thumbjob"))
      }
      #expect(try ["a/x.jpg", "c/sub/x.jpg"].map { try folder.bytes($0) } == before)
    }

    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func aFullDiskIsExitStatus74AndLeavesNoPartialFile() async throws {
      let folder = try TemporaryFolder.withPhotos(12)
      try FileManager.default.createDirectory(atPath: folder("thumbs"), withIntermediateDirectories: false)
      let mounted = try #require(MountedFolder(at: folder("thumbs"), options: "size=64k"))
      let ending = try await run("images", "-q", "95", "--json", in: folder)
      let made = folder.files(below: "thumbs")
      let whole = made.allSatisfy { (try? folder.bytes("thumbs/\($0)").suffix(2)) == Data([0xFF, 0xD9]) }
      #expect(ending.status == 74, "\(ending.errors)")
      #expect(ending.number("made") == made.count && ending.number("failed") == 1)
      #expect(made.count > 0 && made.count < 12 && whole && folder.leftovers.isEmpty)
      #expect(ending.errorLines.count { $0.contains("cannot be written: No space left on device") } == 1)
      #expect(ending.errors.contains("make room and run the same command again"), "\(ending.errors)")
      withExtendedLifetime(mounted) {}
    }

    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func anOutputThatBecomesReadOnlyStopsTheRun() async throws {
      let folder = try TemporaryFolder.withWork(200)
      try FileManager.default.createDirectory(atPath: folder("thumbs/below"), withIntermediateDirectories: true)
      let mounted = try #require(MountedFolder(at: folder("thumbs/below"), options: "size=64k"))
      #expect(mounted.makeReadOnly())
      try FileManager.default.moveItem(atPath: folder("images"), toPath: folder("below"))
      try FileManager.default.createDirectory(atPath: folder("images"), withIntermediateDirectories: false)
      try FileManager.default.moveItem(atPath: folder("below"), toPath: folder("images/below"))
      let ending = try await run("images", "--json", in: folder)
      #expect(ending.status == 74 && ending.number("failed") == 1 && ending.number("made") == 0, "\(ending.errors)")
      #expect(ending.errorLines.count { $0.contains("cannot be written: Read-only file system") } == 1)
      withExtendedLifetime(mounted) {}
    }

    @Test func aFileOverTheSizeLimitCountsAsAFullDisk() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      let script = "ulimit -f 8; exec \"$0\" images -q 100 --subsample 444 -s 30 -s 256 --quiet"
      let ending = try await BuiltCommand.run(executable: "/bin/bash", ["-c", script, BuiltCommand.path], in: folder)
      #expect(ending.status == 74, "\(ending.errors)")
      #expect(ending.errorLines.count == 6 && ending.errors.contains("cannot be written: File too large"))
      #expect(folder.files(below: "thumbs").count == 6 && folder.leftovers.isEmpty)
    }

    @Test(arguments: [">/dev/full", ">&-"]) func aStandardOutputThatFailsIsNamedWithExitStatus74(redirection: String)
      async throws
    {
      let folder = try TemporaryFolder.withPhotos(3)
      for arguments in ["images --json", "images --json", "images --force --json", "images --force --dry-run"] {
        let script = "exec \"$0\" \(arguments) \(redirection)"
        let ending = try await BuiltCommand.run(
          executable: "/bin/bash", ["-c", script, BuiltCommand.path], in: folder)
        #expect(ending.status == 74, "\(ending.errors)")
        #expect(ending.errors.contains("thumbjob: standard output: "))
      }
    }

    @Test func aClosedStandardInputCannotBeRead() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let ending = try await BuiltCommand.run(
        executable: "/bin/bash", ["-c", "exec \"$0\" - <&-", BuiltCommand.path], in: folder)
      #expect(ending.status == 1 && ending.errors.contains("standard input: cannot be read: Bad file descriptor"))
    }

    @Test func sourcesWhoseThumbnailsCollideFailByName() async throws {
      let folder = TemporaryFolder()
      for (number, name) in ["1.jpg", "q/1.jpg", "c/b.png", "c/b.png.jpg"].enumerated() {
        try folder.write(SyntheticPhoto(seed: number, width: 64, height: 48).jpeg(), to: name)
      }
      try folder.write(Array("1.jpg\0c\0".utf8), to: "list")
      let ending = try await run("--files0-from", "list", "q", "--json", in: folder)
      #expect(ending.status == 1 && ending.number("made") == 3 && ending.number("failed") == 1, "\(ending.output)")
      #expect(folder.files(below: "thumbs") == ["1.jpg", "c/b.png.jpg", "q/1.jpg"])
      let advice =
        "has the place of its thumbnail, thumbs/c/b.png.jpg; rename one of the sources, or use --name '%d/%s-%e' or "
        + "another folder with --out, or give the folders of both in one run; --force replaces it"
      #expect(ending.errorLines.count { $0.hasSuffix(advice) } == 1, "\(ending.errors)")
      let named = try await run("c", "-o", "named", "--name", "%d/%s-%e", in: folder)
      #expect(named.status == 0 && folder.files(below: "named") == ["b-png.jpg", "b.png-jpg.jpg"], "\(named.errors)")
      let both = try await run("c", "--json", in: folder)
      let refused = both.output.split(separator: "\n").first { $0.contains(#""kind":"collision""#) }
      #expect(refused?.contains(#""tried":false"#) == true && refused?.contains(#""bytes""#) == false)
      #expect(
        both.errorLines[0]
          == "thumbjob: c/b.png.jpg: another source, c/b.png, has the place of its thumbnail; rename one of the sources, "
          + "or use --name '%d/%s-%e'")
    }

    @Test func twoOutputsInOneFolderAreRefusedEvenThroughALink() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try FileManager.default.createDirectory(atPath: folder("real"), withIntermediateDirectories: false)
      symlink("real", folder("link"))
      // Two sizes of one output, of which one folder is a link to the other.
      try FileManager.default.createDirectory(atPath: folder("twin/x"), withIntermediateDirectories: true)
      symlink("x", folder("twin/y"))
      let sizes = "size: [x=64, y=32]"
      for outputs in ["[{out: real}, {out: link}]", "[{out: a, \(sizes)}, {out: a/x}]", "[{out: twin, \(sizes)}]"] {
        try folder.write(Array("sources: images\noutputs: \(outputs)\n".utf8), to: "job.yml")
        let ending = try await run("job.yml", in: folder)
        #expect(
          ending.status == 73 && ending.errors.contains("is the folder of two outputs, or in that of another"),
          "\(ending.errors)")
      }
    }

    @Test func aDryRunKeepsTheLimits() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let ending = try await run("images", "--dry-run", "--limit-pixels", "100k", "--json", in: folder)
      #expect(ending.status == 1 && ending.number("failed") == 2)
    }

    @Test func haltStopsAfterThisManyFailures() async throws {
      let folder = TemporaryFolder()
      for number in 0..<200 { try folder.write([], to: "images/\(number).jpg") }
      let ending = try await run("images", "--halt", "3", "--max", "1", "--json", in: folder)
      #expect(ending.status == 1 && ending.number("failed") == 3 && ending.addsUp)
    }

    @Test(.needsUnprivilegedCommand) func unreadableFilesAndFoldersAreNamed() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      try folder.write(SyntheticPhoto(seed: 1, width: 64, height: 64).jpeg(), to: "images/closed.jpg")
      chmod(folder("images/closed.jpg"), 0)
      try folder.write([1], to: "images/shut/x.jpg")
      chmod(folder("images/shut"), 0)
      let ending = try await BuiltCommand.runUnprivileged("images", "--json", in: folder)
      chmod(folder("images/shut"), 0o755)
      #expect(ending.status == 1 && ending.number("made") == 2, "\(ending.errors)")
      #expect(ending.errors.contains("images/closed.jpg: cannot be read: Permission denied"))
      #expect(ending.errors.contains("images/shut: cannot be read: Permission denied"))
    }
  }
}
