import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite struct Status {
    /// Runs a job over far more work than can be done, with its socket in the test's folder, and calls `body` once the
    /// job has made something.
    private func running(
      _ folder: TemporaryFolder, _ arguments: [String] = [], environment: [String: String] = [:],
      _ body: @escaping @Sendable (BuiltCommand.Run) async throws -> Void
    ) async throws -> BuiltCommand.Ending {
      let fixed = ["images", "--max", "2", "--backlog", "8", "--json", "--progress", "none", "-o", "thumbs"]
      return try await BuiltCommand.run(
        executable: BuiltCommand.path, fixed + arguments, in: folder,
        environment: folder.runtime.merging(environment) { $1 }
      ) { run in
        try await expectEventually { run.output.split(separator: "\n").count >= 3 }
        try await body(run)
      }
    }

    private func ask(
      _ folder: TemporaryFolder, _ words: String..., environment: [String: String] = [:]
    ) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(
        executable: BuiltCommand.path, words, in: folder, environment: folder.runtime.merging(environment) { $1 })
    }

    @Test func statusFindsRunningJobsAndShowsOneInDetail() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await running(folder) { run in
        let table = try await ask(folder, "status")
        let rows = table.output.split(separator: "\n")
        #expect(table.status == 0 && rows.count == 2)
        #expect(
          rows[0].split(separator: " ").joined(separator: " ")
            == "PID STATE DONE FAILED RATE ETA RESERVED PRESSURE SOURCES OUT")
        #expect(rows[1].hasPrefix("\(run.processID)  running  ") && rows[1].hasSuffix("  images   ./thumbs"))
        let detail = try await ask(folder, "status", "\(run.processID)")
        #expect(detail.output.hasPrefix("process \(run.processID): running, for "))
        #expect(
          detail.output.contains("\n  images → ./thumbs\n") && detail.output.contains("\n2 of 2 running\n  #")
            && detail.output.contains(" of 8 waiting\n  #"))
        #expect(detail.output.contains(", all 2 places are taken: images/"))
        let json = try await ask(folder, "status", "--json")
        #expect(json.summary["pid"] as? Int == Int(run.processID))
        #expect(json.summary["outputs"] as? [String] == ["thumbs"])
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75 && folder.sockets.isEmpty)
    }

    @Test func aKilledJobIsNotShown() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await running(folder) { survivor in
        let killed = try await running(folder, ["-o", "others"]) { victim in
          #expect(try await ask(folder, "status").output.split(separator: "\n").count == 3)
          let vague = try await ask(folder, "cancel")
          #expect(vague.status == 64 && vague.errors.contains("several jobs are running: "))
          victim.send(SIGKILL)
        }
        #expect(killed.status == 128 + Int(SIGKILL) && folder.sockets.count == 2)
        let rows = try await ask(folder, "status").output.split(separator: "\n")
        #expect(rows.count == 2 && rows.last?.hasPrefix("\(survivor.processID) ") == true)
        #expect(folder.sockets == ["\(survivor.processID).sock"])
        survivor.send(SIGUSR2)
      }
      #expect(ending.status == 75)
    }

    @Test func aStoppedJobIsShownAsStopped() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      _ = try await running(folder) { run in
        run.send(SIGSTOP)
        let table = try await ask(folder, "status")
        #expect(table.status == 0 && table.output.contains("\(run.processID)  stopped  "))
        let cancelled = try await ask(folder, "cancel", "\(run.processID)")
        #expect(cancelled.status == 69 && cancelled.errors.contains("is stopped (Ctrl-Z)"))
        run.send(SIGCONT)
        run.send(SIGUSR2)
      }
    }

    @Test func oneOperationIsCancelledAndTheOthersGoOn() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let arguments = TemporaryFolder.heldArguments + ["--json", "--progress", "none"]
      let ending = try await BuiltCommand.run(
        executable: BuiltCommand.path, arguments, in: folder, environment: folder.runtime
      ) { run in
        try await expectEventually { run.output.split(separator: "\n").count == 12 }
        var waiting: [[String: Any]] = []
        while waiting.count < 8 {
          waiting = try await ask(folder, "status", "--json").summary["waiting"] as? [[String: Any]] ?? []
        }
        let id = try #require(waiting.last?["id"] as? Int)
        let cancelled = try await ask(folder, "cancel", "\(run.processID)", "\(id)")
        #expect(cancelled.status == 0 && cancelled.errors == "thumbjob: cancelled #\(id), which was waiting\n")
        let again = try await ask(folder, "cancel", "\(run.processID)", "#\(id)")
        #expect(again.status == 1 && again.errors.contains("has ended"))
        let unknown = try await ask(folder, "cancel", "\(run.processID)", "999")
        #expect(unknown.status == 1 && unknown.errors.contains("there is no operation 999"))
        try folder.releaseHeldPlaces()
      }
      #expect(ending.status == 75 && ending.addsUp)
      #expect(ending.number("cancelled") == 1 && ending.number("made") == 33)
      #expect(ending.errors.contains(".jpg: cancelled by the user\n"))
      #expect(ending.errors.contains("\n1 cancelled by the user; run the same command again"))
    }

    @Test func theSourceOfAnOperationCanBeMappedBackToItsFile() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let names = [
        Array("back\\slash \\n.jpg".utf8), Array("new\nline.jpg".utf8), [0x61, 0xff, 0x2e, 0x6a, 0x70, 0x67],
      ]
      let paths = Set(names.map { Array("odd/".utf8) + $0 })
      mkdir(folder("odd"), 0o755)
      for path in paths {
        close(open((Array("\(folder.path)/".utf8) + path + [0]).map(CChar.init(bitPattern:)), O_CREAT, 0o644))
      }
      let arguments = ["held", "odd", "--max", "2", "--retries", "100", "--json", "--progress", "none"]
      let ending = try await BuiltCommand.run(
        executable: BuiltCommand.path, arguments, in: folder, environment: folder.runtime
      ) { run in
        try await expectEventually { !folder.sockets.isEmpty }
        var waiting: [[String: Any]] = []
        while waiting.count < 3 {
          waiting = try await ask(folder, "status", "--json").summary["waiting"] as? [[String: Any]] ?? []
        }
        let found = waiting.compactMap { operation -> [UInt8]? in
          if let text = operation["source"] as? String { return Array(text.utf8) }
          let bytes = (operation["source"] as? [String: String])?["bytes"]
          return bytes.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
        }
        #expect(Set(found) == paths)
        try folder.releaseHeldPlaces()
      }
      #expect(ending.number("failed") == 3 && ending.number("made") == 2, "the files are empty: \(ending.errors)")
    }

    @Test func cancelEndsTheJobAsUsr2Does() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await running(folder) { _ in
        let cancelled = try await ask(folder, "cancel")
        #expect(cancelled.status == 0 && cancelled.errors.hasPrefix("thumbjob: cancelled all: "))
      }
      #expect(ending.status == 75 && ending.addsUp && folder.leftovers.isEmpty && folder.sockets.isEmpty)
      #expect(ending.errors.contains("thumbjob: stopped by a user through the status endpoint: "))
    }

    @Test func aPausedJobStartsNothingUntilItIsResumed() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await running(folder) { run in
        #expect(try await ask(folder, "pause").status == 0)
        try await eventuallyIdle(folder)
        let paused = try await ask(folder, "status", "\(run.processID)").output
        #expect(paused.contains(": paused by the user, for ") && paused.contains("the queue is paused by the user"))
        let lines = run.output.split(separator: "\n").count
        #expect(try await ask(folder, "pause").status == 0)
        #expect(run.output.split(separator: "\n").count == lines)
        #expect(try await ask(folder, "resume").status == 0)
        try await expectEventually { run.output.split(separator: "\n").count > lines }
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75 && ending.addsUp)
    }

    /// Waits until all operations of a paused job have ended, except those that wait for memory.
    private func eventuallyIdle(_ folder: TemporaryFolder) async throws {
      for _ in 0..<200 {
        let counters = try await ask(folder, "status", "--json").summary["counters"] as? [String: Any]
        let running = counters?["running"] as? Int
        if running != nil, running == counters?["waiting_for_memory"] as? Int { return }
      }
      Issue.record("running operations did not finish")
    }

    @Test func aPausedJobCanBeEnded() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await running(folder) { run in
        let paused = try await ask(folder, "pause")
        #expect(paused.status == 0)
        run.send(SIGTERM)
      }
      #expect(ending.status == 143 && ending.addsUp)
    }

    /// Opens a pipe and fills it to the last byte, so that the next write to it blocks.
    private static func filled(_ pipe: String) -> CInt {
      mkfifo(pipe, 0o600)
      let descriptor = open(pipe, O_RDWR | O_NONBLOCK)
      while write(descriptor, "x", 1) == 1 {}
      return descriptor
    }

    @Test func anOutputThatIsNotReadDoesNotPreventStatusRequests() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let pipe = Self.filled(folder("pipe"))
      defer { close(pipe) }
      let script = "exec \"$0\" images --json --progress none --max 2 --backlog 8 > pipe"
      let ending = try await BuiltCommand.run(
        executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder, environment: folder.runtime
      ) { run in
        try await expectEventually { !folder.sockets.isEmpty }
        var status: [String: Any] = [:]
        while (status["waiting"] as? [Any] ?? []).isEmpty {
          status = try await ask(folder, "status", "--json").summary
        }
        let last = try #require((status["waiting"] as? [[String: Any]])?.last?["id"] as? Int)
        // The cancellation is written to the output, which blocks forever. Other requests are answered meanwhile.
        async let cancelled = ask(folder, "cancel", "\(run.processID)", "\(last)")
        for _ in 0..<5 { #expect(try await ask(folder, "status").status == 0) }
        #expect(try await cancelled.status == 69)
        run.send(SIGINT)
      }
      // Ending the job does not wait for the reader either.
      #expect(ending.status == 130 && ending.errors.contains("standard output: its reader does not read"))
    }

    @Test func watchingEndsWithTheJob() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      _ = try await running(folder) { run in
        let watched = try await BuiltCommand.run(
          executable: BuiltCommand.path, ["status", "\(run.processID)", "--watch", "--json"], in: folder,
          environment: folder.runtime
        ) { watch in
          try await expectEventually { watch.output.split(separator: "\n").count >= 2 }
          run.send(SIGUSR2)
        }
        #expect(watched.status == 0 && watched.errorLines.count == 1)
        #expect(watched.errors.hasPrefix("thumbjob: process \(run.processID) (images → ./thumbs) has ended"))
      }
    }

    /// Whether this user has no running job below /tmp, where commands look whatever the environment says: a test must
    /// not cancel one.
    private static var isAlone: Bool {
      let sockets = try? FileManager.default.contentsOfDirectory(atPath: "/tmp/thumbjob-\(geteuid())")
      return sockets?.isEmpty ?? true
    }

    @Test(.enabled(if: isAlone, "a job of this user is running")) func withoutARunningJobCommandsSaySo() async throws {
      let folder = TemporaryFolder()
      for words in [["status"], ["cancel"], ["pause"], ["resume"], ["status", "--watch"]] {
        let ending = try await BuiltCommand.run(
          executable: BuiltCommand.path, words, in: folder, environment: folder.runtime)
        #expect(ending.status == 69 && ending.output.isEmpty)
        #expect(
          ending.errors == "thumbjob: no running job of yours found (one started with --status off cannot be seen)\n")
      }
      let other = try await ask(folder, "status", "1")
      #expect(other.status == 69 && other.errors.contains("no running job of yours has the process id 1"))
      #expect(try await ask(folder, "status", "nonsense").status == 64)
      #expect(try await ask(folder, "status", "unix:none.sock").status == 69)
    }

    @Test(arguments: [[SIGUSR2], [SIGHUP], [SIGINT], [SIGTERM], [SIGINT, SIGINT], []])
    func theSocketIsGoneHoweverTheJobEnds(signals: [CInt]) async throws {
      let folder = try TemporaryFolder.withWork(signals.isEmpty ? 4 : 2_000)
      _ = try await running(folder) { run in for signal in signals { run.send(signal) } }
      #expect(folder.sockets.isEmpty)
    }

    @Test func aRequestedAddressIsServedBesideThePrivateSocket() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await running(folder, ["--status", "127.0.0.1:0"]) { run in
        let link = try #require(
          run.errors.firstMatch(of: /status at http:\/\/(127\.0\.0\.1:\d+)\/#token=([0-9a-f]{64})\n/))
        let (address, token) = (String(link.1), String(link.2))
        let page = "http://\(address)/#token=\(token)"
        for target in [address, page, "http://\(address)/"] {
          #expect(try await ask(folder, "status", target).output.hasPrefix("process \(run.processID): "))
        }
        let resumed = try await ask(folder, "resume", page)
        #expect(resumed.status == 0)
        let refused = try await ask(folder, "pause", address)
        #expect(refused.status == 1 && refused.errors.contains("THUMBJOB_TOKEN"))
        #expect(try await ask(folder, "pause", address, environment: ["THUMBJOB_TOKEN": token]).status == 0)
        #expect(try await ask(folder, "cancel", "\(run.processID)").status == 0)
      }
      #expect(ending.status == 75)
    }

    @Test func aTokenFromTheEnvironmentIsNotPrinted() async throws {
      let folder = try TemporaryFolder.withWork(4)
      let token = ["THUMBJOB_TOKEN": "only-i-know-this-one"]
      let ending = try await running(folder, ["--status", "127.0.0.1:0"], environment: token) { _ in }
      #expect(ending.status == 0 && ending.errors.contains("status at http://127.0.0.1:"))
      #expect(!ending.errors.contains("token") && !ending.errors.contains("only-i-know"))
    }

    @Test func anAddressThatCannotBeServedFailsBeforeAnythingIsMade() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write([1], to: "taken")
      for (address, status) in [
        ("nonsense", 64), ("127.0.0.1:99999", 64), ("unix:taken", 69), ("unix:no/such.sock", 69),
      ] {
        let ending = try await ask(folder, "images", "--status", address)
        #expect(ending.status == status, "\(ending.errors)")
        if status == 64 {
          #expect(ending.errorLines.first?.hasPrefix("thumbjob: --status: ") == true)
        } else {
          #expect(ending.errorLines.count == 1, "\(ending.errors)")
          #expect(ending.errors.hasSuffix("; --status chooses another address, or off\n"))
        }
        #expect(folder.files(below: "thumbs").isEmpty && folder.sockets.isEmpty)
      }
      #expect(try folder.bytes("taken") == Data([1]))
      let short = try await ask(folder, "images", "--status", "127.0.0.1:0", environment: ["THUMBJOB_TOKEN": "short"])
      #expect(short.status == 64 && short.errors.contains("THUMBJOB_TOKEN"))
    }

    @Test func aWrongAddressInAJobFileIsNamedWithItsLine() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write(Array("sources: images\nstatus: nonsense\n".utf8), to: "job.yml")
      let ending = try await ask(folder, "job.yml")
      #expect(ending.status == 65)
      #expect(
        ending.errors
          == "thumbjob: job.yml:2:9: status: “nonsense” is not an address: it is neither unix:PATH nor HOST:PORT nor off\n"
      )
    }

    @Test func withStatusOffThereIsNoSocket() async throws {
      let folder = try TemporaryFolder.withWork(4)
      let ending = try await running(folder, ["--status", "off"]) { _ in
        let status = try await ask(folder, "status")
        #expect(status.status == 69)
      }
      #expect(ending.status == 0 && !folder.exists("thumbjob"))
    }

    @Test func aRuntimeFolderThatOthersCanOpenIsNotUsedAndTheJobRuns() async throws {
      let folder = try TemporaryFolder.withWork(4)
      try FileManager.default.createDirectory(
        atPath: folder("thumbjob"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
      let ending = try await running(folder, []) { _ in #expect(folder.sockets.isEmpty) }
      #expect(ending.status == 0 && ending.errors.contains("has mode 755"))
    }
  }
}

extension TemporaryFolder {
  /// The environment variables with which commands look for running jobs in this folder only.
  fileprivate var runtime: [String: String] { ["THUMBJOB_RUNTIME_DIR": self("thumbjob")] }

  /// The sockets of running jobs.
  fileprivate var sockets: [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: self("thumbjob"))
    return (names ?? []).sorted()
  }
}
