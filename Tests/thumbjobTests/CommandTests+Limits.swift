import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// The limits of processes that the system sets: open files and threads.
  @Suite struct Limits {
    @Test func aProcessWithTooFewFilesReportsTheLimit() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      for arguments in ["images", "status", "status 127.0.0.1:9"] {
        let ending = try await BuiltCommand.run(
          executable: "/bin/sh", ["-c", "ulimit -n 12; exec \"$0\" \(arguments)", BuiltCommand.path], in: folder)
        #expect(ending.status == 71 && ending.errors.contains("may open only 12 files at once"), "\(ending.errors)")
      }
    }

    /// With fewer operations the same limit suffices.
    @Test func operationsNeedFilesToo() async throws {
      let folder = try TemporaryFolder.withPhotos(40)
      for (max, status) in [("64", 71), ("4", 0)] {
        let script = "ulimit -n 64; exec \"$0\" images --max \(max)"
        let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder)
        #expect(ending.status == status, "\(max): \(ending.errors)")
        #expect(ending.errors.contains("may open only 64 files at once and needs 484") == (status == 71))
      }
    }

    @Test(.needsUnprivilegedCommand) func aProcessWithTooFewThreadsReportsTheLimit() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let ending = try await BuiltCommand.runUnprivileged("images", limit: "-u 3", in: folder)
      #expect(ending.status == 71 && ending.errors.contains("threads from the system"), "\(ending.errors)")
    }

    /// About twice to three times as many as one operation needs: if trial threads were still there when the real ones
    /// start, there would be too few.
    @Test(.needsUnprivilegedCommand, arguments: 26...34) func aLimitOfThreadsCrashesNothing(_ limit: Int) async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      let ending = try await BuiltCommand.runUnprivileged("images", "--max", "1", limit: "-u \(limit)", in: folder)
      #expect(ending.status == 0 || ending.status == 71 && !ending.errors.isEmpty, "\(ending)")
    }

    /// The walk opens a file for each level, and must leave the status endpoint its own.
    @Test(arguments: 50...60) func aDeepTreeAndFewFilesCrashNothing(_ limit: Int) async throws {
      let folder = TemporaryFolder()
      let photo = SyntheticPhoto(seed: 1, width: 32, height: 24).jpeg()
      for depth in 1...48 { try folder.write(photo, to: String(repeating: "deep/", count: depth) + "photo.jpg") }
      let script = "ulimit -n \(limit); exec \"$0\" deep --max 2 --force --progress none"
      for _ in 0..<4 {
        let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder)
        #expect(ending.status == 1 && ending.errors.contains("cannot be opened"), "\(ending)")
      }
    }
  }
}
