import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Manifest, contact sheet and gallery of the built binary.
  @Suite struct Joins {
    private static let all = [
      "--manifest", "made/manifest.json", "--contact-sheet", "made/sheet.pdf", "--html", "made/web",
    ]

    private func isWhole(_ folder: TemporaryFolder) -> Bool {
      let ends = ["made/manifest.json": "]}\n", "made/sheet.pdf": "%%EOF\n", "made/web/page/data.js": "]};\n"]
      return ends.allSatisfy { name, end in
        guard let bytes = try? folder.bytes(name) else { return true }
        return bytes.suffix(end.utf8.count).elementsEqual(end.utf8)
      }
    }

    @Test func allThreeAreMadeReportedAndUpToDateInASecondRun() async throws {
      let folder = try TemporaryFolder.withPhotos()
      try folder.write(try folder.bytes("images/0/photo 0.jpg").prefix(400), to: "images/1/broken.jpg")
      let first = try await BuiltCommand.run(
        executable: BuiltCommand.path, ["images", "--sheet-grid", "2x2"] + Self.all, in: folder)
      #expect(first.status == 1)
      #expect(first.errors.contains("\nmanifest made/manifest.json: 13 sources\n"))
      #expect(first.errors.contains("\ncontact sheet made/sheet.pdf: 4 pages\n"))
      #expect(first.errors.hasSuffix("\ngallery made/web: 12 pictures\n"), "\(first.errors)")
      let second = try await BuiltCommand.run(
        executable: BuiltCommand.path, ["images", "--sheet-grid", "2x2", "--json"] + Self.all, in: folder)
      #expect(second.status == 1)
      for event in ["gallery", "manifest", "contact-sheet"] {
        #expect(second.output.contains("\"event\":\"\(event)\""))
      }
      #expect(second.output.components(separatedBy: "\"outcome\":\"up-to-date\"").count == 4, "\(second.output)")
      #expect(isWhole(folder))
    }

    @Test func aPictureThatWasMadeBeforeThereWasAManifestIsDescribedInIt() async throws {
      let folder = TemporaryFolder()
      try folder.write(TestPNG(width: 300, height: 200, colorType: 2, bitDepth: 8).bytes, to: "images/a.png")
      try folder.write(SyntheticPhoto(seed: 7, width: 300, height: 200).jpeg(), to: "images/b.jpg")
      _ = try await BuiltCommand.run("images", in: folder)
      let ending = try await BuiltCommand.run("images", "--manifest", "later.json", in: folder)
      #expect(ending.status == 0 && ending.errors.contains("2 up to date"), "\(ending.errors)")
      let fields = ["\"width\":300}", "\"height\":200,", "\"orientation\":1", "\"color\":\"#", "\"thumbhash\":\""]
      let manifest = String(decoding: try folder.bytes("later.json"), as: UTF8.self)
      for field in fields { #expect(manifest.components(separatedBy: field).count == 3, "\(field): \(manifest)") }
    }

    @Test func aStoppedRunMakesNoSheet() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let arguments =
        TemporaryFolder.heldArguments + ["--json", "--progress", "none"] + Self.all
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { run in
        try await expectEventually { run.output.split(separator: "\n").count == 12 }
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75)
      #expect(ending.errors.contains("contact sheet made/sheet.pdf: not made, because the run stopped"))
      #expect(folder.files(below: "made") == [])
    }

    @Test func aPhotoIsNeverReplaced() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let photo = try folder.bytes("images/0/photo 0.jpg")
      try folder.write(Array("my own file".utf8), to: "own.pdf")
      for (option, file) in [("--manifest", "images/0/photo 0.jpg"), ("--contact-sheet", "own.pdf")] {
        let ending = try await BuiltCommand.run("images", option, file, in: folder)
        #expect(ending.status == 73 && ending.errorLines.count == 1)
        #expect(ending.errors.contains("exists and is not a ") && ending.errors.contains("move it away"))
      }
      #expect(try folder.bytes("images/0/photo 0.jpg") == photo)
      try folder.write(Array("my own page".utf8), to: "site/index.html")
      let ending = try await BuiltCommand.run("images", "--html", "site", in: folder)
      #expect(ending.status == 73 && ending.errors.contains("site/index.html: exists and is not a gallery of thumbjob"))
    }

    @Test func aKillAtAnyMomentLeavesWholeFilesOnly() async throws {
      let folder = try TemporaryFolder.withPhotos(30)
      let arguments = ["images", "--force", "--quiet", "--max", "2", "--sheet-grid", "2x2"] + Self.all
      let start = ContinuousClock.now
      let whole = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
      let time = ContinuousClock.now - start
      #expect(whole.status == 0)
      let files = Set(folder.files(below: "made"))
      for moment in 1...20 {
        // Every second time there is nothing before.
        if moment % 2 == 0 { try? FileManager.default.removeItem(atPath: folder("made")) }
        _ = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { run in
          try await Task.sleep(for: time * moment / 20)
          run.send(SIGKILL)
        }
        #expect(isWhole(folder), "killed after \(moment) twentieths of a run")
        #expect(Set(folder.files(below: "made")).isSubset(of: files))
      }
      let last = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
      #expect(last.status == 0 && Set(folder.files(below: "made")) == files)
    }

    /// The entries of a manifest are stored in the output folder until it is written.
    @Test(arguments: [("manifest", "m.json", "thumbs"), ("contact sheet", "sheet.pdf", "sheet.pdf")])
    func aFullDiskFailsThemWithOneLineEachAndStatus74(name: String, file: String, full: String) async throws {
      let folder = try TemporaryFolder.withPhotos(40)
      let limited = "ulimit -f 8; exec \"$0\" \"$@\""
      let option = "--" + name.replacing(" ", with: "-")
      let ending = try await BuiltCommand.run(
        executable: "/bin/sh",
        ["-c", limited, BuiltCommand.path, "images", "-s", "48", "--quiet", "--status", "off", option, file], in: folder
      )
      #expect(ending.status == 74)
      #expect(ending.errors == "thumbjob: \(name): \(full): cannot be written: File too large\n")
      #expect(!FileManager.default.fileExists(atPath: folder(file)))
    }

    @Test(arguments: ["x.png", "sheet", "x.pdf.jpg"]) func aContactSheetIsNamedAsAPDF(_ name: String) async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let ending = try await BuiltCommand.run("images", "--contact-sheet", name, in: folder)
      #expect(ending.status == 64)
      let refusal =
        "thumbjob: --contact-sheet: \(name) is not named as a PDF, which it will be; write a name with .pdf\n"
      #expect(ending.errors == refusal)
      #expect(!FileManager.default.fileExists(atPath: folder(name)))
    }

    @Test func twoOfOneNameAreAMistake() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let ending = try await BuiltCommand.run("images", "--manifest", "x.pdf", "--contact-sheet", "./x.pdf", in: folder)
      #expect(
        ending.status == 64 && ending.errors.contains("--contact-sheet: ./x.pdf belongs to the manifest already"))
      let gallery = try await BuiltCommand.run("images", "--manifest", "web/page/data.js", "--html", "web", in: folder)
      #expect(gallery.status == 64)
      let empty = try await BuiltCommand.run("images", "--manifest", "", in: folder)
      #expect(empty.status == 64 && empty.errors.contains("--manifest: the path is empty"))
    }
  }
}
