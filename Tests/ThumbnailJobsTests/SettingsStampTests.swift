import Foundation
import SystemPackage
import Testing

@testable import ThumbnailJobs

@Suite(.timeLimit(.minutes(5)))
struct SettingsStampTests {
  let tree: FileTree

  init() throws { tree = FileTree() }

  /// Makes a source and its thumbnail.
  func made(under settings: String = "256 q80") throws -> (OutputFolder, stat) {
    try tree.file("in/a.png")
    try tree.setModified("in/a.png", timespec(tv_sec: 1_500_000_000, tv_nsec: 123_456_789))
    let source = try tree.status("in/a.png")
    let output = try OutputFolder(tree.path("out"))
    _ = try SettingsStamp(renewing: settings, size: nil, in: output)
    try publish(under: settings, in: output, source)
    return (output, source)
  }

  func publish(under settings: String, in output: OutputFolder, _ source: stat) throws {
    let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + [UInt8](repeating: 0, count: 14) + [0xFF, 0xD9]
    _ = try jpeg.withUnsafeBytes { bytes in
      try output.publish(
        thumbnail: bytes, marked: ThumbnailMark(settings: settings), to: "a.png.jpg", modified: source.modified)
    }
  }

  @Test func aThumbnailWithTheSameSettingsAndTimeIsUpToDate() throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    #expect(stamp.state(of: "a.png.jpg", source: source) == .upToDate)
    #expect(stamp.state(of: "b.png.jpg", source: source) == .missing)
    let read = SettingsStamp(reading: "256 q80", size: nil, in: tree.path("out"))
    #expect(read.state(of: "a.png.jpg", source: source) == .upToDate)
  }

  @Test func aThumbnailWithAnotherTimeIsStaleAndAnEmptyFileIsNone() throws {
    let (output, _) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    try tree.setModified("in/a.png", timespec(tv_sec: 1_500_000_000, tv_nsec: 123_456_788))
    #expect(stamp.state(of: "a.png.jpg", source: try tree.status("in/a.png")) == .stale)
    try output.publish([], to: "empty.jpg", modified: try tree.status("in/a.png").modified)
    #expect(stamp.state(of: "empty.jpg", source: try tree.status("in/a.png")) == .missing)
    try tree.folder("out/folder.jpg")
    #expect(stamp.state(of: "folder.jpg", source: try tree.status("in/a.png")) == .missing)
  }

  @Test func otherSettingsMakeAThumbnailStaleUntilItIsMadeAgain() throws {
    let (output, source) = try made()
    let dry = SettingsStamp(reading: "256 q90", size: nil, in: tree.path("out"))
    #expect(dry.state(of: "a.png.jpg", source: source) == .stale)
    #expect(try tree.contents("out/.thumbjob/settings") == "256 q80", "a dry run writes nothing")
    let stamp = try SettingsStamp(renewing: "256 q90", size: nil, in: output)
    #expect(stamp.state(of: "a.png.jpg", source: source) == .stale)
    // New permissions change the time of the file's status, but not the settings of the thumbnail.
    chmod("\(tree.path("out/a.png.jpg"))", 0o600)
    let later = try SettingsStamp(renewing: "256 q90", size: nil, in: output)
    #expect(later.state(of: "a.png.jpg", source: source) == .stale)
    try publish(under: "256 q90", in: output, source)
    #expect(stamp.state(of: "a.png.jpg", source: source) == .upToDate)
    #expect(later.state(of: "a.png.jpg", source: source) == .upToDate)
    let back = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    #expect(back.state(of: "a.png.jpg", source: source) == .stale)
  }

  @Test func thumbnailsOfASimultaneousRunWithOtherSettingsAreStale() throws {
    let (output, source) = try made()
    let other = try OutputFolder(tree.path("out"))
    _ = try SettingsStamp(renewing: "100 q30", size: nil, in: other)
    // The first run continues with its own settings.
    try publish(under: "256 q80", in: output, source)
    let third = try SettingsStamp(renewing: "100 q30", size: nil, in: try OutputFolder(tree.path("out")))
    #expect(third.state(of: "a.png.jpg", source: source) == .stale)
  }

  @Test func withoutASettingsFileTheMarksDecide() throws {
    let (output, source) = try made()
    output.close()
    try FileManager.default.removeItem(atPath: "\(tree.path("out/.thumbjob"))")
    for (settings, state) in [("256 q80", SettingsStamp.State.upToDate), ("256 q90", .stale)] {
      let stamp = try SettingsStamp(renewing: settings, size: nil, in: try OutputFolder(tree.path("out")))
      #expect(stamp.state(of: "a.png.jpg", source: source) == state)
    }
  }

  @Test(arguments: [1, 100, 1_000, 10_000_000, 1_000_000_000])
  func aTimeThatTheFileSystemRoundsDownIsTheSame(grain: Int) throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    try tree.setModified(
      "out/a.png.jpg", timespec(tv_sec: 1_500_000_000, tv_nsec: 123_456_789 / grain * grain))
    #expect(stamp.state(of: "a.png.jpg", source: source) == .upToDate)
    try tree.setModified("out/a.png.jpg", timespec(tv_sec: 1_499_999_999, tv_nsec: 123_456_789 / grain * grain))
    #expect(stamp.state(of: "a.png.jpg", source: source) == .stale)
  }

  @Test func eachSizeHasItsOwnSettingsFile() throws {
    let (output, _) = try made()
    _ = try SettingsStamp(renewing: "512 q80", size: "large", in: output)
    #expect(try tree.contents("out/.thumbjob/settings-large") == "512 q80")
    #expect(try tree.contents("out/.thumbjob/settings") == "256 q80")
  }

  @Test func aPlaceThatIsTheSourceIsRecognised() throws {
    let (output, _) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    #expect(stamp.state(of: "a.png.jpg", source: try tree.status("out/a.png.jpg")) == .isSource)
  }

  @Test func twentyThousandChecksTakeLessThanFourSeconds() throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    let count = 20_000
    let start = Self.threadSeconds()
    for _ in 0..<count { #expect(stamp.state(of: "a.png.jpg", source: source) == .upToDate) }
    // A release build should make 100,000 checks in a second of processor time; a debug build takes many times as long.
    #expect(Self.threadSeconds() - start < 4)
  }

  /// The processor time that this thread has used, in seconds.
  private static func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
