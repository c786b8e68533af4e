import Files
import Foundation
import TestSupport
import Testing

@testable import JobSettings
@testable import Jobs
@testable import Sourcing

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

    /// Runs a job and prunes. Returns the first reason why it did not, and the sorted places of what it removed.
    ///
    /// - Parameter mode: `all`, because in so small folders mostly more than half of the photos are gone.
    private func prune(
      _ settings: JobSettings, _ mode: PruneMode = .all, isDryRun: Bool = false
    ) async throws -> (PruneRefusal?, [String]) {
      var settings = settings
      settings.prune = mode
      let (wanted, folder) = (settings, settings.outputs[0].folder)
      return try await run(wanted, folder, isDryRun: isDryRun)
    }

    private func run(
      _ settings: JobSettings, _ output: Path, isDryRun: Bool
    ) async throws -> (PruneRefusal?, [String]) {
      try await onThread {
        let job = try Job(settings) { _ in }
        let report = try job.run()
        let plan = job.prunePlan(after: report)
        let removed = LockedBox<[String]>([])
        let counts = job.prune(
          plan, isDryRun: isDryRun,
          onThumbnail: { path, _ in
            removed.change { $0.append(path.below(output)?.printable ?? "not in the output folder") }
          },
          onError: { Issue.record("\($0)") })
        #expect(counts.thumbnails == removed.value.count && (counts.bytes > 0) == !removed.value.isEmpty)
        return (plan.refusals.first, removed.value.sorted())
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
      try remove("images/a.jpg")
      #expect(try await prune(settings()).0 == .emptySource(Path(folder("images"))))
      // A note, where a disk should be mounted.
      try folder.write(Array("note".utf8), to: "images/README.txt")
      #expect(try await prune(settings()).0 == .noneFound(Path(folder("images")), known: 1))
      #expect(try await prune(settings(), isDryRun: true).1 == [])
      #expect(thumbnails() == ["a.jpg"])
      #expect(try await prune(settings(), .force).1 == ["a.jpg"])
      #expect(try await prune(settings(["images", "missing"])).0 == .unreadable)
      var stopped = settings(["more"])
      stopped.halt = try HaltLimit(parsing: "1", for: "halt")
      stopped.max = 1
      for number in 0..<40 { try folder.write([1], to: "more/broken/\(number).jpg") }
      #expect(try await prune(stopped).0 == .workRemains)
    }

    @Test func eachSourceFolderIsJudgedByItself() async throws {
      try write("images/a.jpg", "images/b.jpg", "disk/c.jpg", "disk/d.jpg")
      _ = try await prune(settings(["images", "disk"]))
      try remove("images/a.jpg")
      for name in ["c", "d"] { try remove("disk/\(name).jpg") }
      try folder.write(Array("note".utf8), to: "disk/README.txt")
      let (refusal, removed) = try await prune(settings(["images", "disk"]))
      #expect(refusal == .noneFound(Path(folder("disk")), known: 2) && removed == ["images/a.jpg"])
      #expect(thumbnails() == ["disk/c.jpg", "disk/d.jpg", "images/b.jpg"])
    }

    @Test func moreThanHalfOfAFolderNeedsAWord() async throws {
      try write("images/a.jpg", "images/b.jpg", "images/c.jpg", "images/d.jpg")
      _ = try await prune(settings())
      for name in ["a", "b", "c"] { try remove("images/\(name).jpg") }
      #expect(try await prune(settings(), .yes).0 == .mostGone(Path(folder("images")), gone: 3, known: 4))
      #expect(thumbnails().count == 4)
      try write("images/c.jpg")
      #expect(try await prune(settings(), .yes) == (nil, ["a.jpg", "b.jpg"]))
    }

    @Test func anotherFolderOfTheSameNameNeedsAWord() async throws {
      try write("images/a.jpg", "images/b.jpg", "images/c.jpg")
      _ = try await prune(settings())
      try FileManager.default.moveItem(atPath: folder("images"), toPath: folder("old"))
      try write("images/a.jpg", "images/b.jpg")
      // A run without pruning does not make the folder the one that is known.
      _ = try await onThread { [settings = settings()] in try Job(settings) { _ in }.run() }
      #expect(try await prune(settings()).0 == .otherFolder(Path(folder("images"))))
      #expect(try await prune(settings(), .force) == (nil, ["c.jpg"]))
      try remove("images/b.jpg")
      #expect(try await prune(settings(), .yes) == (nil, ["b.jpg"]), "from now on it is the known one")
    }

    /// Runs a job while a disk with a photo `u.jpg` is mounted. Afterwards the folder of the mount point is not even empty.
    private func run(_ settings: JobSettings, withPhotoOnDiskAt place: String) async throws {
      try FileManager.default.createDirectory(atPath: folder(place), withIntermediateDirectories: true)
      do {
        let mounted = try #require(MountedFolder(at: folder(place), options: "size=256k"))
        try write("\(place)/u.jpg")
        _ = try await onThread { try Job(settings) { _ in }.run() }
        withExtendedLifetime(mounted) {}
      }
      try folder.write(Array("note".utf8), to: "\(place)/README.txt")
    }

    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func photosOfADiskThatIsNotMountedAreNotGone() async throws {
      try write("images/a.jpg", "images/b.jpg")
      try await run(settings(), withPhotoOnDiskAt: "images/usb")
      #expect(try await prune(settings()) == (nil, []))
      #expect(thumbnails() == ["a.jpg", "b.jpg", "usb/u.jpg"])
      #expect(try await prune(settings(), .force) == (nil, ["usb/u.jpg"]))
    }

    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func theDiskOfASourceFolderIsThatOfItsPhotos() async throws {
      try write("images/a.jpg", "images/b.jpg")
      try FileManager.default.createDirectory(atPath: folder("images/usb"), withIntermediateDirectories: true)
      // The disk is not mounted yet, and the folder is no mount point.
      _ = try await prune(settings(["images/usb"]))
      try await run(settings(), withPhotoOnDiskAt: "images/usb")
      #expect(try await prune(settings()) == (nil, []))
      #expect(thumbnails() == ["a.jpg", "b.jpg", "usb/u.jpg"])
    }

    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func aDiskThatOnlyTheRunOfAPartHasMetIsRemembered() async throws {
      try write("images/a.jpg", "images/b.jpg")
      var part = settings()
      part.shard = Shard(0, of: 1)
      try await run(part, withPhotoOnDiskAt: "images/usb")
      #expect(try await prune(settings()) == (nil, []))
      #expect(thumbnails() == ["a.jpg", "b.jpg", "usb/u.jpg"])
      #expect(try await prune(settings(), .force) == (nil, ["usb/u.jpg"]))
      try write("images/usb/v.jpg")
      _ = try await prune(settings())
      try remove("images/usb/v.jpg")
      #expect(try await prune(settings()) == (nil, ["usb/v.jpg"]), "from now on the folder is the known one")
    }

    @Test func theThumbnailsOfOtherJobsInTheFolderStay() async throws {
      try write("images/a.jpg", "images/x.jpg", "more/b.jpg", "more/c.jpg")
      _ = try await prune(settings())
      _ = try await prune(settings(["more"]))
      try remove("images/a.jpg")
      try remove("more/c.jpg")
      #expect(try await prune(settings(["more"])) == (nil, ["c.jpg"]))
      #expect(thumbnails() == ["a.jpg", "b.jpg", "x.jpg"])
      #expect(try await prune(settings()) == (nil, ["a.jpg"]))
    }

    @Test func aPhotoThatBecomesALinkIsGone() async throws {
      try write("images/a.jpg", "images/b.jpg", "elsewhere/c.jpg")
      _ = try await prune(settings())
      try remove("images/a.jpg")
      try FileManager.default.createSymbolicLink(
        atPath: folder("images/a.jpg"), withDestinationPath: folder("elsewhere/c.jpg"))
      #expect(try await prune(settings()) == (nil, ["a.jpg"]))
    }

    /// A thumbnail of unknown origin may be that of a photo that this job does not have.
    @Test func onlySourcesThatTheLedgerHasCanBeGone() async throws {
      try write("images/a.jpg", "more/b.jpg", "more/c.jpg")
      _ = try await prune(settings())
      try remove("thumbs/.thumbjob")
      _ = try await prune(settings(["more"]))
      try remove("more/c.jpg")
      #expect(try await prune(settings(["more"])) == (nil, ["c.jpg"]))
      #expect(thumbnails() == ["a.jpg", "b.jpg"])
      try folder.write(Array("a text that is no database".utf8), to: "thumbs/.thumbjob/ledger")
      try remove("more/b.jpg")
      try write("more/d.jpg")
      guard case .noLedger = try await prune(settings(["more"])).0 else {
        Issue.record("without a ledger nothing is known")
        return
      }
      #expect(thumbnails().contains("b.jpg"))
    }

    @Test func sourcesOfSharesCanBeGoneToo() async throws {
      for number in 0..<20 { try write("images/\(number).jpg") }
      for index in 0..<2 {
        var share = settings()
        share.shard = Shard(index, of: 2)
        _ = try await prune(share)
      }
      try remove("images/7.jpg")
      _ = try await prune(settings())
      #expect(!thumbnails().contains("7.jpg") && thumbnails().count == 19)
    }

    @Test func theOutputOfAnotherJobStays() async throws {
      try write("images/a.jpg", "videos/v.jpg")
      _ = try await prune(settings())
      var other = settings(["videos"])
      other.outputs[0].folder = Path(folder("thumbs/videos"))
      _ = try await onThread { [other] in try Job(other) { _ in }.run() }
      #expect(try await prune(settings()) == (nil, []))
      #expect(try await prune(settings(sizes: ["small=24", "big=48"])).1 == ["a.jpg"])
      #expect(folder.exists("thumbs/videos/v.jpg"))
    }

    @Test func aFolderOfPhotosMayHaveTheNameOfASize() async throws {
      try write("images/big/x.jpg", "images/x.jpg")
      _ = try await prune(settings(sizes: ["small=24", "big=48"]))
      #expect(try await prune(settings(sizes: ["16"])).1 == ["big/big/x.jpg", "small/big/x.jpg", "small/x.jpg"])
      #expect(thumbnails() == ["big/x.jpg", "x.jpg"])
    }

    @Test func aThumbnailAmongPhotosThatNoRunHasMadeStays() async throws {
      try write("images/a.jpg")
      _ = try await prune(settings())
      try folder.write(try folder.bytes("thumbs/a.jpg"), to: "images/friend/only.jpg")
      var settings = settings()
      settings.outputs[0].folder = Path(folder("images"))
      settings.outputs[0].name = try NamePattern(parsing: "%d/%s-small", for: "name")
      _ = try await prune(settings)
      settings.outputs[0].sizes = [.known("a=32"), .known("b=64")]
      _ = try await prune(settings)
      #expect(folder.exists("images/friend/only.jpg") && folder.exists("images/a.jpg"))
    }

    @Test func whatIsMissingInAnEmptyFolderIsNotGone() async throws {
      try write("images/a.jpg", "images/usb/u.jpg")
      _ = try await prune(settings())
      try remove("images/usb/u.jpg")
      #expect(try await prune(settings()) == (nil, []))
      try remove("images/usb")
      #expect(try await prune(settings()).1 == ["usb/u.jpg"])
    }

    @Test func aPathWithALinkBeforeTwoDotsIsUnclear() async throws {
      try write("images/a.jpg", "deep/er/x.jpg", "deep/photos/p.jpg")
      try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: folder("deep/er"))
      #expect(try await prune(settings(["link/../photos"])).0 == .unclearPath(Path(folder("link/../photos"))))
      #expect(thumbnails() == ["p.jpg"])
    }

    @Test func pruningForgetsSourcesThatAreGone() async throws {
      try write("images/a.jpg", "images/b.jpg")
      let settings = settings()
      _ = try await prune(settings)
      try remove("images/b.jpg")
      _ = try await prune(settings)
      var left: [String] = []
      try LedgerSources(in: settings.outputs[0].folder).visit { source in
        left.append(source.path.lastName.printable)
        return true
      }
      #expect(left == ["a.jpg"])
    }

    @Test func aListCannotBePruned() {
      var settings = settings()
      settings.prune = .yes
      #expect(throws: Never.self) { try settings.validate() }
      settings.sources.append(.list(SourceList(descriptor: 0, name: "standard input", separator: .newline)))
      #expect(throws: TextError.self) { try settings.validate() }
    }
  }
}
