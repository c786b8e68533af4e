import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite struct Making {
    @Test func aFolderBecomesThumbnailsMirroredBelowOut() async throws {
      let folder = try TemporaryFolder.withPhotos()
      let ending = try await BuiltCommand.run("./images", "--max", "4", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(folder.files(below: "thumbs") == folder.files(below: "images"))
      let answer = /12 thumbnails in \d.* s → \.\/thumbs \(\d.* kB.*\)\n/
      #expect(ending.errors.wholeMatch(of: answer) != nil, "\(ending.errors)")
      #expect(ending.output.isEmpty, "standard output is for data")
      #expect(folder.leftovers.isEmpty)
    }

    @Test func aSecondRunSaysThatAllIsUpToDate() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      _ = try await BuiltCommand.run("images", in: folder)
      #expect(try await BuiltCommand.run("images", in: folder).errors == "3 up to date\n")
      #expect(
        try await BuiltCommand.run("images", "--dry-run", in: folder).errors == "would make nothing; 3 up to date\n")
      try folder.write(SyntheticPhoto(seed: 9, width: 64, height: 48).jpeg(), to: "images/new.jpg")
      let third = try await BuiltCommand.run("images", in: folder)
      #expect(third.errorLines.count == 2 && third.errorLines[0].hasPrefix("1 thumbnail in "))
      #expect(third.errorLines[1] == "3 up to date")
    }

    @Test func theProofOfTheLimitsIsPrintedOnlyOnRequest() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let ending = try await BuiltCommand.run("images", "-v", in: folder)
      #expect(ending.errors.contains("\n2 sources found; ") && ending.errors.contains("\nwithin bounds: at most "))
      #expect(ending.errors.contains("\nmemory: ") && ending.errors.contains(/process (\d+): kill -USR1 \1 lists/))
      let json = try await BuiltCommand.run("images", "--force", "--json", in: folder)
      #expect(json.errorLines.count == 1 && json.number("peak_running") > 0 && json.number("peak_memory_bytes") > 0)
      #expect(json.summary["outputs"] as? [String] == ["thumbs"])
    }

    @Test func aFolderWithoutPicturesSaysSo() async throws {
      let folder = TemporaryFolder()
      try FileManager.default.createDirectory(atPath: folder("empty"), withIntermediateDirectories: false)
      let empty = try await BuiltCommand.run("empty", in: folder)
      #expect(empty.status == 0 && empty.errors == "no picture found in ./empty\n")
      for name in ["a.txt", "b.txt"] { try folder.write(Array("words".utf8), to: "texts/\(name)") }
      let texts = try await BuiltCommand.run("./texts", in: folder)
      #expect(texts.status == 0 && texts.errors == "no picture found in ./texts\n2 passed over (not images)\n")
    }

    /// Whether strace may trace a program here.
    static let canTrace: Bool = {
      let tracer = Process()
      tracer.executableURL = URL(filePath: "/usr/bin/env")
      tracer.arguments = ["strace", "-o", "/dev/null", "true"]
      tracer.standardError = nil
      guard (try? tracer.run()) != nil else { return false }
      tracer.waitUntilExit()
      return tracer.terminationStatus == 0
    }()

    @Test(.enabled(if: canTrace, "strace is missing or may not trace here"))
    func aDurableThumbnailAndItsFoldersAreOnTheDiskBeforeItCounts() async throws {
      // First the folder of the output. For the settings: the file (F), its name (N), its folder and the output. For the
      // thumbnail and for the note of the tree the same.
      for (option, calls) in [([], "NNN"), (["--durable"], "FFNFFFNFFFNFF")] {
        let folder = try TemporaryFolder.withPhotos(1)
        let command = [
          "-f", "-qq", "-e", "trace=fsync,linkat,renameat,renameat2", "-o", folder("calls"), BuiltCommand.path,
          "images",
        ]
        let ending = try await BuiltCommand.run(executable: "/usr/bin/env", ["strace"] + command + option, in: folder)
        let lines = try String(decoding: folder.bytes("calls"), as: UTF8.self).split(separator: "\n")
        // What replaces a file gets a temporary name first. The first rename into a new folder fails.
        let done = lines.filter { !$0.contains(".tmp\", AT_SYMLINK_FOLLOW") && !$0.contains("ENOENT") }
        let found = done.map { $0.contains("fsync(") ? "F" : "N" }.joined()
        #expect(ending.status == 0 && found == calls, "\(lines)")
      }
    }

    @Test func theSameBytesComeOutAtAnyMax() async throws {
      let folder = try TemporaryFolder.withPhotos()
      for max in ["1", "2", "4", "16"] {
        let ending = try await BuiltCommand.run("images", "--max", max, "-o", "out-\(max)", in: folder)
        #expect(ending.status == 0)
      }
      for name in folder.files(below: "out-1") {
        let first = try folder.bytes("out-1/\(name)")
        for max in ["2", "4", "16"] { #expect(try folder.bytes("out-\(max)/\(name)") == first, "\(name) at \(max)") }
      }
    }

    @Test func upToDateThumbnailsAreMadeAgainOnlyIfSourceOrSettingsChange() async throws {
      let folder = try TemporaryFolder.withPhotos(4)
      func run(_ arguments: String...) async throws -> BuiltCommand.Ending {
        try await BuiltCommand.run(executable: BuiltCommand.path, ["images", "--json"] + arguments, in: folder)
      }
      #expect(try await run().number("made") == 4)
      #expect(try await run().number("up_to_date") == 4)
      #expect(try await run("--force").number("made") == 4)
      #expect(try await run("-q", "60").number("made") == 4)
      #expect(try await run("-q", "60").number("up_to_date") == 4)
      try folder.write(SyntheticPhoto(seed: 77, width: 300, height: 200).jpeg(), to: "images/0/photo 0.jpg")
      let last = try await run("-q", "60")
      #expect(last.number("made") == 1 && last.number("up_to_date") == 3 && last.addsUp)
    }

    @Test func severalSizesEachGetAFolder() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      let ending = try await BuiltCommand.run("images", "-s", "square=64x64^", "-s", "128", "--json", in: folder)
      #expect(ending.status == 0 && ending.number("thumbnails") == 6)
      #expect(
        ending.errors.hasPrefix("6 thumbnails of 3 pictures in ") && ending.errors.contains(" → ./thumbs (2 sizes, "))
      #expect(folder.files(below: "thumbs/square").count == 3)
      #expect(folder.files(below: "thumbs/128x128").count == 3)
    }

    @Test func eachSourceIsAnEventWithTheMeasuresOfItsThumbnail() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      let ending = try await BuiltCommand.run("images", "--json", in: folder)
      let lines = ending.output.split(separator: "\n")
      #expect(lines.count == 4)
      for line in lines.dropLast() {
        let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let made = try #require((event["thumbnails"] as? [[String: Any]])?.first)
        #expect(event["event"] as? String == "source" && event["outcome"] as? String == "made")
        let (width, height) = (made["width"] as? Int ?? 0, made["height"] as? Int ?? 0)
        #expect(max(width, height) == 256)
        let path = try #require(made["path"] as? String)
        #expect(try folder.bytes(path).count == made["bytes"] as? Int)
      }
      #expect(ending.number("peak_running") >= 1 && ending.addsUp)
    }

    @Test func aDryRunMakesNothing() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let ending = try await BuiltCommand.run("images", "--dry-run", in: folder)
      #expect(ending.status == 0 && !folder.exists("thumbs"))
      #expect(ending.output.split(separator: "\n").allSatisfy { $0.contains(" → thumbs/") })
      #expect(ending.output.split(separator: "\n").count == 2)
      #expect(ending.errors == "would make 2 thumbnails → ./thumbs\n")
      let json = try await BuiltCommand.run("images", "--dry-run", "--json", in: folder)
      #expect(json.number("would_make") == 2 && json.number("made") == 0 && json.addsUp)
      #expect(json.number("would_make_thumbnails") == 2 && json.number("thumbnails") == 0)
      #expect(json.output.contains(#""thumbnails":[{"height":"#) && !json.output.contains(#"[{"bytes":"#))
      #expect(json.output.contains(#""outcome":"would-make""#) && !json.output.contains(#""outcome":"made""#))
    }

    @Test func unusualNamesAreKept() async throws {
      let folder = TemporaryFolder()
      let jpeg = SyntheticPhoto(seed: 3, width: 90, height: 60).jpeg()
      for name in ["-dash.jpg", "new\nline.jpg", "späß 写真.jpg", "quote\"'.jpg"] {
        try folder.write(jpeg, to: "images/\(name)")
      }
      let invalid = folder("images").utf8CString.dropLast() + [0x2F, -1, -2, 0x2E, 0x6A, 0x70, 0x67, 0]
      let descriptor = Array(invalid).withUnsafeBufferPointer { open($0.baseAddress!, O_WRONLY | O_CREAT, 0o644) }
      _ = jpeg.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      close(descriptor)
      let ending = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(ending.status == 0 && ending.number("made") == 5, "\(ending.errors)")
      #expect(ending.output.contains(#""bytes":"aW1hZ2VzL//+LmpwZw==""#), "the bytes of a name that is not UTF-8")
      #expect(folder.exists("thumbs/new\nline.jpg"))
      try folder.write(jpeg, to: "-dash.jpg")
      let named = try await BuiltCommand.run("-o", "out", "--", "-dash.jpg", in: folder)
      #expect(named.status == 0 && folder.exists("out/-dash.jpg"), "\(named.errors)")
    }

    @Test func pathsComeFromAList() async throws {
      let folder = try TemporaryFolder.withPhotos(4)
      let paths = folder.files(below: "images").map { "images/\($0)" }
      try folder.write(Array((paths.joined(separator: "\0") + "\0").utf8), to: "list")
      let ending = try await BuiltCommand.run("--files0-from", "list", "--json", in: folder)
      #expect(ending.number("made") == 4)
      #expect(folder.files(below: "thumbs") == paths)
    }
  }
}
