import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Photos that are recognized by their contents.
  @Suite struct Recognition {
    private static let sizes = ["-s", "big=200", "-s", "small=40"]

    private func run(_ arguments: [String], in folder: TemporaryFolder) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
    }

    private func thumbnails(_ folder: TemporaryFolder) -> [String: Data] {
      Dictionary(
        uniqueKeysWithValues: folder.files(below: "thumbs").filter { !$0.hasPrefix(".thumbjob") }
          .map { ($0, (try? folder.bytes("thumbs/\($0)")) ?? Data()) })
    }

    private func setTime(_ time: Int, of names: [String], in folder: TemporaryFolder) throws {
      for name in names {
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSince1970: Double(time))], ofItemAtPath: folder("images/\(name)"))
      }
    }

    @Test(arguments: [[], sizes, ["--manifest", "list.json"]])
    func photosWithAnotherTimeKeepTheirThumbnails(options: [String]) async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      let arguments = ["images", "--json"] + options
      let first = try await self.run(arguments, in: folder)
      #expect(first.status == 0 && first.number("made") == 6, "\(first.errors)")
      let before = thumbnails(folder)
      let names = folder.files(below: "images")
      try setTime(1_000_000_000, of: names, in: folder)
      // One of them has other contents at the same size.
      var changed = try Array(folder.bytes("images/\(names[0])"))
      changed[changed.count / 2] ^= 1
      try folder.write(changed, to: "images/\(names[0])")
      let second = try await self.run(arguments, in: folder)
      #expect(second.status == 0, "\(second.errors)")
      #expect(second.number("made") == 1 && second.number("up_to_date") == 5, "\(second.output)")
      let after = thumbnails(folder)
      #expect(after.filter { !$0.key.hasSuffix(names[0]) } == before.filter { !$0.key.hasSuffix(names[0]) })
      let third = try await self.run(arguments, in: folder)
      #expect(third.number("up_to_date") == 6 && third.number("made") == 0, "\(third.output)")
      // Their files have the new times, so that this does not depend on the ledger.
      try FileManager.default.removeItem(atPath: folder("thumbs/.thumbjob/ledger"))
      let fourth = try await self.run(arguments, in: folder)
      #expect(fourth.number("up_to_date") == 6, "\(fourth.output)")
    }

    @Test func aCopyOfPhotosAndThumbnailsIsUpToDate() async throws {
      let folder = try TemporaryFolder.withPhotos(4)
      _ = try await BuiltCommand.run("images", in: folder)
      let script = "for name in images thumbs; do mv $name old && cp -r old $name && rm -r old; done"
      _ = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script], in: folder)
      let run = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(run.number("up_to_date") == 4 && run.number("made") == 0, "\(run.output)")
    }

    @Test func withoutAHashAPhotoWithAnotherTimeIsMadeAgain() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      _ = try await BuiltCommand.run("images", in: folder)
      try setTime(1_000_000_000, of: folder.files(below: "images"), in: folder)
      try FileManager.default.removeItem(atPath: folder("thumbs/.thumbjob/ledger"))
      let run = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(run.number("made") == 2, "\(run.output)")
    }

    @Test(arguments: [[], sizes, ["--manifest", "list.json"]])
    func thumbnailsMoveWithTheirPhotos(options: [String]) async throws {
      let folder = try TemporaryFolder.withPhotos(12)
      let arguments = ["images", "--json"] + options
      _ = try await self.run(arguments, in: folder)
      let before = thumbnails(folder)
      try FileManager.default.moveItem(atPath: folder("images/0"), toPath: folder("images/trip"))
      let run = try await self.run(arguments, in: folder)
      #expect(run.status == 0 && run.number("made") == 0 && run.number("moved") == 4, "\(run.output)")
      #expect(run.errorLines.contains("moved the thumbnails of 4 photos with another path"), "\(run.errors)")
      #expect(!run.errors.contains("gone") && !folder.exists("thumbs/0"), "\(run.errors)")
      let after = thumbnails(folder)
      #expect(after.count == before.count)
      // They differ in the key of their source only, and are what a run without the earlier ones makes.
      let fresh = try await self.run(["images", "-o", "fresh"] + options, in: folder)
      #expect(fresh.status == 0, "\(fresh.errors)")
      for (name, bytes) in after where name.contains("trip") {
        let other = try folder.bytes("fresh/\(name)")
        #expect(other.count == bytes.count && zip(other, bytes).count { $0 != $1 } <= 16, "\(name)")
      }
      let next = try await self.run(arguments, in: folder)
      #expect(next.number("up_to_date") == 12 && !next.output.contains("\"moved\""), "\(next.output)")
      #expect(try await BuiltCommand.run("report", in: folder).output.hasPrefix("12 sources: 12 made "))
    }

    /// While another process uses the ledger, a run makes thumbnails of which the ledger does not know.
    @Test func theLedgerIsNotTrustedForThumbnailsThatItDoesNotKnow() async throws {
      let folder = TemporaryFolder()
      // Two pictures whose first and last bytes are equal.
      func picture(_ seed: UInt8) -> [UInt8] {
        var bytes = SyntheticPhoto(seed: 1, width: 800, height: 600).jpeg()
        for index in 9000..<9040 where bytes[index] != 0xFF && bytes[index] > 1 { bytes[index] ^= seed & 1 }
        return bytes
      }
      try folder.write(picture(0), to: "images/a.jpg")
      _ = try await BuiltCommand.run("images", "--fail-on", "truncated", in: folder)
      let known = try folder.bytes("thumbs/.thumbjob/ledger")
      try folder.write(picture(1), to: "images/a.jpg")
      try setTime(1_000_000_000, of: ["a.jpg"], in: folder)
      _ = try await BuiltCommand.run("images", "--fail-on", "truncated", in: folder)
      let other = try folder.bytes("thumbs/a.jpg")
      // As after a run that could not write the ledger.
      try folder.write(known, to: "thumbs/.thumbjob/ledger")
      try folder.write(picture(0), to: "images/a.jpg")
      try setTime(1_100_000_000, of: ["a.jpg"], in: folder)
      let run = try await BuiltCommand.run("images", "--fail-on", "truncated", "--json", in: folder)
      #expect(run.number("made") == 1, "\(run.output)")
      #expect(try folder.bytes("thumbs/a.jpg") != other)
    }

    @Test func aPhotoOfTheSameSizeAndTimeIsNotTakenForAMovedOne() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      let names = folder.files(below: "images")
      try setTime(1_000_000_000, of: names, in: folder)
      _ = try await BuiltCommand.run("images", in: folder)
      var bytes = try Array(folder.bytes("images/\(names[0])"))
      bytes[bytes.count / 2] ^= 1
      try FileManager.default.removeItem(atPath: folder("images/\(names[0])"))
      try folder.write(bytes, to: "images/1/other.jpg")
      try setTime(1_000_000_000, of: ["1/other.jpg"], in: folder)
      let run = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(
        !run.output.contains("\"moved\"") && run.number("made") == 1 && run.number("gone_thumbnails") == 1,
        "\(run.output)")
    }

    @Test func brokenPhotosAreKnownByTheirContents() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      let whole = try folder.bytes("images/\(folder.files(below: "images")[0])")
      try folder.write(whole.prefix(2000), to: "images/0/cut.jpg")
      try folder.write(Data("no picture".utf8), to: "images/text.jpg")
      let first = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(first.status == 1 && first.number("failed") == 2, "\(first.errors)")
      try setTime(1_000_000_000, of: ["text.jpg"], in: folder)
      try FileManager.default.moveItem(atPath: folder("images/0/cut.jpg"), toPath: folder("images/1/cut too.jpg"))
      let second = try await BuiltCommand.run("images", "--json", "--known-failures", "ok", in: folder)
      #expect(second.status == 0 && second.number("failed_earlier") == 2, "\(second.output)\(second.errors)")
      let report = try await BuiltCommand.run("report", "--failed", in: folder)
      #expect(report.output.split(separator: "\n").count == 2, "\(report.output)")
      // Other contents of the same size are tried.
      var other = Array(whole.prefix(2000))
      other[1000] ^= 1
      try folder.write(other, to: "images/text.jpg")
      try folder.write(other, to: "images/1/cut too.jpg")
      let third = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(
        third.status == 1 && third.number("failed_earlier") == 0 && third.number("failed") == 2, "\(third.output)")
    }

    @Test func thumbnailsOfOtherJobsStay() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      _ = try await BuiltCommand.run("images/0", in: folder)
      let name = try #require(folder.files(below: "images/0").first)
      try FileManager.default.moveItem(atPath: folder("images/0/\(name)"), toPath: folder("images/1/moved.jpg"))
      let run = try await BuiltCommand.run("images/1", "--json", in: folder)
      #expect(run.number("moved") == 1, "\(run.output)")
      #expect(folder.exists("thumbs/\(name)") && folder.exists("thumbs/moved.jpg"))
      #expect(try await BuiltCommand.run("report", in: folder).output.contains(" 1 gone (1 thumbnail)"))
    }

    @Test func aCopyLeavesTheThumbnailOfItsOriginal() async throws {
      let folder = try TemporaryFolder.withPhotos(4)
      _ = try await BuiltCommand.run("images", in: folder)
      let name = folder.files(below: "images")[0]
      try FileManager.default.copyItem(atPath: folder("images/\(name)"), toPath: folder("images/copy.jpg"))
      let run = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(!run.output.contains("\"moved\"") && run.number("made") == 1, "\(run.output)")
      #expect(folder.exists("thumbs/\(name)") && folder.exists("thumbs/copy.jpg"))
    }

    @Test func forceMakesAllTheSame() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      _ = try await BuiltCommand.run("images", in: folder)
      try FileManager.default.moveItem(atPath: folder("images/0"), toPath: folder("images/trip"))
      try setTime(1_000_000_000, of: folder.files(below: "images"), in: folder)
      let dry = try await BuiltCommand.run("images", "--json", "--dry-run", in: folder)
      #expect(dry.number("would_make") == 6, "\(dry.output)")
      let run = try await BuiltCommand.run("images", "--json", "--force", in: folder)
      #expect(run.number("made") == 6 && !run.output.contains("\"moved\""), "\(run.output)")
    }
  }
}
