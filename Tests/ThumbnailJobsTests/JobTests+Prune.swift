import Files
import Foundation
import TestSupport
import Testing

@testable import ThumbnailJobs

/// What a job removes of thumbnails that no source has any more.
extension JobTests {
  @Suite(.timeLimit(.minutes(5))) struct Pruning {
    private let folder = TemporaryFolder()

    private static let photo = SyntheticPhoto(seed: 1, width: 90, height: 60).jpeg()

    private func settings(_ sources: [String] = ["images"], sizes: [String] = ["32"]) -> JobSettings {
      var settings = JobSettings()
      settings.sources = sources.map { .path(Path(folder($0))) }
      settings.outputs[0].folder = Path(folder("thumbs"))
      settings.outputs[0].sizes = sizes.map { .known($0) }
      settings.max = 2
      return settings
    }

    private func write(_ names: String...) throws { for name in names { try folder.write(Self.photo, to: name) } }

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: folder(name)) }

    /// Runs a job and prunes. Returns why it did not, or the sorted places of what it removed.
    private func prune(_ settings: JobSettings, isDryRun: Bool = false) async throws -> (PruneRefusal?, [String]) {
      try await onThread {
        let job = try Job(settings) { _ in }
        let report = try job.run()
        if let refusal = job.pruneRefusal(after: report) { return (refusal, []) }
        var removed: [String] = []
        let counts = job.prune(
          isDryRun: isDryRun,
          onThumbnail: { path, _ in
            removed.append(path.below(settings.outputs[0].folder)?.printable ?? "not in the output folder")
          },
          onError: { Issue.record("\($0)") })
        #expect(counts.thumbnails == removed.count && (counts.bytes > 0) == !removed.isEmpty)
        return (nil, removed.sorted())
      }
    }

    private func thumbnails() -> [String] {
      folder.files(below: "thumbs").filter { !$0.contains(".thumbjob/") }.sorted()
    }

    @Test func onlyThumbnailsOfSourcesThatAreGoneAreRemoved() async throws {
      try write("images/a.jpg", "images/b.jpg", "images/.hidden.jpg", "images/deep/er/c.jpg", "images/plain")
      var settings = settings()
      settings.filter.takesHidden = true
      #expect(try await prune(settings) == (nil, []))
      try folder.write(Array("notes".utf8), to: "thumbs/notes.txt")
      try write("thumbs/foreign.jpg")
      for name in ["b.jpg", ".hidden.jpg", "deep", "plain"] { try remove("images/\(name)") }
      #expect(try await prune(settings, isDryRun: true).1 == [".hidden.jpg", "b.jpg", "deep/er/c.jpg", "plain.jpg"])
      #expect(folder.exists("thumbs/b.jpg"))
      #expect(try await prune(settings).1 == [".hidden.jpg", "b.jpg", "deep/er/c.jpg", "plain.jpg"])
      #expect(thumbnails() == ["a.jpg", "foreign.jpg", "notes.txt"])
      #expect(!folder.exists("thumbs/deep"))
    }

    @Test func aSourceThatIsExcludedOrBehindALinkThatLeadsNowhereIsNotGone() async throws {
      try write("images/a.jpg", "images/b.jpg", "other/c.jpg")
      try FileManager.default.createSymbolicLink(
        atPath: folder("images/linked"), withDestinationPath: folder("other"))
      var settings = settings()
      settings.followsLinks = true
      _ = try await prune(settings)
      #expect(thumbnails() == ["a.jpg", "b.jpg", "linked/c.jpg"])
      try FileManager.default.moveItem(atPath: folder("other"), toPath: folder("unmounted"))
      settings.filter.excludes = [try Glob("b.jpg")]
      #expect(try await prune(settings).0 == .unreadable, "the link leads nowhere")
      settings.followsLinks = false
      #expect(try await prune(settings) == (nil, []))
      #expect(thumbnails() == ["a.jpg", "b.jpg", "linked/c.jpg"])
    }

    @Test func sizesThatAreGoneAreRemoved() async throws {
      try write("images/a.jpg", "images/x/b.jpg")
      _ = try await prune(settings(sizes: ["32"]))
      #expect(try await prune(settings(sizes: ["small=24", "big=48"])).1 == ["a.jpg", "x/b.jpg"])
      #expect(thumbnails() == ["big/a.jpg", "big/x/b.jpg", "small/a.jpg", "small/x/b.jpg"])
      try remove("images/a.jpg")
      #expect(
        try await prune(settings(sizes: ["big=48", "huge=64"])).1 == ["big/a.jpg", "small/a.jpg", "small/x/b.jpg"])
      #expect(thumbnails() == ["big/x/b.jpg", "huge/x/b.jpg"])
      #expect(try await prune(settings(sizes: ["16"])).1 == ["big/x/b.jpg", "huge/x/b.jpg"])
      #expect(thumbnails() == ["x/b.jpg"])
    }

    @Test func thumbnailsWithNamesAreFoundByTheLedger() async throws {
      try write("images/a.jpg", "images/x/b.jpg")
      var settings = settings()
      settings.outputs[0].name = try NamePattern(parsing: "%d-%s-small", for: "name")
      _ = try await prune(settings)
      let before = thumbnails()
      try remove("images/x")
      try folder.write(Self.photo, to: "thumbs/x-c-small.jpg")
      let removed = try await prune(settings).1
      #expect(removed.count == 1 && removed[0].contains("b-small"))
      #expect(thumbnails() == (before.filter { $0 != removed[0] } + ["x-c-small.jpg"]).sorted())
    }

    @Test func nothingIsRemovedWhereSourcesMightOnlyBeOutOfReach() async throws {
      try write("images/a.jpg", "more/b.jpg")
      _ = try await prune(settings())
      #expect(try await prune(settings(["more"])).0 == .otherTree(Path(folder("images"))))
      #expect(try await prune(settings(["more"])).0 == .otherSource(Path(folder("images/a.jpg"))))
      #expect(try await prune(settings(["more", "missing"])).0 == .unreadable)
      try remove("images/a.jpg")
      #expect(try await prune(settings()).0 == .emptySource(Path(folder("images"))))
      #expect(thumbnails() == ["a.jpg", "b.jpg", "more/b.jpg"])
      var stopped = settings(["more"])
      stopped.halt = try HaltLimit(parsing: "1", for: "halt")
      stopped.max = 1
      for number in 0..<40 { try folder.write([1], to: "more/broken/\(number).jpg") }
      #expect(try await prune(stopped).0 == .workRemains)
    }

    @Test func pruningForgetsSourcesThatAreGone() async throws {
      try write("images/a.jpg", "images/b.jpg")
      let settings = settings()
      _ = try await prune(settings)
      try remove("images/b.jpg")
      _ = try await prune(settings)
      let left = try await onThread {
        let job = try Job(settings) { _ in }
        var left: [String] = []
        job.ledger?.forEachSource { source in
          left.append(source.lastName.printable)
          return true
        }
        job.closeOutputs()
        return left
      }
      #expect(left == ["a.jpg"])
    }

    @Test func aListCannotBePruned() {
      var settings = settings()
      settings.prune = true
      #expect(throws: Never.self) { try settings.validate() }
      settings.sources.append(.list(SourceList(descriptor: 0, name: "standard input", separator: .newline)))
      #expect(throws: TextError.self) { try settings.validate() }
    }
  }
}
