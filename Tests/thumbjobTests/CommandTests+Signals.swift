import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite struct Signals {
    /// Runs over far more work than can be done, and calls `body` when the first thumbnails are made.
    private func interrupted(
      _ folder: TemporaryFolder, _ arguments: [String] = [],
      _ body: @escaping @Sendable (BuiltCommand.Run) async throws -> Void
    ) async throws -> BuiltCommand.Ending {
      let fixed = ["images", "--max", "2", "--backlog", "8", "--json", "--progress", "none"]
      return try await BuiltCommand.run(executable: BuiltCommand.path, fixed + arguments, in: folder) { run in
        try await expectEventually { run.output.split(separator: "\n").count >= 3 }
        try await body(run)
      }
    }

    /// Runs over held work, and calls `body` when 12 sources are made, two are running and the backlog is full.
    private func held(
      _ folder: TemporaryFolder, _ more: [String] = [],
      _ body: @escaping @Sendable (BuiltCommand.Run) async throws -> Void
    ) async throws -> BuiltCommand.Ending {
      let arguments = TemporaryFolder.heldArguments + ["--json", "--progress", "none"] + more
      return try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { run in
        try await expectEventually { run.output.split(separator: "\n").count == 12 }
        try await body(run)
      }
    }

    /// The mask is set once more in `main`, which replaces the whole mask and so is no SIG_BLOCK.
    @Test(.enabled(if: Making.canTrace, "strace is missing or may not trace here"))
    func signalsAreBlockedBeforeMain() async throws {
      let folder = TemporaryFolder()
      let command = [
        "strace", "-qq", "-e", "trace=rt_sigprocmask", "-o", folder("calls"), BuiltCommand.path, "--version",
      ]
      let ending = try await BuiltCommand.run(executable: "/usr/bin/env", command, in: folder)
      let calls = try String(decoding: folder.bytes("calls"), as: UTF8.self)
      #expect(ending.status == 0)
      #expect(calls.hasPrefix("rt_sigprocmask(SIG_BLOCK, [HUP INT USR1 USR2 TERM], "), "\(calls)")
    }

    @Test func usr1ListsRunningAndWaitingOperationsAtOnce() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await interrupted(folder) { run in
        run.send(SIGUSR1)
        try await expectEventually { run.errors.contains(" found · ") }
        run.send(SIGUSR2)
      }
      let lines = ending.errorLines
      let waiting = try #require(lines.firstIndex { $0.contains("of 8 waiting") })
      let running = lines[1..<waiting]
      let end = try #require(lines.firstIndex { $0.contains(" of memory reserved · pressure normal (") })
      let listed = lines[(waiting + 1)..<end]
      #expect(lines[0] == "thumbjob: \(running.count) of 2 running" && running.count <= 2)
      #expect(
        lines[waiting].hasPrefix("thumbjob: \(listed.count) of 8 waiting") && listed.count <= 8 && listed.count > 0)
      #expect(running.allSatisfy { $0.contains(": running, ") || $0.contains("starting") || $0.contains("succeeded") })
      #expect((running + listed).allSatisfy { $0.contains(" thumbnail images/") && $0.contains(" → 256x256: ") })
      // A reason that several have is said once.
      #expect(lines[waiting...].prefix(2).count { $0.hasSuffix("all 2 places are taken") } == 1)
    }

    @Test func usr2CancelsAllAndALaterRunFinishes() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let ending = try await held(folder) { $0.send(SIGUSR2) }
      #expect(ending.status == 75 && ending.addsUp, "\(ending.errors)")
      #expect(ending.errors.hasPrefix("thumbjob: stopped by USR2: cancelling what runs and waits\n12 thumbnails in "))
      #expect(ending.errors.hasSuffix("\nstopped by USR2; run the same command again to go on\n"))
      #expect(folder.leftovers.isEmpty)
      #expect(ending.number("made") == 12 && folder.files(below: "thumbs").count == 12)
      try folder.releaseHeldPlaces()
      let second = try await BuiltCommand.run("images", "held", "more", "--json", in: folder)
      #expect(second.status == 0)
      #expect(second.number("up_to_date") == 12 && second.number("made") == 22)
    }

    /// The address space is limited while the job runs: small allocations succeed, but no further thread gets a stack.
    @Test(arguments: [SIGUSR2, SIGTERM, 0]) func aRunAnswersAndEndsWithoutAFurtherThread(_ signal: CInt) async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let ending = try await held(folder) { run in
        let pages = try #require(
          Int(try String(contentsOfFile: "/proc/\(run.processID)/statm", encoding: .utf8).split(separator: " ")[0]))
        let limit = pages * Int(getpagesize()) + 3 << 20
        let prlimit = try Process.run(
          URL(fileURLWithPath: "/usr/bin/prlimit"), arguments: ["--pid", "\(run.processID)", "--as=\(limit)"])
        prlimit.waitUntilExit()
        try #require(prlimit.terminationStatus == 0)
        run.send(SIGUSR1)
        try await expectEventually { run.errors.contains(" found · ") }
        if signal == 0 { try folder.releaseHeldPlaces() } else { run.send(signal) }
      }
      #expect(ending.addsUp && ending.status == [SIGUSR2: 75, SIGTERM: 143, 0: 0][signal], "\(ending.errors)")
    }

    @Test(arguments: [false, true]) func cancelledSourcesAreCountedAndWithVNamed(isVerbose: Bool) async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let ending = try await held(folder, isVerbose ? ["-v"] : []) { run in
        try await expectEventually {
          run.send(SIGUSR1)
          // Twelve were made, two are running, eight waiting, and the walk holds one more.
          return run.errors.contains("thumbjob: 23 found")
        }
        run.send(SIGUSR2)
      }
      #expect(ending.number("cancelled") == 11 && ending.addsUp)
      let each = ending.errorLines.count { $0.hasSuffix(".jpg: cancelled by the user") }
      #expect(each == (isVerbose ? 11 : 0), "\(ending.errors)")
      #expect(ending.errors.contains("\n11 cancelled\(isVerbose ? "" : " (-v names each)")\n"))
      #expect(ending.errors.hasSuffix("\nstopped by USR2; run the same command again to go on\n"))
      let waiting = ending.errorLines.filter { $0.contains(": waiting ") }
      #expect(ending.errors.contains("thumbjob: 8 of 8 waiting: all 2 places are taken\n"))
      #expect(
        waiting.count >= 8 && !waiting.contains { $0.contains("places are taken") }, "a common reason is said once")
    }

    @Test func aThousandSignalsDoNoHarm() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await interrupted(folder) { run in
        for _ in 0..<1_000 { run.send(SIGUSR1) }
        for _ in 0..<100 { run.send(SIGUSR2) }
      }
      #expect(ending.status == 75 && ending.addsUp)
      #expect(ending.errorLines.count { $0.hasPrefix("thumbjob: stopped by USR2: ") } == 1)
    }

    @Test(arguments: [(SIGINT, 130, "INT"), (SIGTERM, 143, "TERM")])
    func intAndTermEndTheRunWithTheirOwnStatus(signal: CInt, status: Int, name: String) async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await interrupted(folder) { $0.send(signal) }
      #expect(ending.status == status && ending.addsUp && folder.leftovers.isEmpty)
      #expect(ending.errors.contains("stopped by \(name)"))
    }

    @Test(arguments: ["/dev/zero", "silent"])
    func aListThatNeverEndsCanBeStopped(list: String) async throws {
      let folder = TemporaryFolder()
      // No process ever writes to this pipe.
      mkfifo(folder("silent"), 0o600)
      let ending = try await BuiltCommand.run("--files0-from", list, "--json", "-o", "out", in: folder) { run in
        try await expectEventually { folder.exists("out") }
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75 && ending.addsUp, "\(ending.errors)")
    }

    @Test func hupStartsNothingNewAndFinishesRunningOperations() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await interrupted(folder) { $0.send(SIGHUP) }
      #expect(ending.status == 75 && ending.addsUp)
      for line in ending.output.split(separator: "\n") {
        let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        guard event["outcome"] as? String == "cancelled" else { continue }
        #expect(event["ran_seconds"] as? Double ?? 0 == 0, "running operations were not cancelled")
      }
      #expect(ending.errors.contains("stopped by HUP"))
    }

    /// The operations that hold the places try again and again, and so wait for memory once the job is paused.
    @Test func hupEndsAPausedJob() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let words = TemporaryFolder.heldArguments + ["--json", "--progress", "none"]
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, words, in: folder) { run in
        try await expectEventually { run.output.count { $0 == "\n" } == 12 }
        let pause = try await BuiltCommand.run("pause", "\(run.processID)", in: folder)
        #expect(pause.status == 0, "\(pause.errors)")
        try await expectEventually {
          run.send(SIGUSR1)
          let listings = run.errors.components(separatedBy: " of 2 running")
          return listings.contains { $0.components(separatedBy: "waits for memory: ").count == 3 }
        }
        run.send(SIGHUP)
      }
      #expect(ending.status == 75 && ending.addsUp && ending.number("failed") == 0, "\(ending.errors)")
    }

    @Test func aSignalSentAsSoonAsItIsBlockedIsHandledWhenTheJobBegins() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await BuiltCommand.run("images", "--json", "--progress", "none", in: folder) { run in
        while !run.holdsBack(SIGUSR2) { await Task.yield() }
        run.send(SIGUSR1)
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75 && ending.addsUp, "\(ending.errors)")
      #expect(ending.errors.contains(" waiting"), "USR1 was handled too")
    }

    /// Until the program blocks its signals, the loader works, and only the parent can prevent that a signal ends the process.
    @Test(arguments: [(SIGTERM, 143), (SIGUSR2, 75)])
    func aSignalThatTheParentBlocksIsHandledHoweverEarlyItComes(signal: CInt, status: Int) async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let command = ["--block-signal=TERM,USR2", BuiltCommand.path, "images", "--json", "--progress", "none"]
      let ending = try await BuiltCommand.run(executable: "/usr/bin/env", command, in: folder) { run in
        while !run.holdsBack(signal) { await Task.yield() }
        run.send(signal)
      }
      #expect(ending.status == status && ending.addsUp, "\(ending.errors)")
    }

    @Test func usr2IsHandledEvenIfTheParentIgnoresIt() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let script = "trap '' USR1 USR2; exec \"$0\" images --json --progress none"
      let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder) {
        run in
        try await expectEventually { !run.output.isEmpty }
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75)
    }

    /// Runs a job whose operations all block, because no process reads its output, and calls `body` then.
    private func blocked(
      _ folder: TemporaryFolder, _ body: @escaping @Sendable (BuiltCommand.Run) async throws -> Void
    ) async throws -> BuiltCommand.Ending {
      mkfifo(folder("stuck"), 0o600)
      let script = "exec 3<>stuck; exec \"$0\" images -s 8 --json --progress none >&3"
      return try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder) { run in
        try await expectEventually { folder.files(below: "thumbs").count > 4 }
        folder.fill("stuck")
        try await body(run)
      }
    }

    /// A scheduler signals all processes of a group, and a script there may send the signal a second time.
    @Test func aSecondTermOfTheSameMomentIsOne() async throws {
      for _ in 0..<20 {
        let folder = try TemporaryFolder.withWork(2_000)
        let between = LockedBox(Duration.zero)
        let ending = try await interrupted(folder) { run in
          let first = ContinuousClock.now
          for _ in 0..<2 {
            run.send(SIGTERM)
            // Two pending signals of one kind count as one.
            while run.hasPending(SIGTERM) { await Task.yield() }
          }
          between.change { $0 = .now - first }
        }
        // On a busy machine it may have been another moment.
        if between.value > .milliseconds(900) { continue }
        #expect(
          ending.status == 143 && ending.addsUp && ending.errors.contains("stopped by TERM; run"), "\(ending.errors)")
        return
      }
      Issue.record("the two signals were never of one moment")
    }

    @Test func theSecondIntEndsTheRunAtOnceEvenIfTheOutputBlocks() async throws {
      let folder = try TemporaryFolder.withWork(1_000)
      let ending = try await blocked(folder) { run in
        run.send(SIGINT)
        // Waits until the first is received, because two pending signals of one kind count as one.
        try await expectEventually { !run.hasPending(SIGINT) }
        run.send(SIGINT)
      }
      #expect(ending.status == 130)
      #expect(!ending.errors.contains(" cancelled"), "it ended at once, without a summary")
      #expect(folder.leftovers.isEmpty)
    }

    @Test func aSignalThatIsRepeatedIsAnsweredOnceAndAtOnce() async throws {
      let folder = try TemporaryFolder.withWork(1_000)
      let ending = try await blocked(folder) { run in
        for _ in 0..<3 {
          run.send(SIGUSR2)
          try await expectEventually { !run.hasPending(SIGUSR2) && run.errors.contains("stopped by USR2: ") }
        }
        run.send(SIGTERM)
        try await expectEventually { run.errors.contains("a second TERM exits at once") }
        // TERM counts again after a moment, INT at once.
        run.send(SIGINT)
      }
      #expect(ending.status == 130, "\(ending.errors)")
      #expect(ending.errorLines.count { $0.hasPrefix("thumbjob: stopped by USR2: ") } == 1, "\(ending.errors)")
    }

    @Test func aListingThatIsNotReadDoesNotPreventCancelling() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      mkfifo(folder("stuck"), 0o600)
      let script = "exec 3<>stuck; exec \"$0\" images -s 8 --quiet 2>&3"
      let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder) {
        run in
        try await expectEventually { run.holdsBack(SIGUSR1) }
        try await expectEventually { folder.files(below: "thumbs").count > 4 }
        folder.fill("stuck")
        run.send(SIGUSR1)
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75)
      #expect(folder.files(below: "thumbs").count < 2_000 && folder.leftovers.isEmpty)
    }

    @Test func linesThatNobodyReadsAreCountedAndDoNotStopTheJob() async throws {
      let folder = TemporaryFolder()
      for number in 0..<3_000 { try folder.write([7], to: "images/a file that is no picture at all \(number).txt") }
      mkfifo(folder("stuck"), 0o600)
      let script = "exec 3<>stuck; exec \"$0\" images -v --json 2>&3"
      let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder) {
        run in
        // The job ends although the pipe is full; only the process waits for its reader.
        try await expectEventually { run.outputEnd(4_000).contains("\"event\":\"summary\"") }
        let stuck = folder("stuck")
        let errors = try await onThread {
          let reader = try #require(FileHandle(forReadingAtPath: stuck))
          var text = ""
          while !text.contains("no picture found") { text += String(decoding: reader.availableData, as: UTF8.self) }
          return text.split(separator: "\n")
        }
        let printed = errors.count { $0.hasSuffix(": not an image") }
        let report = try #require(errors.first { $0.contains("not printed, because nobody read standard error") })
        #expect(report == "thumbjob: \(3_000 - printed) lines not printed, because nobody read standard error")
        #expect(printed > 256 && printed < 3_000)
      }
      #expect(ending.status == 0 && ending.number("found") == 3_000, "\(ending.output)")
    }

    @Test func aSignalThatEndsTheProcessOverridesOneThatCancels() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await interrupted(folder) { run in
        // The process is stopped meanwhile, so that it cannot end between the two.
        run.send(SIGSTOP)
        run.send(SIGUSR2)
        run.send(SIGTERM)
        run.send(SIGCONT)
      }
      #expect(ending.status == 143 && ending.addsUp)
    }

    @Test func inTheBackgroundOfAScriptIntIsIgnored() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let script = "trap '' INT; exec \"$0\" images --json --progress none"
      let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder) {
        run in
        try await expectEventually { !run.output.isEmpty }
        run.send(SIGINT)
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75)
    }

    @Test func theNextRunCleansUpAfterAKilledOne() async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let ending = try await held(folder) { $0.send(SIGKILL) }
      #expect(ending.status == 137)
      try folder.releaseHeldPlaces()
      let next = try await BuiltCommand.run("images", "held", "more", "--json", in: folder)
      #expect(next.status == 0 && folder.leftovers.isEmpty)
      #expect(folder.files(below: "thumbs").count == 34)
    }

    @Test func aReaderThatClosesThePipeEndsTheRunQuietly() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let script = "\"$0\" images --json --progress none | head -2; exit ${PIPESTATUS[0]}"
      let ending = try await BuiltCommand.run(executable: "/bin/bash", ["-c", script, BuiltCommand.path], in: folder)
      #expect(ending.status == 75 && ending.errors.isEmpty, "\(ending.errors)")
      #expect(folder.leftovers.isEmpty)
    }

    @Test func forEndsTheRunWhenItsTimeIsOver() async throws {
      let folder = try TemporaryFolder.withWork(2_000)
      let ending = try await BuiltCommand.run("images", "--for", "300ms", "--json", in: folder)
      #expect(ending.status == 75 && ending.addsUp)
    }
  }
}
