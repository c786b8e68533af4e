import BoundedQueue
import ContactSheet
import Files
import Foundation
import TestSupport
import Testing

@testable import JobSettings
@testable import Jobs
@testable import MemoryPressure
@testable import PictureMaking
@testable import Places
@testable import Sourcing

extension JobTests {
  /// Jobs that make a manifest, a contact sheet and a gallery.
  @Suite(.serialized) struct Joins {
    let folder = TemporaryFolder()

    /// Seven photos with the orientations of Exif, and one that is cut off.
    func photos() throws {
      for number in 1...7 {
        var photo = SyntheticPhoto(seed: number, width: 300 + number, height: 200)
        photo.orientation = number
        try folder.write(photo.jpeg(), to: "images/\(number % 2)/\(number).jpg")
      }
      try folder.write(SyntheticPhoto(seed: 1, width: 64, height: 64).jpeg().dropLast(200), to: "images/0/cut off.jpg")
      try folder.write(Array("text".utf8), to: "images/notes.txt")
    }

    func settings(joins: Bool = true) -> JobSettings {
      var settings = JobSettings()
      settings.sources = [.path(Path(folder("images")))]
      settings.outputs[0].folder = Path(folder("thumbs"))
      settings.outputs[0].sizes = [.known("64"), .known("small=32")]
      (settings.max, settings.backlog) = (2, 4)
      guard joins else { return settings }
      settings.joins.manifest = Path(folder("made/manifest.json"))
      settings.joins.contactSheet = Path(folder("made/sheet.pdf"))
      settings.joins.sheetGrid = SheetGrid(columns: 3, rows: 1)
      settings.joins.gallery = Path(folder("web"))
      return settings
    }

    func run(_ settings: JobSettings) async throws -> JobReport {
      try await onThread { try Job(settings) { _ in }.run() }
    }

    private struct Manifest: Decodable {
      struct Source: Decodable {
        struct Thumbnail: Decodable {
          let path, size: String
          let width, height, bytes: Int
        }

        let source: String
        let bytes: Int?
        let modified: Double?
        let width, height, orientation: Int?
        let color, thumbhash, outcome, error: String?
        let thumbnails: [Thumbnail]?
      }

      let sources: [Source]
    }

    private func manifest() throws -> Manifest {
      try JSONDecoder().decode(Manifest.self, from: Data(try folder.bytes("made/manifest.json")))
    }

    private func text(_ name: String) throws -> String { String(decoding: try folder.bytes(name), as: UTF8.self) }

    /// What was made and the time of each file, to see whether a run has replaced it.
    func made() throws -> [String: Date] {
      var times: [String: Date] = [:]
      for name in ["made/manifest.json", "made/sheet.pdf", "web/index.html", "web/page/data.js", "web/page/start.js"] {
        times[name] = try FileManager.default.attributesOfItem(atPath: folder(name))[.modificationDate] as? Date
      }
      return times
    }

    private func isMade(_ report: JoinReport) -> Bool { if case .made = report.result { true } else { false } }
    private func isUnchanged(_ report: JoinReport) -> Bool {
      if case .unchanged = report.result { true } else { false }
    }

    @Test func theManifestDescribesEverySource() async throws {
      try photos()
      let report = try await run(settings())
      #expect(report.tally.made == 7 && report.tally.failed == 1 && report.joins.map(\.count) == [8, 4, 7])
      #expect(report.joins.allSatisfy(isMade))
      let sources = try manifest().sources
      #expect(
        sources.map(\.source)
          == ["0/2", "0/4", "0/6", "0/cut off", "1/1", "1/3", "1/5", "1/7"].map {
            "../images/\($0).jpg"
          })
      for source in sources where source.outcome == nil {
        let number = try #require(source.orientation)
        #expect(source.source.hasSuffix("/\(number).jpg"))
        let (width, height) = number < 5 ? (300 + number, 200) : (200, 300 + number)
        #expect(source.width == width && source.height == height)
        #expect(try source.bytes == folder.bytes("images/\(number % 2)/\(number).jpg").count)
        let thumbnails = try #require(source.thumbnails)
        #expect(thumbnails.map(\.size) == ["64x64", "small"])
        for thumbnail in thumbnails {
          #expect(try thumbnail.bytes == folder.bytes("made/\(thumbnail.path)").count)
          #expect(max(thumbnail.width, thumbnail.height) == (thumbnail.size == "small" ? 32 : 64))
        }
        #expect(source.color?.count == 7 && (source.thumbhash?.count ?? 0) >= 8)
      }
      let broken = try #require(sources.first { $0.outcome != nil })
      #expect(broken.outcome == "failed" && broken.error?.hasPrefix("truncated") == true && broken.width == nil)
    }

    @Test func aSecondRunReplacesNothing() async throws {
      try photos()
      _ = try await run(settings())
      let first = try made()
      let report = try await run(settings())
      #expect(report.tally.upToDate == 7 && report.joins.allSatisfy(isUnchanged))
      #expect(try made() == first)
      // A source that is gone leaves all three.
      try FileManager.default.removeItem(atPath: folder("images/1/5.jpg"))
      let third = try await run(settings())
      #expect(third.joins.allSatisfy(isMade) && third.joins.map(\.count) == [7, 3, 6])
      #expect(try !text("web/page/data.js").contains("1/5.jpg"))
    }

    /// Thumbnails that were made without joins have no description of their source.
    @Test func thumbnailsOfAnEarlierJobAreDescribedAlike() async throws {
      try photos()
      _ = try await run(settings())
      let direct = try manifest()
      try FileManager.default.removeItem(atPath: folder("thumbs"))
      _ = try await run(settings(joins: false))
      let report = try await run(settings())
      #expect(report.tally.upToDate == 7 && report.tally.thumbnails == 0)
      for (before, after) in zip(direct.sources, try manifest().sources) {
        #expect(before.source == after.source && before.outcome == after.outcome)
        #expect(before.width == after.width && before.orientation == after.orientation)
        #expect(before.thumbnails?.map(\.width) == after.thumbnails?.map(\.width))
        // The placeholder is made of the thumbnail, so it is only nearly the same.
        #expect((before.thumbhash == nil) == (after.thumbhash == nil))
      }
    }

    @Test func aSheetThatCannotBeWrittenFailsAlone() async throws {
      try photos()
      var settings = settings()
      settings.sources.append(.path(Path(folder("images/1"))))
      let removed = settings
      let folder = folder
      let report = try await onThread {
        let job = try Job(removed) { event in
          // Its place is free when the job begins, and taken when it ends.
          guard case .source = event else { return }
          try? FileManager.default.createDirectory(
            atPath: folder("made/sheet.pdf"), withIntermediateDirectories: true)
        }
        return try job.run()
      }
      for join in report.joins {
        switch (join.kind, join.result) {
        case (.gallery, .made), (.manifest, .made), (.contactSheet, .failed): break
        default: Issue.record("\(join)")
        }
      }
      #expect(report.tally.made == 7)
    }

    /// The gallery may be among its own photos.
    @Test func theOriginalsAreFoundFromTheFolderOfTheSources() async throws {
      try photos()
      var settings = settings()
      settings.joins.gallery = Path(folder("images"))
      _ = try await run(settings)
      #expect(try text("images/page/data.js").contains(#""originals":".","#))
      settings.joins.gallery = Path(folder("thumbs/small"))
      _ = try await run(settings)
      let data = try text("thumbs/small/page/data.js")
      #expect(data.contains(#""originals":"../../images","#))
      #expect(data.contains(#"[{"folder":"../64x64","name":"64x64"},{"folder":".","name":"small"}]"#))
    }

    @Test func filesOfOthersInTheFolderOfAGalleryAreNeverReplaced() async throws {
      try photos()
      try folder.write(Array("mine".utf8), to: "web/page/text.js")
      let error = await #expect(throws: OutputError.self) { try await run(settings()) }
      #expect(error?.kind == .notJoin(.gallery) && error?.path == Path(folder("web/page/text.js")))
      #expect(try text("web/page/text.js") == "mine")
      // The files of a run that was killed before it had written the page are its own.
      try FileManager.default.removeItem(atPath: folder("web"))
      _ = try await run(settings())
      try FileManager.default.removeItem(atPath: folder("web/index.html"))
      try FileManager.default.removeItem(atPath: folder("web/page/data.js"))
      let again = try await run(settings())
      #expect(again.joins.allSatisfy { $0.isInPlace })
    }

    @Test func thumbnailsThatCannotBeDescribedAreListedAllTheSame() async throws {
      try folder.write(SyntheticPhoto(seed: 1, width: 900, height: 600).jpeg(), to: "images/a.jpg")
      var settings = settings(joins: false)
      settings.outputs[0].sizes = [.known("800")]
      _ = try await run(settings)
      settings.joins = self.settings().joins
      settings.memory = try MemorySize(parsing: "1M", for: "memory")
      let report = try await run(settings)
      #expect(report.tally.upToDate == 1 && report.tally.failed == 0 && report.joins.allSatisfy(isMade))
      let source = try #require(try manifest().sources.first)
      #expect(source.outcome == nil && source.thumbhash == nil && source.thumbnails?.first?.width == 800)
      #expect(try text("web/page/data.js").contains(#""thumbnails":[[800,533]]"#))
    }

    /// A disk that is not mounted today must not empty a gallery.
    @Test func aMissingSourceWithholdsThem() async throws {
      try photos()
      _ = try await run(settings())
      let first = try made()
      var settings = settings()
      settings.sources.append(.path(Path(folder("gone"))))
      let report = try await run(settings)
      #expect(report.tally.missingArguments == 1 && !report.workRemains)
      for join in report.joins { if case .withheld = join.result {} else { Issue.record("\(join)") } }
      #expect(try made() == first)
    }

    /// Another program removes a thumbnail before the page is written.
    @Test func aThumbnailThatIsGoneLeavesAMarkedPlaceAndIsReported() async throws {
      for number in 1...3 {
        let photo = SyntheticPhoto(seed: number, width: 300, height: 200).jpeg()
        try folder.write(photo, to: "images/\(number).jpg")
      }
      let settings = settings()
      let report = try await onThread {
        try Job(settings) { event in
          guard case .source(let report) = event, report.source.relativePath == "2.jpg" else { return }
          for size in ["64x64", "small"] { try? FileManager.default.removeItem(atPath: folder("thumbs/\(size)/2.jpg")) }
        }.run()
      }
      let sheet = try #require(report.joins.first { $0.kind == .contactSheet })
      #expect(sheet.isInPlace && sheet.unusable.map(\.caption) == ["2.jpg"])
    }

    /// The thumbnails that the walk finds beside their photos have no place.
    @Test func thumbnailsBesideThePhotosDoNotChangeTheSheet() async throws {
      try photos()
      var settings = settings()
      settings.outputs[0].folder = Path(folder("images"))
      settings.outputs[0].sizes = [.known("64")]
      settings.outputs[0].name = try NamePattern(parsing: "%d/%s-small", for: "name")
      let first = try await run(settings)
      let second = try await run(settings)
      #expect(first.tally.made == 7 && second.tally.upToDate == 7 && second.tally.ownThumbnails == 7)
      #expect(second.joins.allSatisfy(isUnchanged) && second.joins.map(\.count) == first.joins.map(\.count))
    }

    /// Another program may replace a thumbnail between the walk and the operation that reads it.
    @Test func aFileInThePlaceOfAThumbnailIsNotListed() throws {
      try folder.write(SyntheticPhoto(seed: 1, width: 90, height: 60).jpeg(), to: "images/a.jpg")
      let options = OutputSettings().thumbnailOptions(failOn: .error, limitPixels: 1_000_000)
      let output = try ThumbnailOutput(path: Path(folder("thumbs")), options: options, isDryRun: false)
      let memory = MemoryPlan(
        nil, limit: MemoryLimit(bytes: 1 << 30, origin: .machine), usage: MemoryUsage(resident: 0, group: nil))
      let shared = ThumbnailOperation.Shared(
        outputs: [output],
        owners: Owners(
          remembered: { _ in [] }, forget: { _ in }, plan: OutputPlan(walker: SourceWalker(arguments: [])), tree: nil),
        memory: memory, decoders: PictureDecoders(.auto, mostIdle: 1) { _ in }, retries: 0,
        trace: nil, underWay: nil, onThumbnail: nil)
      let source = Source(
        path: Path(folder("images/a.jpg")), relativePath: "a.jpg", argument: 0, origin: .folder)
      try folder.write(Array("a secret".utf8), to: "secret")
      let others: [() throws -> Void] = [
        {}, { try folder.write(Array("text".utf8), to: "thumbs/a.jpg") },
        { try folder.write(try folder.bytes("images/a.jpg"), to: "thumbs/a.jpg") },
        {
          try FileManager.default.removeItem(atPath: folder("thumbs/a.jpg"))
          try FileManager.default.createSymbolicLink(atPath: folder("thumbs/a.jpg"), withDestinationPath: "../secret")
        },
      ]
      for other in others {
        try other()
        let operation = DescribingOperation(
          SourceTask(source: source, place: "a.jpg", work: .describe), shared: shared,
          receive: { _ in Issue.record("the thumbnail is gone") })
        let error = #expect(throws: SourceFailure.self) { try operation.execute() }
        #expect(error?.description.contains("its thumbnails were removed or replaced during the run") == true)
      }
    }

    @Test func nothingIsMadeInADryRunOrWithoutSources() async throws {
      try photos()
      var settings = settings()
      settings.dryRun = true
      #expect(try await run(settings).joins.isEmpty)
      settings.dryRun = false
      settings.sources = [.path(Path(folder("nothing")))]
      #expect(try await run(settings).joins.isEmpty)
      #expect(folder.files(below: "made") == [] && folder.files(below: "web") == [])
    }
  }
}
