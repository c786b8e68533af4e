import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Several runs of the built binary on one output folder.
  @Suite struct OtherRuns {
    private static let others = TemporaryFolder.heldArguments + ["--json", "--progress", "none"]

    /// Runs over held work, and calls `body` once it stands still.
    private func beside(
      _ folder: TemporaryFolder, _ more: [String] = [],
      _ body: @escaping @Sendable (BuiltCommand.Run) async throws -> Void
    ) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(executable: BuiltCommand.path, Self.others + more, in: folder) { run in
        try await expectEventually { run.output.split(separator: "\n").count == 12 }
        try await body(run)
      }
    }

    @Test func aRunNamesAnotherOneAndGoesOn() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      _ = try await beside(folder) { other in
        let run = try await BuiltCommand.run("images", "--json", in: folder)
        #expect(run.status == 0 && run.number("made") == 12)
        let line = try #require(run.errorLines.first { $0.contains("also in use") })
        #expect(
          line.hasPrefix("thumbjob: thumbs: also in use by process \(other.processID) (/")
            && line.contains(/images, .*, since \d{4}-\d\d-\d\d \d\d:\d\d\); --wait waits until it has ended$/),
          "\(line)")
        #expect(run.output.contains("\"event\":\"other-run\"") && run.output.contains("\"pid\":\(other.processID)"))
        let quiet = try await BuiltCommand.run("images", "--quiet", in: folder)
        #expect(quiet.errors == "")
        other.send(SIGKILL)
      }
      let after = try await BuiltCommand.run("images", in: folder)
      #expect(!after.errors.contains("also in use"), "\(after.errors)")
    }

    @Test func sharesOfTheSameSourcesSayNothingOfEachOther() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      // Both held files are in this share.
      let arguments = Self.others + ["--shard", "1/2"]
      _ = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { other in
        try await expectEventually { folder.files(below: "thumbs/.thumbjob").contains { $0.hasSuffix("/lock") } }
        let beside = try await BuiltCommand.run("images", "held", "more", "--shard", "0/2", in: folder)
        #expect(!beside.errors.contains("also in use"), "\(beside.errors)")
        let same = try await BuiltCommand.run("images", "held", "more", "--shard", "1/2", in: folder)
        #expect(same.errors.contains("also in use by process \(other.processID) "), "\(same.errors)")
        let all = try await BuiltCommand.run("images", in: folder)
        #expect(all.errors.contains("also in use by process \(other.processID) "), "\(all.errors)")
        other.send(SIGKILL)
      }
    }

    @Test(arguments: [SIGTERM, SIGKILL]) func waitBeginsWhenTheOtherHasEnded(_ signal: CInt) async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      _ = try await beside(folder) { other in
        let arguments = ["more", "-o", "thumbs", "--wait"]
        let run = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { run in
          try await expectEventually { run.errors.contains("this run waits until it has ended") }
          run.send(SIGUSR1)
          try await expectEventually { run.errors.contains("thumbjob: 0 found") }
          #expect(run.errors.contains("thumbjob: waits until process \(other.processID) ("), "\(run.errors)")
          let status = try await BuiltCommand.run("status", "\(run.processID)", in: folder)
          #expect(status.output.contains("\n  waits until process \(other.processID) ("), "\(status.output)")
          let json = try await BuiltCommand.run("status", "\(run.processID)", "--json", in: folder)
          #expect(json.output.contains("\"waits_for\":[\"process \(other.processID) ("), "\(json.output)")
          other.send(signal)
        }
        #expect(run.status == 0 && run.errors.contains("20 thumbnails in "), "\(run.errors)")
      }
    }

    @Test func aSignalEndsTheWaiting() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      _ = try await beside(folder) { other in
        let waiting = try await BuiltCommand.run("more", "-o", "thumbs", "--wait", in: folder) { run in
          try await expectEventually { run.errors.contains("this run waits until it has ended") }
          run.send(SIGTERM)
        }
        #expect(waiting.status == 143, "\(waiting.errors)")
        #expect(!waiting.errors.contains("thumbnails in "), "\(waiting.errors)")
        let count = folder.files(below: "thumbs").filter { $0.hasPrefix("0000") }.count
        #expect(count == 0, "the waiting run made thumbnails")
        other.send(SIGKILL)
      }
    }
  }
}
