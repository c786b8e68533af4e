import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Checksums, compared with those of sha256sum.
  @Suite struct Checksum {
    private func run(_ arguments: String..., in folder: TemporaryFolder) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(executable: BuiltCommand.path, ["checksum"] + arguments, in: folder)
    }

    /// Runs a script of the shell, in which `$0` is the command.
    private func shell(_ script: String, in folder: TemporaryFolder) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(
        executable: "/bin/bash", ["-c", "set -o pipefail; \(script)", BuiltCommand.path], in: folder)
    }

    /// The lines of sha256sum for all files below `images`.
    private static let reference = "find images -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum"

    /// Ten files below `images`, none of them a picture, with names that lists of checksums have to escape, and others.
    private func withOddNames() async throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      let made = try await shell(
        """
        mkdir -p images/deep/er && cd images && for name in plain.txt $'new\\nline' $'back\\\\slash' $'carriage\\rreturn' \
        ' leading space' '* star' '# hash' $'\\xff\\xfe' deep/er/ümlaut; do printf 'contents of %s' "$name" > "$name"; done
        : > empty; printf x > '.hidden'
        """, in: folder)
      try #require(made.status == 0, "\(made.errors)")
      return folder
    }

    /// A file of this size that takes no space on the disk.
    private func makeSparse(_ name: String, _ size: Int, in folder: TemporaryFolder) throws {
      try folder.write([], to: name)
      try #require(truncate(folder(name), off_t(size)) == 0)
    }

    private func lines(_ text: String) -> [Substring] { text.split(separator: "\n").sorted() }

    @Test func linesAreThoseOfSha256sum() async throws {
      let folder = try await withOddNames()
      let both = try await shell(
        """
        "$0" checksum images --hidden --quiet | LC_ALL=C sort > ours && \(Self.reference) | LC_ALL=C sort > theirs
        """, in: folder)
      #expect(both.status == 0 && both.errors.isEmpty, "\(both.errors)")
      let ours = try folder.bytes("ours")
      #expect(try ours == folder.bytes("theirs") && ours.count > 11 * 66)
      let check = try await shell(
        "sha256sum --check --strict --quiet ours && cd images && \"$0\" checksum ./plain.txt", in: folder)
      #expect(check.status == 0, "\(check.errors)")
      #expect(check.output.hasSuffix("  ./plain.txt\n"), "\(check.output)")
      #expect(check.errors.hasPrefix("1 checksum made in "), "\(check.errors)")
    }

    @Test func aListIsInTheOrderOfTheNamesAndSha256sumChecksIt() async throws {
      let folder = try await withOddNames()
      for name in ["9", "10", "a/1"] { try folder.write(name.utf8, to: "more/\(name)") }
      let made = try await run("images", "more", "--into", "images/SUMS", "--json", in: folder)
      #expect(made.status == 0 && made.number("made") == 13 && made.addsUp, "\(made.errors)")
      #expect(made.errors.contains("\nchecksum list images/SUMS: 13 files\n"), "\(made.errors)")
      let text = String(decoding: try folder.bytes("images/SUMS"), as: UTF8.self)
      let names = text.split(separator: "\n").map { $0.drop { $0 != " " }.dropFirst(2) }
      #expect(names.suffix(3) == ["more/9", "more/10", "more/a/1"], "\(names)")
      #expect(!text.contains("SUMS") && !text.contains(".thumbjob"))
      let check = try await shell("sha256sum --check --strict --quiet images/SUMS", in: folder)
      #expect(check.status == 0 && check.output.isEmpty, "\(check.output)\(check.errors)")
      let line = try #require(text.split(separator: "\n").first { $0.hasSuffix("  more/9") })
      #expect(made.output.contains(#""sha256":"\#(line.prefix(64))","source":"more/9""#), "\(made.output)")
    }

    @Test func aSecondRunReadsOnlyWhatHasChanged() async throws {
      let folder = try await withOddNames()
      _ = try await run("images", "--into", "SUMS", in: folder)
      let first = try folder.bytes("SUMS")
      let second = try await run("images", "--into", "SUMS", "--json", in: folder)
      #expect(second.number("up_to_date") == 10 && second.number("made") == 0 && second.number("bytes_read") == 0)
      #expect(second.errors == "10 up to date\n1 hidden passed over\nchecksum list SUMS: 10 files, up to date\n")
      #expect(try folder.bytes("SUMS") == first)
      try folder.write("other contents".utf8, to: "images/plain.txt")
      let third = try await run("images", "--into", "SUMS", "--json", in: folder)
      #expect(third.number("up_to_date") == 9 && third.number("made") == 1, "\(third.errors)")
      #expect(third.errors.hasPrefix("1 checksum made in "), "\(third.errors)")
      #expect(third.errors.contains("\n9 up to date · "), "\(third.errors)")
      let check = try await shell("sha256sum --check --strict --quiet SUMS && wc -l < SUMS", in: folder)
      #expect(check.status == 0 && check.output == "10\n", "\(check.output)")
      try FileManager.default.removeItem(atPath: folder("images/plain.txt"))
      #expect(try await run("images", "--into", "SUMS", "--json", in: folder).number("up_to_date") == 9)
      let rest = try await shell("sha256sum --check --strict --quiet SUMS", in: folder)
      #expect(rest.status == 0, "what is gone has no line")
      let forced = try await run("images", "--into", "SUMS", "--json", "--force", in: folder)
      #expect(forced.number("made") == 9 && forced.number("up_to_date") == 0)
    }

    /// A file of a terabyte takes one place until the run is cancelled.
    @Test func anInterruptedRunLeavesTheListAndTheNextGoesOn() async throws {
      let folder = try await withOddNames()
      try folder.write("e".utf8, to: "images/huge")
      _ = try await run("images/huge", "--into", "SUMS", in: folder)
      let former = try folder.bytes("SUMS")
      try makeSparse("images/huge", 1 << 40, in: folder)
      let ending = try await BuiltCommand.run(
        "checksum", "images", "--into", "SUMS", "--json", "--max", "2", "--progress", "none", in: folder
      ) { run in
        try await expectEventually { run.output.split(separator: "\n").count == 10 }
        run.send(SIGUSR1)
        try await expectEventually { run.errors.contains(" found · ") }
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75 && ending.number("made") == 10, "\(ending.errors)")
      #expect(ending.errors.contains(" checksum images/huge: running, "), "\(ending.errors)")
      #expect(ending.errors.contains("\nchecksum list SUMS: not made, because the run stopped\n"), "\(ending.errors)")
      #expect(try folder.bytes("SUMS") == former)
      try folder.write("now small".utf8, to: "images/huge")
      let next = try await run("images", "--into", "SUMS", "--json", in: folder)
      #expect(next.status == 0 && next.number("up_to_date") == 10 && next.number("made") == 1, "\(next.errors)")
      let check = try await shell("sha256sum --check --strict --quiet SUMS && wc -l < SUMS", in: folder)
      #expect(check.status == 0 && check.output == "11\n")
    }

    /// The system opens `/proc/self/mem`, and cannot read its first bytes.
    @Test func whatCannotBeReadFailsWithOneLineAndHasNone() async throws {
      let folder = try await withOddNames()
      try #require(mkfifo(folder("pipe"), 0o600) == 0)
      let ending = try await run("images", "pipe", "/proc/self/mem", "--into", "SUMS", "--quiet", in: folder)
      #expect(ending.status == 1)
      #expect(
        ending.errorLines.sorted() == [
          "thumbjob: /proc/self/mem: cannot be read: Input/output error",
          "thumbjob: pipe: a FIFO, not a file or a folder",
        ], "\(ending.errors)")
      #expect(try await shell("sha256sum --check --strict --quiet SUMS && wc -l < SUMS", in: folder).output == "10\n")
      let former = try folder.bytes("SUMS")
      let missing = try await run("images", "gone", "--into", "SUMS", "--force", in: folder)
      #expect(missing.status == 66)
      #expect(missing.errors.contains("not made, because it would lack files that could not be read"))
      #expect(try folder.bytes("SUMS") == former)
    }

    /// The file of a terabyte is being read when it becomes a small one.
    @Test func aFileThatChangesWhileItIsReadFails() async throws {
      let folder = TemporaryFolder()
      try makeSparse("huge", 1 << 40, in: folder)
      let ending = try await BuiltCommand.run("checksum", "huge", "--quiet", in: folder) { run in
        // The kernel counts what the process has read; see proc_pid_io(5).
        try await expectEventually {
          let counters = (try? String(contentsOfFile: "/proc/\(run.processID)/io", encoding: .utf8)) ?? ""
          let read = counters.split(separator: "\n").first?.split(separator: " ").last.flatMap { Int($0) } ?? 0
          return read > 64 << 20
        }
        try #require(truncate(folder("huge"), 5) == 0)
      }
      #expect(ending.status == 1 && ending.output.isEmpty)
      #expect(ending.errorLines.last == "thumbjob: huge: changed while it was read; the next run reads it again")
    }

    @Test func sourcesComeFromListsToo() async throws {
      let folder = try await withOddNames()
      let nul = try await shell(
        "find images -type f -print0 | \"$0\" checksum --files0-from - --quiet | LC_ALL=C sort", in: folder)
      #expect(try await shell("\(Self.reference) | LC_ALL=C sort", in: folder).output == nul.output && nul.status == 0)
      let plain = try await shell("ls -d images/deep images/plain.txt | \"$0\" checksum - --quiet", in: folder)
      #expect(plain.status == 0 && lines(plain.output).count == 2, "\(plain.errors)")
    }

    @Test func allSharesTogetherHaveEveryFileOnce() async throws {
      let folder = try await withOddNames()
      for share in ["0/2", "1/2"] {
        let ending = try await run("images", "--into", "images/SUMS", "--shard", share, "--quiet", in: folder)
        #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errors)")
      }
      let all = try await shell("cat images/SUMS.0-of-2 images/SUMS.1-of-2 | LC_ALL=C sort", in: folder)
      let whole = try await run("images", "--into", "images/SUMS", "--quiet", in: folder)
      #expect(whole.status == 0)
      #expect(try await shell("LC_ALL=C sort images/SUMS", in: folder).output == all.output)
      #expect(lines(all.output).count == 10)
      let again = try await run("images", "--into", "images/SUMS", "--shard", "1/2", "--json", in: folder)
      #expect(again.number("made") == 0 && again.number("up_to_date") + again.number("in_other_shards") >= 10)
    }

    @Test func aLargeFileNeedsLittleMemory() async throws {
      let folder = TemporaryFolder()
      try makeSparse("images/large", 1 << 30, in: folder)
      let ending = try await run("images", "--into", "SUMS", "--memory", "1M", "--json", in: folder)
      #expect(ending.status == 0 && ending.number("bytes_read") == 1 << 30, "\(ending.errors)")
      #expect(ending.number("peak_reserved_bytes") == 1 << 20 && ending.number("peak_memory_bytes") < 256 << 20)
      #expect(try await shell("sha256sum --check --quiet SUMS", in: folder).status == 0)
    }

    @Test func aDryRunPrintsTheNamesAndMakesNothing() async throws {
      let folder = try await withOddNames()
      let dry = try await run("images", "--into", "SUMS", "--dry-run", in: folder)
      #expect(dry.status == 0 && dry.errors.hasPrefix("would make 10 checksums\n"), "\(dry.errors)")
      #expect(lines(dry.output).contains("images/plain.txt") && !folder.exists("SUMS") && !folder.exists(".thumbjob"))
      _ = try await run("images", "--into", "SUMS", in: folder)
      let second = try await run("images", "--into", "SUMS", "--dry-run", in: folder)
      #expect(second.output.isEmpty)
      #expect(second.errors.hasPrefix("would make nothing; 10 up to date\n"), "\(second.errors)")
    }

    /// The ledger of a list is in the same folder as that of thumbnails, and neither takes the other for its own.
    @Test func aListAndThumbnailsMayShareAFolder() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      _ = try await BuiltCommand.run("images", "-o", "out", in: folder)
      let report = try await BuiltCommand.run("report", "out", in: folder)
      let sums = try await run("images", "out", "--into", "out/SUMS", "--json", in: folder)
      #expect(sums.status == 0 && sums.number("made") == 6, "\(sums.errors)")
      #expect(try await BuiltCommand.run("report", "out", in: folder).output == report.output)
      let pruned = try await BuiltCommand.run("images", "-o", "out", "--prune", "--json", in: folder)
      #expect(pruned.number("up_to_date") == 3 && pruned.number("made") == 0 && folder.exists("out/SUMS"))
      #expect(try await run("images", "out", "--into", "out/SUMS", "--json", in: folder).number("up_to_date") == 6)
    }

    @Test func aSourceFromAServerIsFetchedWholeAndOnlyOnce() async throws {
      let folder = TemporaryFolder()
      let body = Array(repeating: UInt8(7), count: 300_000)
      let server = ScriptedServer { request, connection in
        if request.fields["if-none-match"] == "\"one\"" || request.fields["if-modified-since"] != nil {
          connection.reply(304, ["ETag: \"one\""])
        } else {
          connection.reply(200, ["ETag: \"one\"", "Last-Modified: Sun, 01 Nov 2026 10:00:00 GMT"], body)
        }
        return true
      }
      let url = "http://127.0.0.1:\(server.port)/a.bin"
      try folder.write(body, to: "a.bin")
      let first = try await run(url, "--allow-private", "--into", "SUMS", "--json", in: folder)
      #expect(first.status == 0 && first.number("made") == 1, "\(first.errors)")
      let local = try await run("a.bin", in: folder)
      #expect(try folder.bytes("SUMS") == Data(local.output.replacing("a.bin", with: url).utf8))
      let second = try await run(url, "--allow-private", "--into", "SUMS", "--json", in: folder)
      #expect(second.number("up_to_date") == 1 && second.number("made") == 0, "\(second.errors)")
      #expect(try folder.bytes("SUMS") == Data(local.output.replacing("a.bin", with: url).utf8))
      #expect(try await run(url, "--allow-private", in: folder).output == local.output.replacing("a.bin", with: url))
    }

    @Test(
      arguments: [
        ([], 64, "no source given: name a folder, such as thumbjob checksum ./images --into SHA256SUMS"),
        (["images", "--fail-on", "error"], 64, "--fail-on: has no meaning for checksums; leave it out"),
        (["images", "--prune"], 64, "--prune: has no meaning for checksums; leave it out"),
        (["images", "--into", "images/.."], 64, "--into: images/.. is a folder; name a file"),
        (["images", "--into", "s3://bucket/SUMS"], 64, "--into: s3://bucket/SUMS is a URL; name a file"),
        (["images", "--into", "images"], 73, "images: exists and is not a checksum list of thumbjob; move it away"),
        (
          ["images", "--into", "images/plain.txt"], 73,
          "images/plain.txt: exists and is not a checksum list of thumbjob; move it away or choose another place with --into"
        ),
      ] as [([String], Int, String)])
    func whatCannotBeIsRefused(arguments: [String], status: Int, reason: String) async throws {
      let folder = try await withOddNames()
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, ["checksum"] + arguments, in: folder)
      #expect(ending.status == status && ending.errors.contains(reason), "\(ending.errors)")
      #expect(try folder.bytes("images/plain.txt") == Data("contents of plain.txt".utf8))
    }
  }
}
