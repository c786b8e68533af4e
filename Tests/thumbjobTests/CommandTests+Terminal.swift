import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite struct OnATerminal {
    /// Runs a job on a terminal, and calls `body` when 12 of its 34 sources are made and two are held.
    private func held(
      _ folder: TemporaryFolder, _ terminal: PseudoTerminal, environment: [String: String] = [:],
      _ body: @escaping @Sendable (pid_t) async throws -> Void
    ) async throws -> Int {
      let arguments = TemporaryFolder.heldArguments
      return try await BuiltCommand.run(arguments, on: terminal, in: folder, environment: environment) { pid in
        try await expectEventually { terminal.bottomLines.contains { $0.contains("12 of 34") } }
        try await body(pid)
        try folder.releaseHeldPlaces()
      }
    }

    @Test(arguments: [40, 80, 200]) func theBarFitsTheTerminalAndUsesItsWidth(columns: Int) async throws {
      let (folder, terminal) = (try TemporaryFolder.withHeldPlaces(), PseudoTerminal(columns: columns))
      let status = try await held(folder, terminal) { pid in
        // The names are shown once the held photos are being read.
        try await expectEventually {
          columns < 80 || terminal.bottomLines.contains { $0.contains("12 of 34") && $0.contains(".jpg ") }
        }
        let line = try #require(terminal.bottomLines.last { $0.contains("12 of 34") })
        #expect(line.hasPrefix("━━") && line.contains("─ 12 of 34 · "))
        if columns >= 80 { #expect(line.contains(" · PID \(pid) · ")) }
        #expect(line.contains(".jpg ") == (columns >= 80), "the names fill what is left: \(line)")
      }
      #expect(status == 0)
      // Every character of these lines takes one column.
      #expect(terminal.bottomLines.allSatisfy { $0.count < columns })
      let bar = try #require(terminal.bottomLines.last { $0.contains(" 12 of 34") }).prefix { "━─".contains($0) }
      // At most half of the terminal. The figures take a part of that, and a larger part once an ETA is known.
      let lengths = [40: 6...8, 80: 15...15, 200: 80...99]
      #expect(lengths[columns]?.contains(bar.count) == true, "\(bar.count)")
    }

    @Test func theBarFollowsAResize() async throws {
      let (folder, terminal) = (try TemporaryFolder.withHeldPlaces(), PseudoTerminal(columns: 120))
      _ = try await held(folder, terminal) { _ in
        for columns in [44, 150] {
          let seen = terminal.bottomLines.count
          terminal.resize(columns: columns)
          let width = columns / 2..<columns
          try await expectEventually { terminal.bottomLines.dropFirst(seen).contains { width.contains($0.count) } }
          let last = try #require(terminal.bottomLines.last)
          #expect(width.contains(last.count), "\(last)")
        }
      }
    }

    @Test func inTheCLocaleEverythingIsASCII() async throws {
      let (folder, terminal) = (try TemporaryFolder.withHeldPlaces(), PseudoTerminal(columns: 120))
      try folder.write([], to: "images/späß.jpg")
      let arguments = TemporaryFolder.heldArguments
      _ = try await BuiltCommand.run(
        arguments, on: terminal, in: folder, environment: ["LC_ALL": "C", "LANG": "de_DE.UTF-8"]
      ) { _ in
        try await expectEventually { terminal.bottomLines.contains { $0.contains("13 of 35") } }
        try folder.releaseHeldPlaces()
      }
      #expect(terminal.output.utf8.allSatisfy { $0 < 0x80 })
      #expect(terminal.bottomLines.contains { $0.hasPrefix("###") && $0.contains("--- 13 of 35 | 1 failed | ") })
      #expect(terminal.lines.contains("thumbjob: images/sp\\u{00E4}\\u{00DF}.jpg: the file is empty"))
      #expect(terminal.lines.contains { $0.hasPrefix("34 thumbnails in ") && $0.contains(" -> ./thumbs (") })
    }

    @Test func wideNamesDoNotMakeTheBarTooLong() async throws {
      let (folder, terminal) = (TemporaryFolder(), PseudoTerminal(columns: 70))
      let photo = SyntheticPhoto(seed: 1, width: 64, height: 48).jpeg()
      let name = "held/" + String(repeating: "写", count: 60) + "👩‍👩‍👧.jpg"
      try folder.write(photo.dropLast(200), to: name)
      _ = try await BuiltCommand.run(["held", "--retries", "100"], on: terminal, in: folder) { _ in
        try await expectEventually { terminal.bottomLines.contains { $0.contains("写") } }
        try folder.write(photo, to: name)
      }
      for line in terminal.bottomLines {
        let width = line.reduce(0) { $0 + ($1 == "写" ? 2 : 1) }
        #expect(width < 70, "\(line)")
      }
    }

    @Test func failuresAreRedAsTheyComeAndTheAnswerIsGreen() async throws {
      let (folder, terminal) = (try TemporaryFolder.withPhotos(2), PseudoTerminal(columns: 80))
      try folder.write([], to: "images/empty.jpg")
      try folder.write(Array("words".utf8), to: "images/notes.txt")
      let status = try await BuiltCommand.run(["images"], on: terminal, in: folder)
      #expect(status == 1)
      #expect(terminal.output.contains("\u{1B}[31mthumbjob: images/empty.jpg: the file is empty\u{1B}[0m\r\n"))
      #expect(terminal.output.contains("\u{1B}[1;32m2 thumbnails in "))
      #expect(terminal.output.hasSuffix("\u{1B}[31m1 failed\u{1B}[0m · 1 passed over (not an image)\r\n"))
    }

    @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"], ["TERM": ""]])
    func coloursCanBeSwitchedOff(environment: [String: String]) async throws {
      let (folder, terminal) = (try TemporaryFolder.withPhotos(2), PseudoTerminal(columns: 80))
      try folder.write([], to: "images/empty.jpg")
      _ = try await BuiltCommand.run(["images"], on: terminal, in: folder, environment: environment)
      #expect(!terminal.output.contains(/\x1B\[[0-9;]*m/))
      #expect(terminal.lines.contains("1 failed"))
      // A terminal that knows no control sequences gets none at all.
      if environment["TERM"] != nil { #expect(!terminal.output.contains("\u{1B}")) }
    }

    @Test func theCountsBelowTheAnswerAreFoldedToTheTerminal() async throws {
      let (folder, terminal) = (try TemporaryFolder.withPhotos(2), PseudoTerminal(columns: 40))
      try folder.write([], to: "images/empty.jpg")
      for name in ["a.txt", "b.txt"] { try folder.write(Array("words".utf8), to: "images/\(name)") }
      symlink("a.txt", folder("images/link"))
      _ = try await BuiltCommand.run(["images"], on: terminal, in: folder)
      #expect(
        terminal.lines.suffix(2) == ["1 failed · 2 passed over (not images)", "1 link not followed"],
        "\(terminal.lines)")
    }

    @Test func linesOfDataOnTheTerminalHaveNoBarBetweenThem() async throws {
      let folder = try TemporaryFolder.withWork(40)
      for option in ["--dry-run", "--json"] {
        let terminal = PseudoTerminal(columns: 80)
        _ = try await BuiltCommand.run(["images", option], on: terminal, in: folder)
        #expect(terminal.bottomLines.isEmpty && terminal.lines.count > 40)
      }
    }

    @Test func aSecondIntRemovesTheBar() async throws {
      let (folder, terminal) = (try TemporaryFolder.withWork(1_000), PseudoTerminal(columns: 80))
      mkfifo(folder("stuck"), 0o600)
      // No process reads the pipe. Once it is full, every operation blocks on it, and cancelling cannot finish.
      let script = "exec 3<>stuck; exec \"$0\" images -s 8 --json >&3"
      let status = try await BuiltCommand.run(
        executable: "/bin/sh", ["-c", script, BuiltCommand.path], on: terminal, in: folder
      ) { pid in
        try await expectEventually { folder.files(below: "thumbs").count > 4 && !terminal.bottomLines.isEmpty }
        folder.fill("stuck")
        // On a thread of its own, which does not wait for other tests: five seconds after the first INT the job gives up
        // its writes, and then ends by itself.
        try await onThread {
          kill(pid, SIGINT)
          let end = ContinuousClock.now + .seconds(60)
          while !terminal.output.contains("a second INT exits at once"), ContinuousClock.now < end { usleep(1000) }
          kill(pid, SIGINT)
        }
      }
      #expect(status == 130 && terminal.output.hasSuffix("\u{1B}[?7h\r\r\u{1B}[J"))
    }

    // MARK: status

    @Test(arguments: [40, 80, 200]) func statusFitsTheTerminalAndShowsTheOutputFolder(columns: Int) async throws {
      let folder = try TemporaryFolder.withHeldPlaces()
      let deep = "a folder/with a long name/for thumbnails"
      let arguments = TemporaryFolder.heldArguments + ["--progress", "none", "--json", "-o", deep]
      _ = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { run in
        try await expectEventually { run.output.split(separator: "\n").count == 12 }
        let table = PseudoTerminal(columns: columns)
        #expect(try await BuiltCommand.run(["status"], on: table, in: folder) == 0)
        try #require(table.lines.count == 2)
        #expect(table.lines.allSatisfy { $0.count <= columns }, "\(table.lines)")
        #expect(table.lines[0].hasPrefix("PID") && table.lines[0].hasSuffix("OUT"))
        #expect(table.lines[0].contains("RESERVED") == (columns == 200))
        #expect(table.lines[1].hasPrefix("\(run.processID)") && table.lines[1].contains("12 of "))
        #expect(table.lines[1].hasSuffix("bnails"), "the end of the path is kept: \(table.lines[1])")
        let detail = PseudoTerminal(columns: columns, rows: 40)
        #expect(try await BuiltCommand.run(["status", "\(run.processID)"], on: detail, in: folder) == 0)
        let operations = detail.lines.filter { $0.hasPrefix("  #") }
        #expect(operations.count == 10 && operations.allSatisfy { $0.count <= columns }, "\(operations)")
        #expect(operations.allSatisfy { $0.hasSuffix(".jpg") }, "the names of the files are kept: \(operations)")
        try folder.releaseHeldPlaces()
      }
    }

    @Test func watchingKeepsTheProcessAtTheTopAndTellsHowItEnded() async throws {
      let (folder, terminal) = (try TemporaryFolder.withHeldPlaces(), PseudoTerminal(columns: 60, rows: 12))
      let arguments = TemporaryFolder.heldArguments + ["--progress", "none", "--json"]
      _ = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { run in
        try await expectEventually { run.output.split(separator: "\n").count == 12 }
        let status = try await BuiltCommand.run(
          ["status", "\(run.processID)", "--watch"], on: terminal, in: folder
        ) { _ in
          try await expectEventually { terminal.bottomLines.count >= 2 }
          terminal.resize(columns: 44, rows: 12)
          try await expectEventually { terminal.output.contains("\u{1B}[H\u{1B}[J") }
          run.send(SIGUSR2)
        }
        #expect(status == 0)
        for screen in terminal.bottomLines {
          let rows = screen.replacing("\r\n", with: "\n").split(separator: "\n")
          #expect(rows.count <= 11 && rows[0].hasPrefix("process \(run.processID): "), "\(rows)")
          #expect(rows[1] == "  images held more → ./thumbs" && rows.allSatisfy { $0.count <= 60 })
        }
        let end = terminal.lines.last ?? ""
        #expect(end.hasPrefix("thumbjob: process \(run.processID) (images held more → ./thumbs) has ended"), "\(end)")
        #expect(end.contains("; last seen with 12 of "))
      }
    }
  }
}
