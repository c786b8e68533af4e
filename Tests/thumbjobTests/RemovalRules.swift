import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// Every row of the table in docs/ledger.md about what is removed.
  @Suite struct RemovalRules {
    /// How a row of the table comes about.
    private struct Scenario: Sendable {
      /// The place of the thumbnail in question.
      let place: String
      /// Options of the first run.
      var first: [String] = []
      /// Options of the later runs.
      var later: [String] = []
      /// What happens between them.
      let change: @Sendable (TemporaryFolder) throws -> Void
    }

    /// From the weakest to the strongest: what a run is told, as options and in the words of the table.
    private static let ways: [(options: [String], words: String)] = [
      ([], "by each run"), (["--prune"], "with `--prune`"), (["--prune=all"], "only with `--prune=all`"),
      (["--prune=force"], "only with `--prune=force`"),
    ]

    private static let photo = SyntheticPhoto(seed: 1, width: 90, height: 60).jpeg()
    private static let photos = ["a", "b", "c", "d", "e", "sub/f", "sub/g"].map { "images/\($0).jpg" }

    private static let scenarios: [String: Scenario] = [
      "that is in the way of another photo's, and whose source is gone":
        Scenario(place: "a.jpg") { try $0.replace("images/a.jpg", by: photo, at: "images/a.jpg/h.jpg") },
      "whose source is missing, and the folder of the source has other entries":
        Scenario(place: "sub/f.jpg") { try $0.remove("images/sub/f.jpg") },
      "whose source is a folder now":
        Scenario(place: "a.jpg") { try $0.replace("images/a.jpg", by: Array("note".utf8), at: "images/a.jpg/note") },
      "whose source is a link now, and links are not followed":
        Scenario(place: "a.jpg") { try $0.replaceByLink("images/a.jpg", to: $0("images/b.jpg")) },
      "of a size that the job does not have":
        Scenario(place: "small/a.jpg", first: ["-s", "small=32", "-s", "large=64"], later: ["-s", "48"]) { _ in },
      "whose source is gone, as more than half of the photos of its source folder":
        Scenario(place: "a.jpg") { for photo in photos.prefix(4) { try $0.remove(photo) } },
      "whose source is gone, as all photos of its source folder that the ledger knows":
        Scenario(place: "a.jpg") {
          for photo in photos.prefix(5) + ["images/sub"] { try $0.remove(photo) }
          try $0.write(Array("note".utf8), to: "images/README.txt")
        },
      "whose source is gone from a source folder that is another one than in earlier runs, or on another disk":
        Scenario(place: "a.jpg") {
          try FileManager.default.copyItem(atPath: $0("images"), toPath: $0("copy"))
          try $0.remove("images")
          try FileManager.default.moveItem(atPath: $0("copy"), toPath: $0("images"))
          try $0.remove("images/a.jpg")
        },
      "whose source is missing in an empty folder: perhaps a file system is not mounted":
        Scenario(place: "sub/f.jpg") { for name in ["f", "g"] { try $0.remove("images/sub/\(name).jpg") } },
      "whose source is missing behind a link that leads nowhere":
        Scenario(place: "sub/f.jpg") { try $0.replaceByLink("images/sub", to: $0("nowhere")) },
      "whose source is excluded": Scenario(place: "a.jpg", later: ["--exclude", "a.jpg"]) { _ in },
      "that this run has made or found up to date":
        Scenario(place: "small/a.jpg", later: ["-s", "small=32", "-s", "large=64"]) {
          // Its thumbnail is where that of `a.jpg` in the size `small` gets.
          try $0.write(photo, to: "images/small/a.jpg")
        },
      "that has no mark of thumbjob":
        Scenario(place: "a.jpg") { try $0.replace("images/a.jpg", by: photo, at: "thumbs/a.jpg") },
      "whose mark names another source: it may be a copy, or that of another job":
        Scenario(place: "b.jpg") {
          let thumbnail = try Array($0.bytes("thumbs/a.jpg"))
          try $0.replace("images/b.jpg", by: thumbnail, at: "thumbs/b.jpg")
        },
      "of a source that no ledger of the output folder has":
        Scenario(place: "a.jpg") { for name in ["thumbs/.thumbjob/ledger", "images/a.jpg"] { try $0.remove(name) } },
      "behind a link in the output folder":
        Scenario(place: "sub/f.jpg") {
          try FileManager.default.moveItem(atPath: $0("thumbs/sub"), toPath: $0("elsewhere"))
          try FileManager.default.createSymbolicLink(
            atPath: $0("thumbs/sub"), withDestinationPath: $0("elsewhere"))
          try $0.remove("images/sub/f.jpg")
        },
      "of any source, if the run did not reach all of them":
        Scenario(place: "a.jpg", later: ["--retry-failed", "--halt", "1", "--max", "1"]) {
          try $0.remove("images/a.jpg")
          for number in 0..<40 { try $0.write([1], to: "images/broken/\(number).jpg") }
        },
      "of any source, if the ledger cannot be used":
        Scenario(place: "a.jpg") {
          try $0.replace("images/a.jpg", by: Array("no database".utf8), at: "thumbs/.thumbjob/ledger")
        },
    ]

    /// This one needs a disk; `JobTests` has a test of its own for it.
    private static let testedElsewhere = [
      "whose source is missing below a mount point that has another disk now, or none"
    ]

    private static let rows: [(what: String, isRemoved: String)] = {
      let page = URL(filePath: #filePath).appending(path: "../../../docs/ledger.md").standardized
      let lines = ((try? String(contentsOf: page, encoding: .utf8)) ?? "").split(separator: "\n")
      let table = lines.drop { $0 != "| a thumbnail | is removed |" }.dropFirst(2).prefix { $0.hasPrefix("| ") }
      return table.map { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        return (cells[0], cells[1])
      }.filter { !testedElsewhere.contains($0.what) }
    }()

    @Test func everyRowHasAScenario() { #expect(Set(Self.rows.map(\.what)) == Set(Self.scenarios.keys)) }

    @Test(arguments: rows.map(\.what))
    func aThumbnailIsRemovedAsTheTableSays(row: String) async throws {
      let scenario = try #require(Self.scenarios[row])
      let isRemoved = try #require(Self.rows.first { $0.what == row }).isRemoved
      let folder = TemporaryFolder()
      for photo in Self.photos { try folder.write(Self.photo, to: photo) }
      try await run(scenario.first, in: folder)
      try scenario.change(folder)
      let way = Self.ways.firstIndex { $0.words == isRemoved }
      try #require(way != nil || isRemoved == "never")
      // The strongest way that must not remove it, and the weakest that must.
      for index in [(way ?? Self.ways.count) - 1, way ?? -1] where index >= 0 {
        try await run(scenario.later + Self.ways[index].options, in: folder)
        let isThere = FileManager.default.contents(atPath: folder("thumbs/\(scenario.place)")) != nil
        #expect(isThere == (index != way), "\(Self.ways[index].options)")
      }
    }

    private func run(_ options: [String], in folder: TemporaryFolder) async throws {
      let ending = try await BuiltCommand.run(executable: BuiltCommand.path, ["images"] + options, in: folder)
      #expect([0, 1].contains(ending.status), "\(ending.errors)")
    }
  }
}

extension TemporaryFolder {
  fileprivate func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: self(name)) }

  /// Removes one file and writes another.
  fileprivate func replace(_ name: String, by bytes: [UInt8], at other: String) throws {
    try remove(name)
    if exists(other) { try remove(other) }
    try write(bytes, to: other)
  }

  fileprivate func replaceByLink(_ name: String, to target: String) throws {
    try remove(name)
    try FileManager.default.createSymbolicLink(atPath: self(name), withDestinationPath: target)
  }
}
