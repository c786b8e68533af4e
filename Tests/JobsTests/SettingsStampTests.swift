import Files
import Foundation
import TestSupport
import Testing

@testable import Jobs
@testable import Marks
@testable import Places
@testable import Sourcing

@Suite(.timeLimit(.minutes(5)))
struct SettingsStampTests {
  let tree: FileTree

  init() throws { tree = FileTree() }

  /// Makes a source and its thumbnail.
  func made(under settings: String = "256 q80") throws -> (OutputFolder, stat) {
    try tree.file("in/a.png", "one picture")
    try tree.setModified("in/a.png", timespec(tv_sec: 1_500_000_000, tv_nsec: 123_456_789))
    let source = try tree.status("in/a.png")
    let output = try OutputFolder(tree.path("out"))
    _ = try SettingsStamp(renewing: settings, of: SettingsStamp.SetName(folder: nil), in: output)
    try publish(under: settings, in: output, source)
    return (output, source)
  }

  func publish(under settings: String, in output: OutputFolder, _ source: stat) throws {
    let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + [UInt8](repeating: 0, count: 14) + [0xFF, 0xD9]
    _ = try jpeg.withUnsafeBytes { bytes in
      try output.publish(
        thumbnail: bytes, marked: ThumbnailMark(settings: settings).of(contents(), key), to: "a.png.jpg",
        modified: source.modified, isKept: { _ in false })
    }
  }

  func contents() throws -> SourceContents { try SourceFile(tree.path("in/a.png")).contents() }

  /// The key of `in/a.png`.
  var key: SourceKey { SourceKey(of: tree.path("in/a.png"), from: tree.path("out")) }

  /// The state of the thumbnail of `in/a.png`.
  func state(
    _ stamp: SettingsStamp, of place: Path = "a.png.jpg", source: stat, key: SourceKey? = nil,
    owner: Owners.Owner = .nobodyElse
  ) -> SettingsStamp.State {
    let key = key ?? self.key
    let found = SettingsStamp.FoundSource(status: source, key: key, path: tree.path("in/a.png"), uri: nil)
    return stamp.state(
      of: place, stamp.status(of: place), source: found, owner: { $0.source == key ? .nobodyElse : owner })
  }

  @Test func aThumbnailWithTheSameSettingsAndTimeIsUpToDate() throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", of: SettingsStamp.SetName(folder: nil), in: output)
    #expect(state(stamp, source: source) == .upToDate)
    #expect(state(stamp, of: "b.png.jpg", source: source) == .missing)
    let read = SettingsStamp(reading: "256 q80", in: tree.path("out"))
    #expect(state(read, source: source) == .upToDate)
  }

  @Test func aThumbnailWithAnotherTimeIsTouchedAndAnEmptyFileIsNone() throws {
    let (output, _) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", of: SettingsStamp.SetName(folder: nil), in: output)
    try tree.setModified("in/a.png", timespec(tv_sec: 1_500_000_000, tv_nsec: 123_456_788))
    #expect(state(stamp, source: try tree.status("in/a.png")) == .touched)
    try output.publish([], to: "empty.jpg", modified: try tree.status("in/a.png").modified)
    #expect(state(stamp, of: "empty.jpg", source: try tree.status("in/a.png")) == .missing)
    try tree.folder("out/folder.jpg")
    #expect(state(stamp, of: "folder.jpg", source: try tree.status("in/a.png")) == .missing)
  }

  @Test func otherSettingsMakeAThumbnailStaleUntilItIsMadeAgain() throws {
    let (output, source) = try made()
    let dry = SettingsStamp(reading: "256 q90", in: tree.path("out"))
    #expect(state(dry, source: source) == .stale)
    #expect(try tree.contents("out/.thumbjob/settings") == "256 q80", "a dry run writes nothing")
    let stamp = try SettingsStamp(renewing: "256 q90", of: SettingsStamp.SetName(folder: nil), in: output)
    #expect(state(stamp, source: source) == .stale)
    // New permissions change the time of the file's status, but not the settings of the thumbnail.
    chmod("\(tree.path("out/a.png.jpg"))", 0o600)
    let later = try SettingsStamp(renewing: "256 q90", of: SettingsStamp.SetName(folder: nil), in: output)
    #expect(state(later, source: source) == .stale)
    try publish(under: "256 q90", in: output, source)
    #expect(state(stamp, source: source) == .upToDate)
    #expect(state(later, source: source) == .upToDate)
    let back = try SettingsStamp(renewing: "256 q80", of: SettingsStamp.SetName(folder: nil), in: output)
    #expect(state(back, source: source) == .stale)
  }

  @Test func thumbnailsOfASimultaneousRunWithOtherSettingsAreStale() throws {
    let (output, source) = try made()
    let other = try OutputFolder(tree.path("out"))
    _ = try SettingsStamp(renewing: "100 q30", of: SettingsStamp.SetName(folder: nil), in: other)
    // The first run continues with its own settings.
    try publish(under: "256 q80", in: output, source)
    let third = try SettingsStamp(
      renewing: "100 q30", of: SettingsStamp.SetName(folder: nil), in: try OutputFolder(tree.path("out")))
    #expect(state(third, source: source) == .stale)
  }

  @Test(arguments: [1, 100, 1_000, 10_000_000, 1_000_000_000])
  func aTimeThatTheFileSystemRoundsDownIsTheSame(grain: Int) throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", of: SettingsStamp.SetName(folder: nil), in: output)
    try tree.setModified(
      "out/a.png.jpg", timespec(tv_sec: 1_500_000_000, tv_nsec: 123_456_789 / grain * grain))
    #expect(state(stamp, source: source) == .upToDate)
    try tree.setModified("out/a.png.jpg", timespec(tv_sec: 1_499_999_999, tv_nsec: 123_456_789 / grain * grain))
    #expect(state(stamp, source: source) == .touched)
  }

  @Test func eachSizeHasItsOwnSettingsFile() throws {
    let (output, _) = try made()
    _ = try SettingsStamp(renewing: "512 q80", of: SettingsStamp.SetName(folder: "large"), in: output)
    #expect(try tree.contents("out/.thumbjob/settings-large") == "512 q80")
    #expect(try tree.contents("out/.thumbjob/settings") == "256 q80")
  }

  @Test func aPlaceThatIsTheSourceIsRecognised() throws {
    let (output, _) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", of: SettingsStamp.SetName(folder: nil), in: output)
    #expect(state(stamp, source: try tree.status("out/a.png.jpg")) == .isSource)
  }

  @Test func aPhotoThatReplacesAnotherOfTheSameTimeAndSizeMakesItsThumbnailStale() throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", of: SettingsStamp.SetName(folder: nil), in: output)
    #expect(try state(stamp, source: tree.status("in/a.png")) == .upToDate)
    try tree.file("in/a.png", "two picture")
    try tree.setModified("in/a.png", source.modified)
    let replaced = try tree.status("in/a.png")
    #expect(isSameTime(replaced.modified, source.modified) && replaced.st_size == source.st_size)
    #expect(state(stamp, source: replaced) == .stale)
  }

  @Test func aPhotoThatIsOnlyTouchedKeepsItsThumbnail() throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", of: SettingsStamp.SetName(folder: nil), in: output)
    // A copy with its time, as restored from a backup.
    try FileManager.default.moveItem(atPath: "\(tree.path("in/a.png"))", toPath: "\(tree.path("in/b.png"))")
    try tree.file("in/a.png", tree.contents("in/b.png"))
    try tree.setModified("in/a.png", source.modified)
    #expect(try state(stamp, source: tree.status("in/a.png")) == .upToDate)
  }

  @Test func theThumbnailOfAnotherSourceIsTakenUnlessThatIsGone() throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", of: SettingsStamp.SetName(folder: nil), in: output)
    let other = SourceKey(of: tree.path("in/other.png"), from: tree.path("out"))
    #expect(state(stamp, source: source, key: other, owner: .other) == .isTaken("a.png.jpg"))
    var larger = source
    larger.st_size += 1
    #expect(state(stamp, source: larger, key: other, owner: .unknown) == .isTaken("a.png.jpg"))
    #expect(state(stamp, source: larger, key: other, owner: .nobodyElse) == .stale)
    let before = try tree.contents("out/a.png.jpg").utf8.count
    #expect(
      state(stamp, source: source, key: other, owner: .nobodyElse) == .upToDate, "the same photo under a new path")
    let mark = try #require(ThumbnailMark(of: tree.path("out/a.png.jpg"), in: AT_FDCWD))
    let contents = try contents()
    #expect(mark.source == other && mark.contents == contents)
    #expect(try tree.contents("out/a.png.jpg").utf8.count == before)
    #expect(state(stamp, source: source, key: other, owner: .other) == .upToDate, "it is its own now")
    #expect(try isSameTime(tree.status("out/a.png.jpg").modified, source.modified))
  }
}
