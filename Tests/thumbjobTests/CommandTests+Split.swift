import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Lists and shares: every source is made once, wherever, and its thumbnail has the place that one run gives it.
  @Suite struct Split {
    private func run(
      _ arguments: String..., in folder: TemporaryFolder, environment: [String: String] = [:]
    ) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder, environment: environment)
    }

    @Test func allListsTogetherMakeWhatOneRunMakes() async throws {
      let folder = try TemporaryFolder.withPhotos(12)
      let split = try await run("split", "images", "--into", "lists", "--parts", "20", "--json", in: folder)
      #expect(split.status == 0 && split.number("sources") == 12 && split.number("parts") == 20, "\(split.errors)")
      #expect(split.number("empty_parts") >= 8 && split.errors.hasPrefix("12 sources in 20 lists → ./lists ("))
      var made = 0
      for part in 0..<20 {
        // A whole list by its name, or by its number.
        let list = String(format: "lists/%04d", part)
        let arguments = part % 2 == 0 ? [list] : ["lists", "--shard", "\(part)"]
        let ending = try await BuiltCommand.run(
          executable: BuiltCommand.path, ["--files0-from"] + arguments + ["-o", "parts", "--json"], in: folder)
        #expect(ending.status == 0, "a list without sources is done: \(ending.errors)")
        #expect(ending.summary["shard"] as? String == (part % 2 == 0 ? nil : "\(part)/20"))
        made += ending.number("made")
      }
      #expect(made == 12)
      let one = try await run("images", "-o", "parts", "--json", in: folder)
      #expect(one.number("up_to_date") == 12 && one.number("made") == 0 && one.errors == "12 up to date\n")
    }

    @Test func anotherSplitMovesNoThumbnail() async throws {
      let folder = try TemporaryFolder.withPhotos(6)
      for parts in ["1", "3"] {
        _ = try await run("split", "images", "--into", "lists", "--parts", parts, "--quiet", in: folder)
        for part in 0..<Int(parts)! { _ = try await run("--files0-from", "lists", "--shard", "\(part)", in: folder) }
      }
      #expect(folder.files(below: "thumbs") == folder.files(below: "images"))
    }

    @Test func allSharesTogetherMakeWhatOneRunMakes() async throws {
      let folder = try TemporaryFolder.withPhotos(12)
      var (made, others) = (0, 0)
      for share in 0..<3 {
        let ending = try await run("images", "--shard", "\(share)/3", "--json", in: folder)
        #expect(ending.status == 0 && ending.summary["shard"] as? String == "\(share)/3" && ending.addsUp)
        #expect(ending.errors.hasPrefix("share \(share)/3: ") && ending.errors.contains(" in other shares"))
        made += ending.number("made")
        others += ending.number("in_other_shards")
      }
      #expect(made == 12 && others == 24)
      #expect(try await run("images", "--json", in: folder).number("up_to_date") == 12)
    }

    @Test func theSchedulerTellsTheShare() async throws {
      let folder = try TemporaryFolder.withPhotos(8)
      _ = try await run("split", "images", "--into", "lists", "--parts", "4", in: folder)
      let list = try await run(
        "--files0-from", "lists", "--shard", "auto", "--json", "--dry-run", in: folder,
        environment: ["SLURM_ARRAY_TASK_ID": "2"])
      #expect(list.status == 0 && list.summary["shard"] as? String == "2/4", "\(list.errors)")
      let share = try await run(
        "images", "--shard", "auto/4", "--json", "--dry-run", in: folder, environment: ["JOB_COMPLETION_INDEX": "3"])
      #expect(share.summary["shard"] as? String == "3/4")
      for (arguments, reason) in [
        (["images", "--shard", "auto"], "thumbjob: --shard: auto: none of SLURM_ARRAY_TASK_ID, "),
        (["images", "--shard", "4/4"], "thumbjob: --shard: there is no share 4/4; the shares are 0/4 to 3/4"),
        (["--files0-from", "lists"], "lists is a folder of lists; name one of them, or set “shard” to auto"),
        (["images", "--files0-from", "lists", "--shard", "0"], "there can be no other sources"),
        (["--files0-from", "lists", "--shard", "4"], "there is no list 4; the lists are 0 to 3"),
        (["images", "--shard", "0/4", "--manifest", "m.json"], "a share has only some of the thumbnails"),
      ] {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder)
        #expect(ending.status == 64 && ending.errors.contains(reason), "\(ending.errors)")
      }
    }

    @Test func aShareWithoutSourcesIsDone() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      var statuses: [Int] = []
      for share in 0..<4 {
        statuses.append(try await run("images", "--shard", "\(share)/4", "--quiet", in: folder).status)
      }
      #expect(statuses == [0, 0, 0, 0] && folder.files(below: "thumbs").count == 1)
    }

    @Test func whatCannotBeSplitIsRefused() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      try folder.write([], to: "mine/notes")
      for (arguments, status, reason) in [
        (["images", "--into", "mine", "--parts", "4"], 73, "thumbjob: mine/notes: not written by thumbjob split; "),
        (["images", "--into", "l", "--parts", "0"], 64, "--parts: 0 is not within 1 to 100000"),
        (["images", "--into", "l", "--parts", "100001"], 64, "--parts: 100001 is not within 1 to 100000"),
        (["images", "gone", "--into", "l", "--parts", "4"], 66, "no lists written, because a source is missing"),
        (["--into", "l", "--parts", "4"], 64, "no source given: name a folder, such as thumbjob split"),
        (["a.yml", "--into", "l", "--parts", "4"], 64, "a.yml is a job file; split takes folders and files"),
      ] as [([String], Int, String)] {
        let ending = try await BuiltCommand.run(executable: BuiltCommand.path, ["split"] + arguments, in: folder)
        #expect(ending.status == status && ending.errors.contains(reason), "\(ending.errors)")
      }
      #expect(!folder.exists("l") && folder.files(below: "mine") == ["notes"])
    }

    @Test func manyRunsMayWriteToOneFolderAtOnce() async throws {
      let folder = try TemporaryFolder.withPhotos(24)
      _ = try await run("split", "images", "--into", "lists", "--parts", "16", in: folder)
      let endings = try await withThrowingTaskGroup(of: BuiltCommand.Ending.self) { group in
        for part in 0..<16 {
          group.addTask { try await run("--files0-from", "lists", "--shard", "\(part)", "--json", in: folder) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(endings.allSatisfy { $0.status == 0 }, "\(endings.map(\.errors))")
      #expect(endings.reduce(0) { $0 + $1.number("made") } == 24 && folder.leftovers.isEmpty)
      #expect(folder.files(below: "thumbs") == folder.files(below: "images"))
    }
  }
}
