import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Pictures of other formats than JPEG, and the processes that decode them.
  @Suite(.timeLimit(.minutes(5))) struct Pictures {
    private static let picture = TestPNG(width: 300, height: 200, colorType: 2, bitDepth: 8).bytes

    private func folder(_ count: Int) throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      try folder.write(Self.picture, to: "images/0000.png")
      for number in 1..<max(count, 1) {
        let name = folder(String(format: "images/%04d.png", number))
        try FileManager.default.linkItem(atPath: folder("images/0000.png"), toPath: name)
      }
      return folder
    }

    /// Runs over many pictures, and calls `body` with the numbers of the decoder processes once these are stopped and each
    /// has a picture.
    private func stopped(
      _ folder: TemporaryFolder, _ arguments: String...,
      then body: @escaping @Sendable (BuiltCommand.Run, [pid_t]) async throws -> Void
    ) async throws -> BuiltCommand.Ending {
      let words = ["images", "--json", "--progress", "none", "--max", "2"] + arguments
      return try await BuiltCommand.run(executable: BuiltCommand.path, words, in: folder) { run in
        try await expectEventually { !run.output.isEmpty }
        // An operation whose decoder has just answered is listed as decoding for a moment, and a decoder may be replaced. Nothing
        // moves any more once several listings are alike.
        var (decoders, decoding, alike) = (run.decoders, Set<Substring>(), 0)
        while alike < 10 {
          for decoder in run.decoders { kill(decoder, SIGSTOP) }
          let before = run.errors.count
          run.send(SIGUSR1)
          try await expectEventually { run.errors.dropFirst(before).contains(" of 2 running") }
          let listing = run.errors.dropFirst(before).split(separator: "\n")
          let sources = Set(
            listing.filter { $0.contains(": running, decoding") }.map { $0.prefix { $0 != "," } })
          #expect(!listing.contains { $0.contains("decoding 0 %") }, "unknown progress is left out")
          let isAlike = sources.count == 2 && sources == decoding && run.decoders == decoders
          (decoders, decoding, alike) = (run.decoders, sources, isAlike ? alike + 1 : 0)
          try await Task.sleep(for: .milliseconds(5))
        }
        try await body(run, decoders)
      }
    }

    @Test func aPNGGetsAThumbnailThatKeepsItsName() async throws {
      let folder = try folder(2)
      let ending = try await BuiltCommand.run("images", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(try !folder.bytes("thumbs/0000.png.jpg").isEmpty && !folder.bytes("thumbs/0001.png.jpg").isEmpty)
      let again = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(again.status == 0 && again.number("up_to_date") == 2)
    }

    @Test func theFenceChangesNoThumbnail() async throws {
      let folder = try folder(1)
      for choice in ["auto", "always", "require", "never"] {
        let ending = try await BuiltCommand.run("images", "-o", choice, "--isolate", choice, in: folder)
        #expect(ending.status == 0, "\(ending.errors)")
      }
      let fenced = try folder.bytes("auto/0000.png.jpg")
      #expect(try folder.bytes("always/0000.png.jpg") == fenced && folder.bytes("never/0000.png.jpg") == fenced)
      #expect(try folder.bytes("require/0000.png.jpg") == fenced)
    }

    /// Without /proc, thumbjob cannot measure a process, and so cannot limit its memory.
    @Test(.enabled(if: geteuid() == 0)) func aFenceThatIsRequiredIsWholeOrNothing() async throws {
      let folder = try folder(3)
      for choice in ["always", "require"] {
        let script = "umount -l /proc && exec \"$0\" images -o \(choice) --isolate \(choice)"
        let ending = try await BuiltCommand.run(
          executable: "/usr/bin/unshare", ["-m", "sh", "-c", script, BuiltCommand.path], in: folder)
        let warnings = ending.errorLines.filter { $0.hasPrefix("thumbjob: decoder processes go without ") }
        #expect(warnings.count == 1 && warnings[0].contains("a memory limit"), "\(ending.errors)")
        if choice == "always" {
          #expect(ending.status == 0 && folder.exists("always/0000.png.jpg"), "\(ending.errors)")
        } else {
          #expect(ending.status == 1 && !folder.exists("require/0000.png.jpg"))
          #expect(ending.errorLines.count { $0.hasSuffix("; --isolate always does without what is missing") } == 3)
        }
      }
    }

    /// A decoder may raise the soft limit, and with this privilege the hard one.
    @Test(.enabled(if: geteuid() == 0)) func aStackThatIsTooSmallIsNamed() async throws {
      let folder = try folder(1)
      for (limit, status) in [("-Ss", 0), ("-s", 1)] {
        let script = "ulimit \(limit) 256; exec setpriv --bounding-set=-sys_resource \"$0\" images"
        let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder)
        #expect(ending.status == status, "\(ending.errors)")
        let line =
          "thumbjob: images/0000.png: a decoder needs a stack of 640 KiB, and the hard limit (ulimit -Hs) is lower"
        #expect(ending.errorLines.contains(line[...]) == (status == 1), "\(ending.errors)")
        try? FileManager.default.removeItem(atPath: folder("thumbs"))
      }
    }

    @Test func transparentPixelsShowTheBackground() async throws {
      let folder = TemporaryFolder()
      var picture = TestPNG(width: 64, height: 64, colorType: 3, bitDepth: 1)
      picture.transparency = [0, 0]
      try folder.write(picture.bytes, to: "clear.png")
      for color in ["white", "#c03020"] {
        let ending = try await BuiltCommand.run("clear.png", "-o", color, "--background", color, in: folder)
        #expect(ending.status == 0, "\(ending.errors)")
      }
      #expect(try folder.bytes("white/clear.png.jpg") != folder.bytes("#c03020/clear.png.jpg"))
      let wrong = try await BuiltCommand.run("clear.png", "--background", "reddish", in: folder)
      #expect(wrong.status == 64)
      #expect(wrong.errorLines[0] == "thumbjob: --background: “reddish” is not a colour; write #f0f0f0, white or black")
    }

    /// It has more groups of Huffman codes than memory is reserved for at first.
    @Test func aSourceThatNeedsTheMemoryOfRarePicturesIsDecodedASecondTime() async throws {
      let folder = TemporaryFolder()
      try folder.write(TestVP8L(columns: 90, rows: 90, hasAllValues: true).bytes, to: "images/rare.webp")
      let refused = try await BuiltCommand.run("images", "--memory", "24M", in: folder)
      #expect(refused.status == 1 && refused.errors.contains("--memory "), "\(refused.errors)")
      let ending = try await BuiltCommand.run("images", "--memory", "128M", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(try !folder.bytes("thumbs/rare.webp.jpg").isEmpty)
      // More groups than any encoder writes.
      try folder.write(TestVP8L(columns: 130, rows: 130, hasAllValues: true).bytes, to: "hostile/a.webp")
      let hostile = try await BuiltCommand.run("hostile", "--memory", "512M", in: folder)
      #expect(hostile.status == 1 && hostile.errors.contains("the decoder needs more memory than"), "\(hostile.errors)")
      // Advice against the fence would be wrong for a file that may be damaged.
      #expect(!hostile.errors.contains("--isolate"), "\(hostile.errors)")
      let unlimited = try await BuiltCommand.run("hostile", "--memory", "512M", "--isolate", "never", in: folder)
      #expect(unlimited.status == 0, "\(unlimited.errors)")
    }

    /// A DNG file with nothing but a preview.
    private func raw(_ width: Int, _ height: Int) -> [UInt8] {
      func number(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(value >> (8 * $0) & 0xFF) } }
      let preview = SyntheticPhoto(seed: 1, width: width, height: height).jpeg()
      let tags = [(0x0103, 3, 1, 6), (0x0201, 4, 1, 62), (0x0202, 4, 1, preview.count), (0xC612, 1, 4, 0x401)]
      let entries = tags.flatMap { number($0.0, 2) + number($0.1, 2) + number($0.2, 4) + number($0.3, 4) }
      return Array("II".utf8) + number(42, 2) + number(8, 4) + number(4, 2) + entries + number(0, 4) + preview
    }

    private func greyJPEG(_ side: Int) -> [UInt8] {
      var photo = SyntheticPhoto(seed: 1, width: side, height: side)
      photo.isGrey = true
      return photo.jpeg()
    }

    /// A grey TIFF file of 30 × 30 pixels, whose only strip is a JPEG.
    private func tiff(_ strip: [UInt8]) -> [UInt8] {
      func number(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(value >> (8 * $0) & 0xFF) } }
      let entryCount = 9
      let place = 8 + 2 + 12 * entryCount + 4
      let tags = [
        (256, 30), (257, 30), (258, 8), (259, 7), (262, 1), (273, place), (277, 1), (278, 30), (279, strip.count),
      ]
      let entries = tags.flatMap { number($0.0, 2) + number(4, 2) + number(1, 4) + number($0.1, 4) }
      return Array("II".utf8) + number(42, 2) + number(8, 4) + number(entryCount, 2) + entries + number(0, 4) + strip
    }

    /// One process decodes both, one after the other. libtiff says nothing of what it has not decoded.
    @Test func aPictureThatLacksSamplesShowsNothingOfTheOneBeforeIt() async throws {
      let folder = TemporaryFolder()
      try folder.write(tiff(greyJPEG(30)), to: "images/a.tif")
      try folder.write(tiff(greyJPEG(8)), to: "images/b.tif")
      for level in ["truncated", "error", "warning"] {
        let ending = try await BuiltCommand.run(
          "images", "-o", level, "--max", "1", "--fail-on", level, "--json", in: folder)
        #expect(ending.status == 1 && ending.number("made") == 1 && ending.number("failed") == 1, "\(ending.errors)")
        #expect(ending.errors.contains("b.tif: truncated: strip or tile 0 lacks samples"), "\(ending.errors)")
        #expect(FileManager.default.fileExists(atPath: folder("\(level)/a.tif.jpg")))
        #expect(!FileManager.default.fileExists(atPath: folder("\(level)/b.tif.jpg")))
      }
    }

    @Test func wrongSamplesOfATIFFFileFailUnlessTheyAreTolerated() async throws {
      let folder = TemporaryFolder()
      // A marker that does not belong there.
      var strip = greyJPEG(30)
      strip.replaceSubrange(strip.count * 3 / 4..<strip.count * 3 / 4 + 2, with: [0xFF, 0xD3])
      try folder.write(tiff(strip), to: "images/a.tif")
      let text = "a.tif: damaged: Corrupt JPEG data: premature end of data segment"
      let failed = try await BuiltCommand.run("images", in: folder)
      #expect(
        failed.status == 1 && failed.errors.contains("\(text); --fail-on truncated may let it pass"), "\(failed.errors)"
      )
      let made = try await BuiltCommand.run("images", "--fail-on", "truncated", "--verbose", in: folder)
      #expect(made.status == 0 && made.errors.contains("a.tif: Corrupt JPEG data: premature end"), "\(made.errors)")
    }

    @Test func aRawFileWhosePreviewIsTooSmallIsWarnedOf() async throws {
      let folder = TemporaryFolder()
      try folder.write(raw(8, 8), to: "images/small.dng")
      try folder.write(raw(300, 200), to: "images/large.dng")
      let warning =
        "thumbjob: images/small.dng: its largest preview has only 8 × 8 pixels, too few for a thumbnail of the size asked for"
      for arguments in [["--dry-run"], ["--size", "200x200!"], ["--json", "--quiet"], []] {
        try? FileManager.default.removeItem(atPath: folder("thumbs"))
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, ["images"] + arguments, in: folder)
        #expect(
          ending.status == 0 && ending.errorLines.filter { $0.contains("preview") } == [warning[...]],
          "\(ending.errors)")
        #expect(ending.output.contains("too few for a thumbnail") == (arguments.first == "--json"))
      }
    }

    /// Whether a decoder process has the memory that it shares for each picture.
    private static func hasPicture(_ decoder: pid_t) -> Bool {
      let maps = FileManager.default.contents(atPath: "/proc/\(decoder)/maps") ?? Data()
      return String(decoding: maps, as: UTF8.self).contains("/memfd:")
    }

    @Test func aDecoderThatIsKilledIsOneFailedSource() async throws {
      let folder = try folder(100)
      // The first pictures of both decoders take long. One that has no picture yet is replaced unnoticed.
      try folder.write(TestPNG(width: 3000, height: 1500, colorType: 2, bitDepth: 8).bytes, to: "large/1.png")
      try FileManager.default.linkItem(atPath: folder("large/1.png"), toPath: folder("large/2.png"))
      let arguments = ["large", "images", "--json", "--progress", "none", "--max", "2"]
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { run in
        try await expectEventually {
          let decoders = run.decoders
          for decoder in decoders { kill(decoder, SIGSTOP) }
          if decoders.count == 2, decoders.allSatisfy(Self.hasPicture) { return true }
          for decoder in decoders where !Self.hasPicture(decoder) { kill(decoder, SIGCONT) }
          return false
        }
        for decoder in run.decoders { kill(decoder, SIGKILL) }
      }
      #expect(ending.status == 1 && ending.addsUp)
      #expect(ending.number("failed") == 2 && ending.number("made") == 100)
      let failures = ending.errorLines.filter { $0.contains("the decoder") }
      #expect(failures.count == 2)
      #expect(ending.output.split(separator: "\n").count { $0.contains("\"kind\":\"decoder\"") } == 2)
      let words =
        "(signal 9, Killed), perhaps because memory ran out; the next run tries it again; with --retries 1, this run does"
      #expect(failures.allSatisfy { $0.hasSuffix(words) }, "\(ending.errors)")
    }

    @Test func aSourceWhoseDecoderIsKilledIsTriedAgain() async throws {
      let folder = try folder(2000)
      let ending = try await stopped(folder, "--retries", "1") { _, decoders in
        for decoder in decoders { kill(decoder, SIGKILL) }
      }
      #expect(ending.status == 0 && ending.number("made") == 2000, "\(ending.errors)")
    }

    @Test func aDecoderThatHangsIsOneFailedSource() async throws {
      let folder = try folder(2000)
      let ending = try await stopped(folder, "--timeout", "1s") { _, _ in }
      #expect(ending.addsUp && ending.number("failed") == 2 && ending.number("made") == 1998, "\(ending.errors)")
      #expect(ending.errorLines.count { $0.contains("took longer than") } == 2)
    }

    @Test func cancellingEndsDecodersThatHang() async throws {
      let folder = try folder(2000)
      let ending = try await stopped(folder) { run, decoders in
        run.send(SIGUSR2)
        try await expectEventually { decoders.allSatisfy { kill($0, 0) != 0 } }
      }
      #expect(ending.status == 75 && folder.leftovers.isEmpty, "\(ending.errors)")
    }

    @Test func noDecoderOutlivesAKilledRun() async throws {
      let folder = try folder(2000)
      let ending = try await stopped(folder) { run, decoders in
        run.send(SIGKILL)
        try await expectEventually { decoders.allSatisfy { BuiltCommand.Run.isGone($0) } }
      }
      #expect(ending.status == 137)
    }

    /// A copy of the program, apart from its decoder.
    private func program(in folder: TemporaryFolder) throws -> String {
      try folder.write([], to: "bin/empty")
      try FileManager.default.copyItem(atPath: BuiltCommand.path, toPath: folder("bin/thumbjob"))
      return folder("bin/thumbjob")
    }

    /// Each picture then fails with a short line.
    @Test func aMissingDecoderIsExplainedOnce() async throws {
      let folder = try folder(2)
      let program = try program(in: folder)
      let ending = try await BuiltCommand.run(executable: program, ["images"], in: folder)
      let lines = ending.errorLines
      #expect(ending.status == 1 && lines.count { $0.hasPrefix("thumbjob: thumbjob-decoder was not found in ") } == 1)
      #expect(
        lines[0].hasSuffix("/lib/thumbjob; all but faultless JPEGs need it and fail; reinstall thumbjob"),
        "\(lines)")
      #expect(lines.count { $0.hasSuffix(".png: thumbjob-decoder was not found") } == 2, "\(lines)")
      let planned = try await BuiltCommand.run(executable: program, ["images", "--dry-run"], in: folder)
      #expect(planned.status == 0 && planned.errorLines.first == lines[0], "\(planned.errors)")
    }

    @Test func aDecoderThatMayNotBeExecutedIsNamed() async throws {
      let folder = try folder(1)
      try folder.write([], to: "bin/thumbjob-decoder")
      chmod(folder("bin/thumbjob-decoder"), 0o644)
      let ending = try await BuiltCommand.run(executable: try program(in: folder), ["images"], in: folder)
      let advice =
        "/bin/thumbjob-decoder may not be executed; all but faultless JPEGs need it and fail; allow it with chmod +x"
      #expect(ending.status == 1 && ending.errorLines[0].hasSuffix(advice), "\(ending.errors)")
    }
  }
}

extension BuiltCommand.Run {
  /// The decoder processes of the run that are ready. The filter of system calls is the last part of their fence.
  fileprivate var decoders: [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { number in
      guard let status = try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8) else { return false }
      // The kernel cuts names to 15 bytes.
      return status.hasPrefix("Name:\tthumbjob-decode\n") && status.contains("\nPPid:\t\(processID)\n")
        && status.contains("\nSeccomp:\t2\n")
    }
  }

  /// Whether a process has ended, and perhaps waits for its new parent.
  fileprivate static func isGone(_ number: pid_t) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8) else { return true }
    return status.contains("\nState:\tZ")
  }
}
