import Foundation
import SystemPackage
import Testing

@testable import ThumbnailJobs

@Suite(.timeLimit(.minutes(1)))
struct SettingsStampTests {
  let tree: FileTree

  init() throws { tree = try FileTree() }

  /// A source and its thumbnail, both in place.
  func made(under settings: String = "256 q80") throws -> (OutputFolder, stat) {
    try tree.file("in/a.png")
    try tree.setModified("in/a.png", timespec(tv_sec: 1_500_000_000, tv_nsec: 123_456_789))
    let source = try tree.status("in/a.png")
    let output = try OutputFolder(tree.path("out"))
    _ = try SettingsStamp(renewing: settings, size: nil, in: output)
    try output.publish([1], to: "a.png.jpg", modified: source.modified)
    return (output, source)
  }

  @Test func theSameSettingsAndTimeAreUpToDate() throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    #expect(stamp.state(of: "a.png.jpg", source: source) == .upToDate)
    #expect(stamp.state(of: "b.png.jpg", source: source) == .missing)
    let read = SettingsStamp(reading: "256 q80", size: nil, in: tree.path("out"))
    #expect(read.state(of: "a.png.jpg", source: source) == .upToDate)
  }

  @Test func anotherNanosecondOrAnEmptyFileIsNot() throws {
    let (output, _) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    try tree.setModified("in/a.png", timespec(tv_sec: 1_500_000_000, tv_nsec: 123_456_788))
    #expect(stamp.state(of: "a.png.jpg", source: try tree.status("in/a.png")) == .stale)
    try output.publish([], to: "empty.jpg", modified: try tree.status("in/a.png").modified)
    #expect(stamp.state(of: "empty.jpg", source: try tree.status("in/a.png")) == .missing)
    try tree.folder("out/folder.jpg")
    #expect(stamp.state(of: "folder.jpg", source: try tree.status("in/a.png")) == .missing)
  }

  @Test func otherSettingsMakeAllStaleUntilMadeAgain() throws {
    let (output, source) = try made()
    let dry = SettingsStamp(reading: "256 q90", size: nil, in: tree.path("out"))
    #expect(dry.state(of: "a.png.jpg", source: source) == .stale)
    #expect(try tree.contents("out/.thumbjob/settings") == "256 q80", "a dry run writes nothing")
    // Times of change have the grain of the kernel's clock: wait for it to move on from the thumbnail's.
    let before = try tree.status("out/a.png.jpg").changed
    repeat { try tree.file("tick", "x") } while !isBefore(before, try tree.status("tick").changed)
    let stamp = try SettingsStamp(renewing: "256 q90", size: nil, in: output)
    #expect(stamp.state(of: "a.png.jpg", source: source) == .stale)
    try output.publish([1], to: "a.png.jpg", modified: source.modified)
    #expect(stamp.state(of: "a.png.jpg", source: source) == .upToDate)
  }

  @Test func eachSizeHasItsOwnSettings() throws {
    let (output, _) = try made()
    _ = try SettingsStamp(renewing: "512 q80", size: "large", in: output)
    #expect(try tree.contents("out/.thumbjob/settings-large") == "512 q80")
    #expect(try tree.contents("out/.thumbjob/settings") == "256 q80")
  }

  @Test func aPlaceThatIsTheSourceIsNeverWritten() throws {
    let (output, _) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    #expect(stamp.state(of: "a.png.jpg", source: try tree.status("out/a.png.jpg")) == .isSource)
  }

  @Test func aHundredThousandChecksTakeLittle() throws {
    let (output, source) = try made()
    let stamp = try SettingsStamp(renewing: "256 q80", size: nil, in: output)
    let count = 20_000
    let time = ContinuousClock().measure {
      for _ in 0..<count { #expect(stamp.state(of: "a.png.jpg", source: source) == .upToDate) }
    }
    // The aim is 100,000 checks a second; a debug build on a busy machine gets a wide margin.
    #expect(time < .seconds(4))
  }
}
