import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Files with dates and sizes that no camera gives them.
  @Suite struct Extremes {
    /// 1601, the first year of NTFS, to 2600, after the last of ext4, and the first and the last time of all. A file system
    /// that lacks one keeps the nearest.
    private static let seconds = [
      Int.min, -11_644_473_600, -2_208_988_801, -1, 13_569_465_600, 15_032_385_535, 19_880_899_200, .max,
    ]

    /// A memory file system, whose files may have any date and size; nil if there is none.
    private static let memory: String? = {
      guard access("/dev/shm", W_OK) == 0 else { return nil }
      let folder = TemporaryFolder(in: "/dev/shm")
      return (try? folder.write([1], to: "file")) != nil && truncate(folder("file"), .max) == 0 ? "/dev/shm" : nil
    }()

    private func date(_ path: String, _ seconds: Int, nanoseconds: Int = 0) {
      let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
      #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
    }

    private func withDatedPhotos(in parent: String = NSTemporaryDirectory()) throws -> TemporaryFolder {
      let folder = TemporaryFolder(in: parent)
      let photo = SyntheticPhoto(seed: 1, width: 200, height: 150).jpeg()
      for (index, seconds) in Self.seconds.enumerated() {
        try folder.write(photo, to: "images/\(index).jpg")
        date(folder("images/\(index).jpg"), seconds, nanoseconds: index == 3 ? 500_000_000 : 0)
      }
      try folder.write(photo.prefix(300), to: "images/cut.jpg")
      date(folder("images/cut.jpg"), 13_569_465_600)
      return folder
    }

    /// Runs three times: from nothing, with what the first run remembers, and without that.
    private func expectAllMadeOnce(_ images: String, in folder: TemporaryFolder) async throws {
      let first = try await BuiltCommand.run(images, "--json", in: folder)
      #expect(first.status == 1 && first.number("made") == Self.seconds.count, "\(first.errors)")
      let second = try await BuiltCommand.run(images, "--json", "--manifest", "m.json", in: folder)
      #expect(second.status == 1 && second.number("up_to_date") == Self.seconds.count, "\(second.errors)")
      #expect(second.number("failed_earlier") == 1 && second.errors.contains("cut.jpg: "), "\(second.errors)")
      try FileManager.default.removeItem(atPath: folder("thumbs/.thumbjob/ledger"))
      let third = try await BuiltCommand.run(images, "--json", in: folder)
      #expect(third.number("up_to_date") == Self.seconds.count && third.number("failed") == 1, "\(third.errors)")
    }

    @Test func filesOfAnyDateAreMadeOnce() async throws {
      let folder = try withDatedPhotos()
      try await expectAllMadeOnce("images", in: folder)
      // A new date is a change, also where it has the same nanoseconds in 64 bits.
      let before = try FileManager.default.attributesOfItem(atPath: folder("thumbs/4.jpg"))[.modificationDate] as? Date
      try folder.write(SyntheticPhoto(seed: 2, width: 200, height: 150).jpeg(), to: "images/4.jpg")
      date(folder("images/4.jpg"), -4_877_278_474, nanoseconds: 290_448_384)
      let changed = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(changed.number("made") == 1, "\(changed.errors)")
      let after = try FileManager.default.attributesOfItem(atPath: folder("thumbs/4.jpg"))[.modificationDate] as? Date
      #expect(before != after)
    }

    @Test(.enabled(if: memory != nil, "needs a memory file system"))
    func thumbnailsHaveTheNearestDateThatTheirFileSystemKeeps() async throws {
      let photos = try withDatedPhotos(in: try #require(Self.memory))
      try await expectAllMadeOnce(photos("images"), in: TemporaryFolder())
      try await expectAllMadeOnce("images", in: photos)
    }

    @Test(.enabled(if: memory != nil, "needs a memory file system"))
    func theLargestFilesThatThereCanBeAreCounted() async throws {
      let folder = TemporaryFolder(in: try #require(Self.memory))
      for name in ["a", "b", "c"] {
        try folder.write(SyntheticPhoto(seed: 1, width: 200, height: 150).jpeg(), to: "images/\(name).jpg")
        #expect(truncate(folder("images/\(name).jpg"), .max) == 0)
      }
      let run = try await BuiltCommand.run("images", "--json", in: folder)
      #expect(run.status == 0 && run.number("made") == 3 && run.number("bytes_read") == .max, "\(run.errors)")
      #expect(try await BuiltCommand.run("images", "--json", in: folder).number("up_to_date") == 3)
      let split = try await BuiltCommand.run("split", "images", "--into", "lists", "--parts", "2", in: folder)
      #expect(split.status == 0, "\(split.errors)")
    }

    /// A name that is no UTF-8, and a path of more than the 512 bytes that SQLite takes.
    @Test(arguments: [
      "$(printf 'out\\377\\376')", "\(String(repeating: String(repeating: "d", count: 150) + "/", count: 4))",
    ])
    func anOutputWithAnyPathHasALedger(out: String) async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      try folder.write(try folder.bytes("images/0/photo 0.jpg").prefix(300), to: "images/cut.jpg")
      func run(_ words: String) async throws -> BuiltCommand.Ending {
        try await BuiltCommand.run(
          executable: "/bin/sh", ["-c", "out=\"\(out)\"; exec \"$0\" \(words)", BuiltCommand.path], in: folder)
      }
      let first = try await run("images -o \"$out\"")
      #expect(first.status == 1 && !first.errors.contains("ledger"), "\(first.errors)")
      let second = try await run("images -o \"$out\" --json")
      #expect(second.number("failed_earlier") == 1 && second.number("up_to_date") == 6, "\(second.errors)")
      #expect(try await run("report \"$out\" --failed").output.hasPrefix("images/cut.jpg: "))
      try FileManager.default.removeItem(atPath: folder("images/1/photo 1.jpg"))
      let pruned = try await run("images -o \"$out\" --prune")
      #expect(pruned.errors.contains("removed 1 thumbnail ("), "\(pruned.errors)")
    }

    /// A watch looks at the age of what a walk finds.
    @Test func aWatchTakesFilesOfAnyDate() async throws {
      let folder = try withDatedPhotos()
      let ending = try await BuiltCommand.run("watch", "images", "--poll", "200ms", in: folder) { run in
        try await expectEventually { folder.files(below: "thumbs").count == Self.seconds.count }
        try folder.write(try folder.bytes("images/0.jpg"), to: "images/new.jpg")
        self.date(folder("images/new.jpg"), .min)
        try await expectEventually { folder.exists("thumbs/new.jpg") }
        // After HUP, the status would tell whether a walk was under way.
        run.send(SIGTERM)
      }
      #expect(ending.status == 143, "\(ending.errors)")
    }
  }
}
