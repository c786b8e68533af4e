import Files
import Foundation
import TestSupport
import Testing
import Thumbnails

@testable import JobSettings
@testable import Jobs
@testable import Marks
@testable import Places
@testable import Sourcing

/// The parts of which the joins of a job consist.
@Suite struct JoinPartsTests {
  private let folder = TemporaryFolder()

  private let description = SourceDescription(
    pixels: PixelSize(width: 4000, height: 3000), orientation: .rotated90,
    placeholder: Placeholder(meanColor: RGBColor(red: 0, green: 0xB2, blue: 0xC3), thumbHash: Array(1...21)))

  // MARK: Order

  @Test(arguments: [
    ("a", "b"), ("a", "ab"), ("2", "10"), ("a2b", "a10b"), ("IMG_9.jpg", "IMG_10.jpg"), ("a1b2", "a1b10"),
    ("a01", "a1"), ("a1", "a01b"), ("a", "a0"), ("9", "99999999999999999999999"), ("", "0"),
  ])
  func namesAreInTheOrderThatPeopleExpect(first: String, second: String) {
    #expect(NaturalOrder.precedes(Path(first), Path(second)))
    #expect(!NaturalOrder.precedes(Path(second), Path(first)))
    #expect(NaturalOrder.key(of: Path(first)).lexicographicallyPrecedes(NaturalOrder.key(of: Path(second))))
  }

  @Test func theOrderOfNamesIsStrict() {
    var generator = SystemRandomNumberGenerator()
    let names = (0..<60).map { _ in
      Path(String((0..<Int.random(in: 0...4, using: &generator)).map { _ in "0019ab".randomElement()! }))
    }
    for a in names {
      #expect(!NaturalOrder.precedes(a, a))
      for b in names where a != b {
        #expect(NaturalOrder.precedes(a, b) != NaturalOrder.precedes(b, a), "\(a) and \(b)")
        let keys = (NaturalOrder.key(of: a), NaturalOrder.key(of: b))
        #expect(keys.0.lexicographicallyPrecedes(keys.1) == NaturalOrder.precedes(a, b), "\(a) and \(b)")
        for c in names where NaturalOrder.precedes(a, b) && NaturalOrder.precedes(b, c) {
          #expect(NaturalOrder.precedes(a, c), "\(a), \(b) and \(c)")
        }
      }
    }
  }

  @Test func aSortedWalkVisitsEveryFileOnceAndInOrder() throws {
    for name in ["b.jpg", "a10.jpg", "a9.jpg", "a/z.jpg", "a/2.jpg", "c/x.jpg"] {
      try folder.write([1], to: "images/\(name)")
    }
    var visited: [String] = []
    SourceWalker(arguments: [.path(Path(folder("images")))], isSorted: true).walk(
      onError: { _ in },
      visit: { source in
        visited.append(source.relativePath.printable)
        return .goOn
      })
    #expect(visited == ["a/2.jpg", "a/z.jpg", "a9.jpg", "a10.jpg", "b.jpg", "c/x.jpg"])
  }

  // MARK: The comment

  @Test func aThumbnailKeepsTheDescriptionOfItsSource() throws {
    let jpeg = SyntheticPhoto(seed: 1, width: 40, height: 30).jpeg()
    let comment = DescriptionComment(description, PixelSize(width: 40, height: 30))
    let mark = ThumbnailMark(settings: "s").of(SourceContents(size: 1, ends: [1]), nil)
    let marked = jpeg.withUnsafeBytes { mark.inserted(into: $0, followedBy: comment) }
    #expect(ThumbnailMark.description(head: marked[...]) == comment)
    #expect(ThumbnailMark(head: marked[...]) == mark)
    #expect(try ThumbnailMaker.readInfo(of: ByteReader(bytes: marked)).pixels == PixelSize(width: 40, height: 30))
    let plain = jpeg.withUnsafeBytes { mark.inserted(into: $0) }
    #expect(ThumbnailMark.description(head: plain[...]) == nil)
  }

  @Test func theLongestCommentIsWithinItsLimit() {
    var longest = description.placeholder
    longest = Placeholder(meanColor: longest.meanColor, thumbHash: [UInt8](repeating: 255, count: 25))
    let size = PixelSize(width: 65_535, height: 65_535)
    let text = DescriptionComment(
      SourceDescription(pixels: size, orientation: .rotated270, placeholder: longest), size
    )
    .text
    for carrier in CommentCarriers.all { #expect(carrier.comment(text).count <= DescriptionComment.longest) }
    #expect(DescriptionComment(text: text[...])?.text == text)
  }

  /// Bytes of a thumbnail may be changed by anything.
  @Test func aChangedCommentIsReadOrRefusedButNeverMore() {
    let text = DescriptionComment(description, PixelSize(width: 256, height: 192)).text
    #expect(DescriptionComment(text: text[...]) != nil)
    for index in text.indices {
      for value in [0, UInt8(ascii: "0"), UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "x"), 0xFF] {
        var changed = text
        changed[index] = value
        guard let read = DescriptionComment(text: changed[...]) else { continue }
        #expect((5...25).contains(read.source.placeholder.thumbHash.count) && read.pixels.count > 0)
      }
    }
  }

  // MARK: Storing

  private func unnamedFile() throws(Errno) -> Descriptor { Descriptor(try createUnnamedFile(in: AT_FDCWD)) }

  @Test func textsComeBackInTheOrderOfTheirNumbers() throws {
    let spool = try OrderedSpool(unnamedFile)
    let numbers = Array(0..<10_000).filter { $0 % 7 != 3 }
    DispatchQueue.concurrentPerform(iterations: 4) { part in
      for number in numbers.reversed() where number % 4 == part {
        spool.store(Array(String(repeating: "\(number) ", count: number % 5 + 1).utf8), at: number)
      }
    }
    var read: [Int] = []
    try spool.visit { text in
      let words = String(decoding: text, as: UTF8.self).split(separator: " ")
      #expect(Set(words).count == 1)
      read.append(words.first.flatMap { Int($0) } ?? -1)
    }
    #expect(read == numbers)
  }

  @Test func anErrorOfStoringIsThrownWhenTheTextsAreRead() throws {
    let spool = try OrderedSpool(unnamedFile)
    spool.store([1], at: -1)  // pwrite(2) refuses a negative offset
    spool.store([2], at: 0)
    #expect(throws: Errno.invalidArgument) { try spool.visit { _ in } }
  }

  // MARK: Files

  private func write(_ text: String, kind: JoinKind? = nil) throws -> Bool {
    let file = try JoinFile(Path(folder("a/b/file")), kind: kind)
    for character in text { try file.append(String(character).utf8) }
    return try file.publish()
  }

  @Test func aFileIsReplacedOnlyIfItDiffers() throws {
    let long = String(repeating: "0123456789", count: 30_000)
    #expect(try write(long))
    let first = try #require(FileIdentity(of: Path(folder("a/b/file"))))
    #expect(try !write(long) && FileIdentity(of: Path(folder("a/b/file"))) == first)
    #expect(try write(String(long.dropLast()) + "x"))
    #expect(try write("short"))
    #expect(try folder.bytes("a/b/file") == Data("short".utf8))
    #expect(folder.files(below: "a").count == 1)
  }

  @Test func nothingIsThereBeforeTheFileIsWhole() throws {
    let file = try JoinFile(Path(folder("x/file")), kind: nil)
    try file.append([UInt8](repeating: 7, count: 1 << 20))
    #expect(folder.files(below: "x") == [])
    #expect(try file.publish())
    #expect(try folder.bytes("x/file").count == 1 << 20)
  }

  @Test func aLinkStaysAndTheFileThatItLeadsToIsReplaced() throws {
    try folder.write([], to: "real/file")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "real/file")
    let file = try JoinFile(Path(folder("link")), kind: nil, isDurable: true)
    try file.append([1])
    #expect(try file.publish())
    #expect(try folder.bytes("real/file") == Data([1]))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link")) == "real/file")
  }

  @Test func whatAKilledRunHasLeftIsRemoved() throws {
    try folder.write([9], to: "a/.thumbjob.tmp")
    let file = try JoinFile(Path(folder("a/file")), kind: nil)
    try file.append([1])
    #expect(try file.publish())
    #expect(folder.files(below: "a") == ["file"])
  }

  @Test func ofSeveralThatReplaceOneFileEachIsWhole() throws {
    let folder = folder
    _ = try write("before")
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<50 {
        let text = [UInt8](repeating: UInt8(thread * 50 + number), count: 100_000)
        do {
          let file = try JoinFile(Path(folder("a/b/file")), kind: nil)
          try file.append(text)
          _ = try file.publish()
        } catch {
          Issue.record(error)
        }
        let there = (try? folder.bytes("a/b/file")) ?? Data()
        #expect(there.count == 100_000 && Set(there).count == 1 || there.count == 6)
      }
    }
    #expect(folder.files(below: "a").count == 1)
  }

  @Test(arguments: JoinKind.allCases) func aFileThatIsNoJoinIsNeverReplaced(kind: JoinKind) throws {
    let photo = SyntheticPhoto(seed: 1, width: 40, height: 30).jpeg()
    try folder.write(photo, to: "photo.jpg")
    let error = #expect(throws: OutputError.self) { _ = try JoinFile(Path(folder("photo.jpg")), kind: kind) }
    #expect(error?.kind == .notJoin(kind))
    #expect(try folder.bytes("photo.jpg") == Data(photo))
    let line = Array((String(repeating: "0", count: 64) + "  name").utf8)
    try folder.write(kind.signature + (kind == .checksums ? line : [1]), to: "photo.jpg")
    #expect(throws: Never.self) { _ = try JoinFile(Path(folder("photo.jpg")), kind: kind) }
    try folder.write([], to: "photo.jpg")
    #expect(throws: Never.self) { _ = try JoinFile(Path(folder("photo.jpg")), kind: kind) }
  }

  @Test(arguments: [
    ("/a/b/c.jpg", "/a/b", "c.jpg"), ("/a/c.jpg", "/a/b", "../c.jpg"), ("/x", "/a/b", "../../x"), ("/a", "/a", ""),
  ])
  func aPathLeadsFromAFolder(path: String, folder: String, expected: String) {
    #expect(Path(path).leading(from: Path(folder)) == Path(expected))
    #expect(Path(folder).following(Path(expected)) == Path(path))
  }
}
