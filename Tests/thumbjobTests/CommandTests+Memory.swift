import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite(.serialized) struct Memory {
    /// This many progressive files of 24 megapixels. With `--fail-on warning`, libjpeg holds 72 MB of coefficients of
    /// each while it decodes; otherwise 2 MB are enough.
    private static func withLargePhotos(_ count: Int) throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      var photo = SyntheticPhoto(seed: 1, width: 6000, height: 4000)
      (photo.isBlank, photo.isProgressive) = (true, true)
      let bytes = photo.jpeg()
      for number in 0..<count { try folder.write(bytes, to: "images/\(number).jpg") }
      return folder
    }

    @Test(.enabled(if: MemoryGroup.isUsable, "no memory cgroup can be made here"))
    func aSmallContainerIsEnoughWithABudgetAndNotWithoutOne() async throws {
      let folder = try Self.withLargePhotos(16)
      let bounded = try #require(MemoryGroup(mebibytes: 128))
      let ending = try await bounded.run("images", "--fail-on", "warning", "--max", "8", "--json", in: folder)
      #expect(ending.status == 0 && ending.number("made") == 16, "\(ending.errors)")
      #expect(ending.number("memory_limit_bytes") == 128 << 20)
      #expect(ending.number("peak_memory_bytes") < 128 << 20)
      let unbounded = try #require(MemoryGroup(mebibytes: 128))
      let killed = try await unbounded.run(
        "images", "--fail-on", "warning", "--max", "8", "--memory", "1T", "--on-pressure", "ignore", "--force",
        in: folder)
      #expect(killed.status == 128 + 9, "\(killed.errors)")
      #expect(
        killed.errors.contains("--memory 1 TiB is more than is left of what this process may use, 128 MiB (cgroup v"))
    }

    @Test func aSourceThatNeedsTooMuchMemoryFailsWithTheFiguresAndTheOption() async throws {
      let folder = try Self.withLargePhotos(1)
      let ending = try await BuiltCommand.run("images", "--fail-on", "warning", "--memory", "64M", in: folder)
      #expect(ending.status == 1)
      let line =
        "thumbjob: images/0.jpg: needs 69.9 MiB of memory, more than the 64 MiB that one operation may hold; "
        + "--memory 70M would allow it\n"
      #expect(ending.errors.hasPrefix(line), "\(ending.errors)")
      let allowed = try await BuiltCommand.run("images", "--fail-on", "warning", "--memory", "70M", in: folder)
      #expect(allowed.status == 0)
      #expect(try await BuiltCommand.run("images", "--force", "--memory", "5M", in: folder).status == 0)
    }

    /// A file without its end marker is irregular: all of it is decoded, and the memory for that is reserved.
    @Test func anIrregularFileIsMadeWithMoreMemoryOrFails() async throws {
      let folder = try Self.withLargePhotos(1)
      try folder.write(Array(try folder.bytes("images/0.jpg").dropLast(2)), to: "images/0.jpg")
      let refused = try await BuiltCommand.run("images", "--memory", "64M", in: folder)
      #expect(refused.status == 1 && refused.errors.contains("--memory 71M would allow it"), "\(refused.errors)")
      let made = try await BuiltCommand.run("images", "--memory", "71M", "--json", in: folder)
      #expect(made.status == 0 && made.number("peak_reserved_bytes") > 64 << 20, "\(made.errors)")
    }

    @Test func operationsThatWaitForMemoryAreListedWithTheFigures() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await BuiltCommand.run(
        "images", "--max", "4", "--memory", "5M", "--json", "--progress", "none", in: folder
      ) { run in
        try await expectEventually { run.output.split(separator: "\n").count >= 3 }
        // Asks repeatedly, because at a given moment no operation may be waiting.
        try await expectEventually {
          run.send(SIGUSR1)
          return run.errors.contains("waits for memory: needs")
        }
        run.send(SIGUSR2)
      }
      let line = try #require(ending.errorLines.first { $0.contains("waits for memory") })
      #expect(line.contains(" of 5 MiB free"))
      #expect(ending.status == 75 && ending.addsUp)
      #expect(ending.number("peak_reserved_bytes") <= 5 << 20)
    }

    @Test func pressureCancelsAtOnceAndTheCancelledSourcesAreMadeAgain() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let bell = Doorbell(.fifo)
      let ending = try await pressed(folder, bell, "requeue") { run in
        try await expectEventually { run.errors.contains("memory critical") }
        try folder.releaseHeldPlaces()
      }
      #expect(ending.status == 0 && ending.number("made") == 34, "\(ending.errors)")
      let text = "thumbjob: memory critical (systemd: event on \(bell.path)): "
      let line = try #require(ending.errorLines.first { $0.hasPrefix(text) })
      #expect(line.hasSuffix(" operations cancelled, to be made again when it is normal"))
      let count = try #require(line.dropFirst(text.count).split(separator: " ").first.flatMap { Int($0) })
      #expect(ending.errorLines.count { $0.hasPrefix("  #") } == min(count, 5))
      #expect(count <= 5 || ending.errors.contains("\n  … and \(count - 5) more (-v names each)\n"))
      #expect(ending.number("requeued") > 0 && ending.number("pressure_criticals") == 1)
      #expect(ending.errors.contains("continuing, at most 1 at once") && folder.leftovers.isEmpty)
      let photos = folder.files(below: "thumbs").filter { $0.hasSuffix(".jpg") }
      // The mark before them names the source.
      let bytes = try Set(photos.map { try folder.bytes("thumbs/\($0)").dropFirst(20 + 4 + 59) })
      #expect(photos.count == 34 && bytes.count == 1)
    }

    @Test func pressureMayEndTheRunAndAnotherFinishesIt() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let ending = try await pressed(folder, Doorbell(.fifo), "cancel")
      #expect(ending.status == 75 && ending.addsUp && folder.leftovers.isEmpty)
      #expect(ending.errors.contains(/memory critical \(.*\): cancelling what runs and waits\n/))
      #expect(ending.errors.contains("stopped by memory pressure (--on-pressure cancel); run the same command again"))
      #expect(ending.number("made") == 12)
      try folder.releaseHeldPlaces()
      let second = try await BuiltCommand.run("images", "held", "more", "--json", in: folder)
      #expect(second.status == 0 && second.number("up_to_date") == 12 && second.number("made") == 22)
    }

    @Test func pressureSignalsThatCannotBeUsedAreAUsageError() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let ending = try await BuiltCommand.run(
        "images", "--pressure-source", "systemd", in: folder,
        environment: ["MEMORY_PRESSURE_WATCH": ""])
      #expect(ending.status == 64)
      #expect(
        ending.errors
          == "thumbjob: pressure source systemd cannot be used: $MEMORY_PRESSURE_WATCH is not set; auto selects one "
          + "that works\n")
    }

    /// Runs over held work, and rings the bell when 12 sources are made, two are running and the backlog is full.
    private func pressed(
      _ folder: TemporaryFolder, _ bell: Doorbell, _ response: String,
      then body: @escaping @Sendable (BuiltCommand.Run) async throws -> Void = { _ in }
    ) async throws -> BuiltCommand.Ending {
      let arguments = TemporaryFolder.heldArguments + ["--json", "--progress", "none", "--on-pressure", response]
      return try await BuiltCommand.run(
        executable: BuiltCommand.path, arguments, in: folder, environment: ["MEMORY_PRESSURE_WATCH": bell.path]
      ) { run in
        try await expectEventually { run.output.split(separator: "\n").count == 12 }
        bell.ring()
        try await body(run)
      }
    }
  }
}
