import TestSupport
import Testing
import Thumbnails

@testable import Marks

/// Marks and descriptions in files of each format.
@Suite(.timeLimit(.minutes(1)))
struct CommentCarrierTests {
  /// A file as its encoder begins it, with the least that our code looks at.
  static func file(_ format: ThumbnailFormat) -> [UInt8] {
    switch format {
    case .jpeg: return SyntheticPhoto(seed: 1, width: 40, height: 30).jpeg()
    case .webp:
      var file = bytes("RIFF", [30, 0, 0, 0]) + bytes("WEBPVP8X", [10, 0, 0, 0, 0, 0, 0, 0, 39, 0, 0, 29, 0, 0])
      file += bytes("VP8 ", [0, 0, 0, 0])
      return file
    case .png: return TestPNG(width: 4, height: 3, colorType: 2, bitDepth: 8).bytes
    case .avif:
      let type = [0, 0, 0, 20] + bytes("ftypavif", [0, 0, 0, 0]) + bytes("mif1", [])
      return type + meta(extentAt: 20 + 46) + [0, 0, 0, 12] + bytes("mdat", [1, 2, 3, 4])
    }
  }

  private static func bytes(_ name: String, _ rest: [UInt8]) -> [UInt8] { Array(name.utf8) + rest }

  /// A box `meta` of 46 bytes, whose only item has its extent at a place of the file.
  private static func meta(extentAt place: UInt8) -> [UInt8] {
    let item: [UInt8] = [0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, place, 0, 0, 0, 4, 0, 0, 0, 0]
    return [0, 0, 0, 46] + bytes("meta", [0, 0, 0, 0]) + [0, 0, 0, 34] + bytes("iloc", item)
  }

  private static let source = SourceDescription(
    pixels: PixelSize(width: 4000, height: 3000), orientation: .upright,
    placeholder: Placeholder(meanColor: .white, thumbHash: [1, 2, 3, 4, 5]))
  private let description = DescriptionComment(source, PixelSize(width: 40, height: 30))
  private let mark = ThumbnailMark(settings: "one").of(SourceContents(size: 1, ends: [1]), nil)
  private let other = ThumbnailMark(settings: "another").of(SourceKey(of: "/photos/a.jpg", from: "/thumbs"))

  private func marked(_ format: ThumbnailFormat) -> [UInt8] {
    Self.file(format).withUnsafeBytes { mark.inserted(into: $0, followedBy: description) }
  }

  @Test(arguments: ThumbnailFormat.allCases)
  func aFileKeepsItsMarkAndItsDescription(format: ThumbnailFormat) throws {
    let marked = marked(format)
    #expect(ThumbnailMark(head: marked[...]) == mark)
    #expect(ThumbnailMark(head: marked.prefix(ThumbnailMark.headSize)) == mark)
    #expect(ThumbnailMark.description(head: marked[...]) == description)
    #expect(ThumbnailMark(head: Self.file(format)[...]) == nil)
    // The longest mark fits into what is read of a file.
    let long = Self.file(format).withUnsafeBytes {
      other.of(SourceContents(size: 1, ends: [1]), nil).inserted(into: $0)
    }
    #expect(ThumbnailMark(head: long.prefix(ThumbnailMark.headSize)) != nil)
  }

  @Test(arguments: ThumbnailFormat.allCases)
  func anotherMarkChangesNothingElse(format: ThumbnailFormat) throws {
    let marked = marked(format)
    let replaced = try #require(other.replaced(in: marked))
    #expect(ThumbnailMark(head: replaced[...]) == other)
    #expect(ThumbnailMark.description(head: replaced[...]) == description)
    #expect(try #require(mark.replaced(in: replaced)) == marked)
    #expect(ThumbnailMark.looks(of: replaced) == ThumbnailMark.looks(of: marked))
    #expect(other.replaced(in: Self.file(format)) == nil && ThumbnailMark.looks(of: Self.file(format)) == nil)
  }

  @Test func aFileSaysItsSizeAndPlacesRightly() throws {
    let webp = marked(.webp)
    #expect(Int(webp[4]) | Int(webp[5]) << 8 == webp.count - 8)
    for file in [marked(.avif), try #require(other.replaced(in: marked(.avif)))] {
      let name = try #require(file.firstRange(of: Array("iloc".utf8)))
      let place = file[(name.upperBound + 14)...].prefix(4).reduce(0) { $0 << 8 | Int($1) }
      #expect(Array(file[place...].prefix(4)) == [0, 0, 0, 12], "the extent is the box mdat, as before")
    }
  }

  /// Files in the places of thumbnails may be changed by anything.
  @Test(arguments: ThumbnailFormat.allCases)
  func changedBytesAreReadOrRefused(format: ThumbnailFormat) {
    let marked = marked(format)
    let file = Self.file(format)
    let end = marked.count - file.count + (CommentCarriers.find(in: file[...])?.start ?? 0)
    for index in 0..<min(marked.count, 400) {
      for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
        var changed = marked
        changed[index] = value
        _ = ThumbnailMark.description(head: changed[...])
        guard let replaced = other.replaced(in: changed) else { continue }
        #expect(ThumbnailMark(head: replaced[...]) == other)
      }
      let isWhole = index >= end
      #expect(ThumbnailMark.description(head: marked.prefix(index)) == (isWhole ? description : nil))
      _ = other.replaced(in: Array(marked.prefix(index)))
    }
  }
}
