import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite(.serialized) struct Compare {
    private typealias Object = [String: Any]

    private func report(_ folder: TemporaryFolder) throws -> Object {
      try #require(JSONSerialization.jsonObject(with: folder.bytes("compare/compare.json")) as? Object)
    }

    private func runs(_ folder: TemporaryFolder, _ key: String = "runs") throws -> [Object] {
      try #require(try report(folder)[key] as? [Object])
    }

    /// The names in the comparison's folder besides its two results. A comparison leaves none.
    private func leftovers(_ folder: TemporaryFolder) -> [String] {
      let names = try? FileManager.default.contentsOfDirectory(atPath: folder("compare"))
      return (names ?? []).filter { $0 != "compare.html" && $0 != "compare.json" }
    }

    @Test func tableResultsAndPageShowEachVariant() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      // A name that must be escaped in the page.
      try FileManager.default.moveItem(atPath: folder("images"), toPath: folder("<script>&images"))
      // The folder of a comparison that was killed.
      try folder.write([1], to: "compare/.thumbjob-compare-dead00/bounded/photo.jpg")
      let ending = try await BuiltCommand.run("compare", "<script>&images", "--max", "2", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(leftovers(folder).isEmpty && !folder.exists("thumbs"))
      checkOutput(ending.output)
      for name in ["bounded", "gcd-file", "serial"] {
        for round in ["round 1", "round 2 of 3", "round 3 of 3", "to be told to stop"] {
          #expect(ending.errors.contains("thumbjob: \(name), \(round): begins\n"), "\(ending.errors)")
        }
        #expect(ending.errors.contains("thumbjob: \(name), round 3 of 3: finished after"))
      }
      #expect(ending.errors.contains(", so 2 more follow\n"))
      try checkResults(folder)
      try checkPage(String(decoding: folder.bytes("compare/compare.html"), as: UTF8.self))
    }

    /// A headline, and three tables with an answer after the first, in 80 columns.
    private func checkOutput(_ output: String) {
      #expect(output.split(separator: "\n").allSatisfy { $0.count <= 80 && $0.last != " " }, "\(output)")
      let parts = output.split(separator: "\n\n")
      guard parts.count == 5 else { return #expect(parts.count == 5, "\(output)") }
      #expect(parts[0].hasPrefix("None was killed. The most sources that waited at once: bounded "))
      #expect(parts[2].contains(#/^Is the bounded queue slower than (gcd-file|serial)\? By time: /#))
      for table in [parts[1], parts[3], parts[4]] {
        let names = table.split(separator: "\n").first?.split(separator: "  ")
        #expect(names?.map { $0.trimmingCharacters(in: [" "]) } == ["BOUNDED", "GCD-FILE", "SERIAL"])
      }
      for start in ["result ", "made, of 6 "] {
        let line = output.split(separator: "\n").first { $0.hasPrefix(start) }
        let value = start == "result " ? "all made" : "6"
        #expect(line?.dropFirst(start.count).ranges(of: value).count == 3, "\(output)")
      }
      for start in ["time, median ", "time, range ", "processor time, median ", "processor time, range "] {
        #expect(output.split(separator: "\n").contains { $0.hasPrefix(start) })
      }
    }

    private func checkResults(_ folder: TemporaryFolder) throws {
      let report = try report(folder)
      #expect(
        Set(report.keys) == [
          "version", "thumbjob_version", "command", "started_at", "machine", "sources", "max", "variants", "options",
          "sample_interval_seconds", "rounds", "runs", "summaries", "bounded_to", "stop_runs", "size_runs",
        ])
      #expect(report["version"] as? Int == 3 && report["max"] as? Int == 2 && report["rounds"] as? Int == 3)
      #expect(report["command"] as? [String] == ["thumbjob", "compare", "<script>&images", "--max", "2"])
      let runs = try runs(folder)
      let order = [
        "bounded", "gcd-file", "serial", "gcd-file", "serial", "bounded", "serial", "bounded", "gcd-file",
      ]
      #expect(runs.map { $0["variant"] as? String } == order)
      #expect(runs.map { $0["round"] as? Int } == [1, 1, 1, 2, 2, 2, 3, 3, 3])
      for run in runs {
        let keys: Set = [
          "variant", "round", "ending", "exit_status", "seconds", "processor_seconds", "thumbnails", "failed",
          "failures", "peak_rss_bytes", "peak_anonymous_bytes", "peak_waiting", "peak_running", "peak_threads",
          "peak_thread_names", "producer_seconds", "traits", "samples",
        ]
        #expect(Set(run.keys) == keys)
        let traits = try #require(run["traits"] as? Object)
        switch run["variant"] as? String {
        case "bounded": #expect(traits["waiting_bound"] as? Int == 8 && traits["tells_why"] as? Bool == true)
        case "serial": #expect(traits["waiting_bound"] as? Int == 0 && traits["held"] as? String == "nothing")
        default: #expect(traits["waiting_bound"] == nil && traits["held"] as? String == "payload")
        }
        let names = try #require(run["peak_thread_names"] as? [String: Int])
        #expect(names["main"] == 1)
        #expect(run["ending"] as? String == "finished" && run["thumbnails"] as? Int == 6 && run["failed"] as? Int == 0)
        let sample = try #require((run["samples"] as? [Object])?.last)
        #expect(
          Set(sample.keys) == ["seconds", "rss_bytes", "anonymous_bytes", "threads", "waiting", "running", "done"])
        #expect(sample["done"] as? Int == 6 && sample["seconds"] as? Double == run["seconds"] as? Double)
      }
      #expect(try self.runs(folder, "stop_runs").allSatisfy { $0["stop"] is Object && $0["round"] == nil })
      try checkSummaries(report, runs)
    }

    private func checkSummaries(_ report: Object, _ runs: [Object]) throws {
      let summaries = try #require(report["summaries"] as? [Object])
      #expect(summaries.map { $0["variant"] as? String } == ["bounded", "gcd-file", "serial"])
      var medians: [String: Double] = [:]
      for summary in summaries {
        #expect(Set(summary.keys) == ["variant", "finished_rounds", "shown_round", "seconds", "processor_seconds"])
        let (variant, shown) = (summary["variant"] as? String ?? "", summary["shown_round"] as? Int)
        for key in ["seconds", "processor_seconds"] {
          let times = runs.filter { $0["variant"] as? String == variant }.compactMap { $0[key] as? Double }.sorted()
          let spread = try #require(summary[key] as? [String: Double])
          #expect(times.count == 3 && spread == ["median": times[1], "minimum": times[0], "maximum": times[2]])
          #expect(times[0] > 0)
          medians["\(variant) \(key)"] = times[1]
        }
        let median = runs.first { $0["variant"] as? String == variant && $0["round"] as? Int == shown }
        #expect(median?["seconds"] as? Double == medians["\(variant) seconds"])
      }
      let ratios = try #require(report["bounded_to"] as? [Object])
      #expect(ratios.map { $0["variant"] as? String } == ["gcd-file", "serial"])
      for ratios in ratios {
        for key in ["seconds", "processor_seconds"] {
          let other = medians["\(ratios["variant"] as? String ?? "") \(key)"] ?? 0
          let ratio = try #require(ratios[key] as? Object)
          #expect(abs((ratio["ratio"] as? Double ?? 0) - (medians["bounded \(key)"] ?? 0) / other) < 1e-9)
          #expect(ratio["is_beyond_spread"] is Bool)
        }
      }
    }

    /// The page loads nothing, runs nothing, and shows each variant.
    private func checkPage(_ page: String) throws {
      for forbidden in ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "{{"] {
        #expect(!page.contains(forbidden), "\(forbidden)")
      }
      #expect(page.contains("&lt;script&gt;&amp;images"))
      for kind in ["bounded", "gcd-file", "serial"] {
        // One line in the legend, and one in each of the three charts.
        #expect(page.ranges(of: "<polyline class=\"\(kind)\"").count == 4)
      }
      #expect(page.ranges(of: "<title id=").count == 3 && page.ranges(of: "<desc id=").count == 3)
    }

    @Test func everyVariantMakesTheSameBytes() async throws {
      let folder = try TemporaryFolder.withPhotos(9)
      let names = folder.files(below: "images").map { "images/\($0)" }
      try folder.write(Array((names.joined(separator: "\0") + "\0").utf8), to: "list")
      let options = "--size 90 --size 40^ --quality 95 --progressive --subsample 444"
      // 18 files for nine photos: a folder for each size.
      let expected = ["40x40^", "90"].flatMap { _ in names }
      let variants = [
        "bounded", "gcd-file", "gcd-pixels", "gcd-pixels-serial", "gcd-path", "gcd-semaphore", "operation-queue",
        "task-group", "task-group-window", "serial",
      ]
      for (index, variant) in variants.enumerated() {
        let script =
          "exec \"$0\" compare-variant \(variant) \(options) --out out/\(index) --within none --max 2 <list >messages"
        let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder)
        // What is printed by accident goes to standard error. Every line of standard output is a message.
        #expect(ending.status == 0 && ending.errors.isEmpty)
        let messages = String(decoding: try folder.bytes("messages"), as: UTF8.self).split(separator: "\n")
        #expect(messages.allSatisfy { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) is Object })
        #expect(messages.contains { $0.hasPrefix("{\"ended\":") })
        let made = folder.files(below: "out/\(index)")
        #expect(made.count == expected.count, "\(made)")
        for name in made {
          #expect(try folder.bytes("out/\(index)/\(name)") == folder.bytes("out/0/\(name)"))
        }
      }
    }

    @Test func aListOfVariantsBeginsWithTheBoundedQueueAndSizesAreChartedToo() async throws {
      let folder = try TemporaryFolder.withPhotos(3)
      let ending = try await BuiltCommand.run(
        "compare", "images", "--variants", "task-group-window,operation-queue", "--rounds", "1", "--over-sizes",
        "40,80",
        "--progressive", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      let report = try report(folder)
      let variants = ["bounded", "operation-queue", "task-group-window"]
      #expect(report["variants"] as? [String] == variants && report["options"] as? [String] == ["--progressive"])
      let sizes = try runs(folder, "size_runs")
      #expect(sizes.map { $0["variant"] as? String } == variants + variants)
      #expect(sizes.map { $0["size"] as? String } == ["40", "40", "40", "80", "80", "80"])
      #expect(sizes.allSatisfy { $0["thumbnails"] as? Int == 3 && $0["round"] == nil && $0["stop"] == nil })
      let page = String(decoding: try folder.bytes("compare/compare.html"), as: UTF8.self)
      #expect(page.ranges(of: "<title id=").count == 5 && page.contains("public struct PlainOperationQueue"))
      #expect(ending.output.split(separator: "\n").allSatisfy { $0.count <= 80 && $0.last != " " })
    }

    @Test(.enabled(if: MemoryGroup.isUsable, "no memory cgroup can be made here"))
    func underALimitNaiveIsKilledAndBoundedFinishes() async throws {
      let folder = try Self.withHeavyFiles()
      let ending = try await BuiltCommand.run(
        "compare", "images", "--max", "2", "--memory-limit", "128M", "--rounds", "2", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      let runs = try runs(folder)
      let expected = ["finished", "killed_for_memory", "finished", "killed_for_memory", "finished", "finished"]
      #expect(runs.map { $0["ending"] as? String } == expected)
      #expect(runs[1]["signal"] as? Int == 9 && runs[3]["signal"] as? Int == 9)
      #expect(ending.output.hasPrefix("Under 128 MiB, gcd-file was killed for memory after "))
      let limit = try #require(try report(folder)["memory_limit"] as? Object)
      #expect(limit["bytes"] as? Int == 128 << 20 && (limit["kind"] as? String)?.hasPrefix("cgroup_v") == true)
      // A group that is left belongs to another comparison, which still runs.
      let owners = MemoryGroup.names.compactMap {
        $0.firstMatch(of: /^thumbjob-compare-(\d+)-/).flatMap { pid_t($0.1) }
      }
      #expect(leftovers(folder).isEmpty && owners.allSatisfy { kill($0, 0) == 0 })
    }

    @Test(.needsUnprivilegedCommand) func withoutACgroupTheAddressSpaceIsLimited() async throws {
      let folder = try Self.withHeavyFiles()
      let ending = try await BuiltCommand.runUnprivileged(
        "compare", "images", "--max", "2", "--memory-limit", "128M", "--rounds", "1", in: folder)
      #expect(ending.status == 0, "\(ending.errors)")
      let runs = try runs(folder)
      #expect(runs.map { $0["ending"] as? String } == ["finished", "out_of_address_space", "finished"])
      #expect((try report(folder)["memory_limit"] as? Object)?["kind"] as? String == "address_space")
    }

    /// The folder has a name that is not UTF-8, and the limit on open files is as low as a run allows.
    @Test func failedSourcesArePrintedOnceAndTheStatusIs1() async throws {
      let folder = try TemporaryFolder.withPhotos(2)
      let photo = SyntheticPhoto(seed: 1, width: 90, height: 90).jpeg()
      for number in 0..<7 { try folder.write(Array(photo.prefix(300 - number)), to: "images/cut \(number).jpg") }
      let script =
        "ulimit -n 64; exec \"$0\" compare images --rounds 2 --variants gcd-pixels,serial --out \"$(printf 'caf\\351')\""
      let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder)
      #expect(ending.status == 1 && ending.output.contains("made, of 9") && ending.output.contains("made all but 7"))
      let named = ending.errors.split(separator: "\n").filter { $0.contains("images/cut ") }
      #expect(
        named.count >= 5 && Set(named.compactMap { $0.split(separator: ":").dropFirst().first }).count == named.count)
      #expect(ending.errors.contains("thumbjob: 2 more sources failed"), "\(ending.errors)")
      let move = try await BuiltCommand.run(executable: "/bin/sh", ["-c", "mv caf* compare"], in: folder)
      #expect(move.status == 0 && leftovers(folder).isEmpty)
      for run in try runs(folder) {
        let failures = try #require(run["failures"] as? [[String: String]])
        #expect(run["failed"] as? Int == 7 && failures.count == 5)
        #expect(failures.allSatisfy { $0["source"]?.hasPrefix("images/cut ") == true && $0["error"]?.isEmpty == false })
      }
    }

    @Test func aSignalStopsItWhileItReadsAFile() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      // 64 GiB, nearly all of it a hole.
      truncate(folder("images/0/photo 0.jpg"), 1 << 36)
      let ending = try await BuiltCommand.run("compare", "images", in: folder) { run in
        try await expectEventually { !leftovers(folder).isEmpty }
        run.send(SIGINT)
      }
      #expect(ending.status == 130 && !folder.exists("compare"))
    }

    @Test(arguments: [
      ([], 64, "no source given: name a folder, such as thumbjob compare ./images"),
      (["images", "--memory-limit", "50%"], 64, "--memory-limit: “50%” is not an amount of memory; write 192M or 1G"),
      (["images", "--memory-limit", "much"], 64, "--memory-limit: “much” is not an amount of memory; write 192M"),
      (["images", "--memory-limit", "1M"], 71, "--memory-limit 1 MiB is too little for the program itself"),
      (["images", "--max", "0"], 64, "--max: 0 is not within 1 to 1024"),
      (["images", "--rounds", "0"], 64, "--rounds: 0 is not within 1 to 100"),
      (
        ["images", "--variants", "serial,dream"], 64,
        "thumbjob: --variants: “dream” is not one of all, bounded, gcd-file,"
      ),
      (["images", "--over-sizes", "256,,512"], 64, "--over-sizes: "),
      (["images", "--quality", "0"], 64, "--quality: 0 is not within 1 to 100"),
      (["job.yml"], 64, "job.yml is a job file; compare takes folders and files"),
      (["nowhere"], 66, "nowhere: no such file or folder"),
      (["empty"], 66, "there is no JPEG file among the sources"),
      (["images", "-o", "file"], 73, "cannot write in file: Not a directory"),
    ])
    func aComparisonThatCannotBeginPrintsTheReason(words: [String], status: Int, text: String) async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write([], to: "file")
      try folder.write([], to: "empty/nothing.txt")
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, ["compare"] + words, in: folder)
      #expect(ending.status == status && ending.output.isEmpty)
      #expect(ending.errors.contains(text), "\(ending.errors)")
      #expect(!folder.exists("compare"))
    }

    /// Libjpeg has to decode the whole photo, because it is cut off, and would hold every coefficient of it: 36 MB.
    @Test(.enabled(if: MemoryGroup.isUsable, "no memory cgroup can be made here"))
    func aSourceThatIsRefusedForMemoryNamesTheOptionOfThisCommand() async throws {
      let folder = TemporaryFolder()
      var photo = SyntheticPhoto(seed: 1, width: 4000, height: 3000)
      (photo.isBlank, photo.isProgressive) = (true, true)
      let bytes = photo.jpeg()
      try folder.write(Array(bytes.prefix(bytes.count / 2)), to: "images/cut.jpg")
      let ending = try await BuiltCommand.run("compare", "images", "--memory-limit", "32M", "--rounds", "1", in: folder)
      #expect(ending.status == 1 && !ending.errors.contains("--memory "), "\(ending.errors)")
      #expect(ending.errors.contains("images/cut.jpg: needs "))
      #expect(ending.errors.contains("may hold; a higher --memory-limit would allow it\n"))
    }

    @Test func aListWithNULsIsRefusedWithoutAnOptionThatCompareLacks() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let script = "printf 'images\\0more\\n' | \"$0\" compare -"
      let ending = try await BuiltCommand.run(executable: "/bin/sh", ["-c", script, BuiltCommand.path], in: folder)
      #expect(ending.status == 66 && ending.errors.contains("NUL") && !ending.errors.contains("--files0-from"))
    }

    @Test func usr1PrintsVariantAndRound() async throws {
      let folder = try Self.withLargePhotos(12)
      let ending = try await BuiltCommand.run("compare", "images", "--max", "2", "--rounds", "2", in: folder) { run in
        try await expectEventually { Self.child(of: run.processID) != nil }
        try await expectEventually {
          run.send(SIGUSR1)
          // Which variant runs by then depends on the machine.
          return run.errors.contains(#/thumbjob: [a-zA-Z ]+, round 1 of 2: \d+ of 12 done, /#)
        }
        run.send(SIGTERM)
      }
      #expect(ending.status == 143 && ending.errors.hasSuffix("thumbjob: stopped by TERM; nothing is kept\n"))
    }

    @Test(arguments: [(SIGTERM, 143), (SIGINT, 130), (SIGUSR2, 75), (SIGKILL, 137)])
    func aSignalLeavesNoProcessAndNoFolder(signal: CInt, status: Int) async throws {
      let folder = try Self.withLargePhotos(12)
      let variant = LockedBox<pid_t?>(nil)
      let ending = try await BuiltCommand.run("compare", "images", "--max", "2", in: folder) { run in
        try await expectEventually { !folder.files(below: "compare").filter { $0.hasSuffix(".jpg") }.isEmpty }
        let process = try #require(Self.child(of: run.processID))
        variant.change { $0 = process }
        // The messages go elsewhere, so that a stray print cannot corrupt them.
        let output = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(STDOUT_FILENO)")
        #expect(output == "/dev/null")
        run.send(signal)
      }
      #expect(ending.status == status, "\(ending.errors)")
      let process = try #require(variant.value)
      // After KILL the variant's process cleans up, once it cannot send a message: it sends twenty each second.
      try await expectEventually { !Self.isAlive(process) && leftovers(folder).isEmpty }
      #expect(!folder.exists("compare/compare.json"))
    }

    /// Ten files of 75 MB, most of which is a hole after the picture. Two of them exceed the limit. The naive variant
    /// holds two when it reads a file before the thumbnail of the previous one is made. As a picture has 108
    /// megapixels, that happens at least once in ten files, however busy the machine is.
    private static func withHeavyFiles() throws -> TemporaryFolder { try withLargePhotos(10, bytes: 75_000_000) }

    /// Links to one photo that takes long to decode.
    ///
    /// - Parameter bytes: the size to extend the file to.
    private static func withLargePhotos(_ count: Int, bytes: Int? = nil) throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      try folder.write(largePhoto, to: "images/00.jpg")
      if let bytes { truncate(folder("images/00.jpg"), bytes) }
      for number in 1..<count {
        let name = folder(String(format: "images/%02d.jpg", number))
        try FileManager.default.linkItem(atPath: folder("images/00.jpg"), toPath: name)
      }
      return folder
    }

    /// A photo of 108 megapixels of one colour, made once.
    private static let largePhoto: [UInt8] = {
      var photo = SyntheticPhoto(seed: 1, width: 12000, height: 9000)
      (photo.isBlank, photo.hasFullChroma) = (true, true)
      return photo.jpeg()
    }()

    /// A zombie does not count: an orphan that has ended may stay one, because it is not reaped.
    private static func isAlive(_ process: pid_t) -> Bool {
      let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      return status.map { !$0.contains("State:\tZ") } ?? false
    }

    /// The first child process.
    ///
    /// *Source*: proc_pid_task(5), children.
    private static func child(of process: pid_t) -> pid_t? {
      let text = try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
      return text?.split(separator: " ").first.flatMap { pid_t($0) }
    }
  }
}
