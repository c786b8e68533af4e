import Fetching
import Files
import Foundation
import TestSupport
import Testing
import Thumbnails

@testable import Sourcing

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

  // MARK: Parts

  /// A source of 100 bytes, of which these were fetched; the others read as zeros.
  private func partial(_ parts: RangeSet<Int>) throws -> SourceFile {
    let folder = TemporaryFolder()
    let file = try Spool(folder: Path(folder.path), bytes: 1000).file()
    try file.append([UInt8](repeating: 7, count: 10) + [UInt8](repeating: 0, count: 80))
    return try SourceFile(
      FetchedFile(
        host: "a.org", file: file, size: 100, modified: time, contents: nil, parts: parts, isCut: false,
        lacksLastBit: false))
  }

  private func read(_ file: SourceFile, _ range: Range<Int>) -> Result<[UInt8], ByteReader.ReadError> {
    var bytes = [UInt8](repeating: 1, count: range.count)
    return bytes.withUnsafeMutableBytes { file.bytes.read(at: UInt64(range.lowerBound), into: $0) }
      .map { Array(bytes[..<$0]) }
  }

  @Test func whatWasNotFetchedIsNeverRead() throws {
    let file = try partial(RangeSet([0..<10, 50..<60]))
    #expect(file.size == 100 && file.version.bytes == 20 && file.isInParts)
    #expect(read(file, 0..<4) == .success([7, 7, 7, 7]))
    #expect(read(file, 8..<20) == .success([7, 7]), "as far as it is there")
    #expect(read(file, 100..<110) == .success([]), "the end of the source")
    #expect(file.has(50..<60) && file.has(0..<0) && !file.lacksParts)
    #expect(read(file, 10..<20) == .failure(ByteReader.ReadError(rawValue: ENODATA)))
    #expect(file.lacksParts, "from now on")
  }

  @Test func whatReadsTheFileItselfIsToldOfGaps() throws {
    for range in [0..<11, 9..<11, 49..<60, 59..<61, 20..<30, 0..<100] {
      let file = try partial(RangeSet([0..<10, 50..<60]))
      #expect(!file.has(range) && file.lacksParts, "\(range)")
    }
    let file = try partial(RangeSet(0..<10))
    #expect(throws: ThumbnailError.unreadable(ENODATA)) { try file.contents() }
    #expect(file.lacksParts)
    let whole = try open().0
    #expect(whole.has(0..<1_000_000) && !whole.lacksParts && !whole.isInParts)
  }
}
