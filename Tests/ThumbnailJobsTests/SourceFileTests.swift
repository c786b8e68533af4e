import Files
import Foundation
import SystemPackage
import Testing

@testable import ThumbnailJobs

@Suite(.timeLimit(.minutes(1))) struct SourceFileTests {
  private let tree = FileTree()
  private let time = timespec(tv_sec: 1_600_000_000, tv_nsec: 5)

  /// A source whose contents are known, and its path.
  private func open() throws -> (SourceFile, Path) {
    let path = try tree.file("a.jpg", "old contents")
    try set(time, of: path)
    let file = try SourceFile(path)
    _ = try file.contents()
    try letClockTick(path)
    return (file, path)
  }

  /// Waits until the status times of changes are later than those of this file, by the clock of the file system.
  private func letClockTick(_ path: Path) throws {
    let before = try FileStatus.of(path, followingLinks: true).get().changed
    repeat {
      try tree.file("tick", "tick")
    } while isSameTime(try FileStatus.of(tree.path("tick"), followingLinks: true).get().changed, before)
  }

  private func set(_ time: timespec, of path: Path) throws {
    try #require(path.withCString { utimensat(AT_FDCWD, $0, [time, time], 0) } == 0)
  }

  private func rename(_ old: Path, to new: Path) throws {
    try #require(old.withCString { old in new.withCString { Foundation.rename(old, $0) } } == 0)
  }

  @Test func anotherNameOrModeIsNoChange() throws {
    let (file, path) = try open()
    let other = tree.path("b.jpg")
    try #require(path.withCString { name in other.withCString { link(name, $0) } } == 0)
    #expect(!file.hasChanged && isSameTime(file.thumbnailTime, time))
    try #require(other.withCString { unlink($0) } == 0)
    try #require(path.withCString { chmod($0, 0o600) } == 0)
    #expect(!file.hasChanged)
  }

  @Test func otherContentsAreAChangeEvenIfSizeAndTimeAreTheSame() throws {
    let (file, path) = try open()
    try tree.file("a.jpg", "new contents")
    try set(time, of: path)
    #expect(file.hasChanged && !isSameTime(file.thumbnailTime, time))
  }

  @Test func anotherFileOfThisNameIsAChange() throws {
    let (file, path) = try open()
    let other = try tree.file("b.jpg", "old contents")
    try set(time, of: other)
    try rename(other, to: path)
    #expect(file.hasChanged)
  }

  @Test func aRemovedFileIsAChange() throws {
    let (file, path) = try open()
    try #require(path.withCString { unlink($0) } == 0)
    #expect(file.hasChanged)
  }
}
