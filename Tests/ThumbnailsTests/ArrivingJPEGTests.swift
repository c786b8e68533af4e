import TestSupport
import Testing

@testable import Thumbnails

/// Compares thumbnails of files that are cut where `ArrivingJPEG` says with those of the whole files.
@Suite(.timeLimit(.minutes(5))) struct ArrivingJPEGTests {
  typealias Verdict = ArrivingJPEG.Verdict

  /// A size at which a photo of about 400 pixels is decoded at 1/8, and one for 1/4.
  static let sizes = ["12", "28"]

  static func options(_ size: String, change: (inout ThumbnailOptions) -> Void = { _ in }) throws -> ThumbnailOptions {
    var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: size)], quality: 95, subsampling: .s420)
    change(&options)
    return options
  }

  /// The verdict on a file of which `piece` more bytes arrive each time. All of its bytes are there, so that reading
  /// beyond those that have arrived would be noticed.
  static func verdict(
    _ file: [UInt8], _ options: ThumbnailOptions, needsLastBit: Bool = true, piece: Int = 4096
  ) -> Verdict {
    var arrived = 0
    let whole = ByteReader(bytes: file)
    let source = ByteReader(size: file.count) { offset, buffer in
      #expect(Int(offset) + buffer.count <= arrived)
      return whole.read(at: offset, into: buffer)
    }
    let judge = ArrivingJPEG(source, options: options, needsLastBit: needsLastBit)
    var verdict = judge.read(arrived: 0)
    while verdict == .unknown, arrived < file.count {
      arrived = min(arrived + piece, file.count)
      verdict = judge.read(arrived: arrived)
    }
    // The verdict stays the same.
    if verdict != .unknown { #expect(judge.read(arrived: file.count) == verdict) }
    return verdict
  }

  /// The thumbnail, and the warnings.
  static func thumbnail(
    _ file: [UInt8], _ options: ThumbnailOptions, decoding: Decoding = .sparing
  ) throws -> (bytes: [UInt8], warnings: [String]) {
    var made: [UInt8] = []
    let info = try ThumbnailMaker().makeThumbnails(
      of: ByteReader(bytes: file), options: options, decoding: decoding
    ) { made = Array($0.bytes) }
    return (made, info.warnings)
  }

  static func cut(_ file: [UInt8], at end: Int) -> [UInt8] { Array(file[..<end]) + ArrivingJPEG.ending }

  /// Baseline photos, with different components and sampling factors.
  static let photos: [(name: String, components: Int, bytes: [UInt8])] = {
    var photos: [(String, Int, [UInt8])] = []
    for (isGrey, hasFullChroma, quality) in [(true, false, 90), (false, true, 50), (false, false, 97)] {
      var photo = SyntheticPhoto(seed: quality, width: 403, height: 301)
      (photo.isGrey, photo.hasFullChroma, photo.quality) = (isGrey, hasFullChroma, quality)
      photos.append(("photo of quality \(quality)", isGrey ? 1 : 3, photo.jpeg()))
    }
    for (h, v) in [(2, 1), (1, 2), (4, 1)] {
      let photo = TestJPEG.ycc(419, 240, h: h, v: v) { Double((Int($1) / 5 * 29 + Int($2) / 7 * 83 + $0 * 50) % 256) }
      photos.append(("\(h)x\(v)", 3, photo.bytes()))
    }
    let inks = (1...4).map { TestJPEG.Component(id: $0) }
    let cmyk = TestJPEG(
      width: 401, height: 217, components: inks, segments: [TestJPEG.adobe(transform: 2)],
      value: SamplingTests.slope(401, 217))
    photos.append(("YCCK", 4, cmyk.bytes()))
    return photos
  }()

  @Test(arguments: 0..<7, 0..<3) func theCutFileHasTheThumbnailOfTheWhole(_ photo: Int, _ script: Int) throws {
    let (name, components, baseline) = Self.photos[photo]
    let scans = ScanScript.all(components)[script]
    var shortest = Int.max
    for restartInterval in [0, 1, 7] {
      let file = try scans.rewrite(baseline, restartInterval: restartInterval)
      for size in Self.sizes {
        let options = try Self.options(size)
        let whole = try Self.thumbnail(file, options)
        guard case .end(let end) = Self.verdict(file, options) else {
          // The last scan of this script may be needed.
          #expect(Self.verdict(file, options) == .everything)
          #expect(scans.description == "bitwise", "\(name) at \(size), restarts \(restartInterval)")
          continue
        }
        shortest = min(shortest, end)
        let cut = try Self.thumbnail(Self.cut(file, at: end), options)
        #expect(cut == whole && whole.warnings == [], "\(name), \(scans), \(size), restarts \(restartInterval)")
        #expect(file[..<end].suffix(2) == JPEGMarker.sos.bytes[...])
        // One scan less is not enough.
        let last = try #require(file[..<(end - 2)].indices.last { file[$0...].starts(with: JPEGMarker.sos.bytes) })
        #expect(throws: ThumbnailError.self) { try Self.thumbnail(Self.cut(file, at: last + 2), options) }
      }
    }
    #expect(shortest < baseline.count || scans.description == "bitwise", "\(name), \(scans)")
  }

  private static func progressive(quality: Int) throws -> [UInt8] {
    var photo = SyntheticPhoto(seed: 4, width: 403, height: 301)
    photo.quality = quality
    return try ScanScript.standard(3).rewrite(photo.jpeg())
  }

  /// At quality 85 the quantization steps of DC are 5. Without the last bit, samples are at most an eighth of a step
  /// darker, apart from rounding.
  @Test(arguments: [1, 2]) func withoutTheLastBitLessIsNeededAndSamplesAreHardlyDarker(_ side: Int) throws {
    let file = try Self.progressive(quality: 85)
    let options = try Self.options(Self.sizes[side - 1])
    guard case .end(let exact) = Self.verdict(file, options),
      case .end(let end) = Self.verdict(file, options, needsLastBit: false)
    else {
      Issue.record("the file is needed as a whole")
      return
    }
    #expect(end < exact * 3 / 4)
    let made = try Self.thumbnail(Self.cut(file, at: end), options)
    #expect(made.warnings == [ArrivingJPEG.warningOfMissingBit])
    let whole = try #require(try BlockDecoderTests.samples(ByteReader(bytes: file), side: side))
    let cut = try #require(try BlockDecoderTests.samples(ByteReader(bytes: Self.cut(file, at: end)), side: side))
    let darker = zip(whole, cut).flatMap { zip($0.values, $1.values).map { Int($0) - Int($1) } }
    #expect(darker.allSatisfy { (0...1).contains($0) } && darker.contains(1))
  }

  /// At quality 80 they are 6 for luma and 7 for chroma, and the last bit would show.
  @Test func theLastBitIsNeededIfItShows() throws {
    let file = try Self.progressive(quality: 80)
    for size in Self.sizes {
      let options = try Self.options(size)
      let exact = Self.verdict(file, options)
      #expect(exact != .everything && Self.verdict(file, options, needsLastBit: false) == exact)
    }
  }

  @Test func aFileWithoutARefinementOfDCEndsAtTheSamePlaceWithoutTheLastBit() throws {
    let file = try ScanScript.spectral(3).rewrite(Self.photos[1].bytes)
    for size in Self.sizes {
      let options = try Self.options(size)
      let exact = Self.verdict(file, options)
      #expect(exact != .everything && Self.verdict(file, options, needsLastBit: false) == exact)
    }
  }

  /// Fill bytes before each marker, and comments between the scans.
  @Test func piecesOfAnySizeGiveTheSameVerdict() throws {
    for script in [ScanScript.standard(3), ScanScript.spectral(3)] {
      let file = try script.rewrite(Self.photos[2].bytes, restartInterval: 5)
      var filled: [UInt8] = []
      for (index, byte) in file.enumerated() {
        let next = JPEGMarker(rawValue: file[min(index + 1, file.count - 1)])
        if byte == JPEGMarker.prefix, next == .sos || next == .dht {
          filled += TestJPEG.segment(.com, [UInt8](repeating: JPEGMarker.prefix, count: 300)) + [0xFF, 0xFF]
        }
        filled.append(byte)
      }
      for bytes in [file, filled] {
        for size in Self.sizes {
          for needsLastBit in [true, false] {
            let options = try Self.options(size)
            let verdicts = [1, 7, 4096, .max >> 1].map {
              Self.verdict(bytes, options, needsLastBit: needsLastBit, piece: $0)
            }
            guard case .end(let end) = verdicts[0] else {
              Issue.record("\(script) at \(size): \(verdicts[0])")
              continue
            }
            #expect(Set(verdicts).count == 1, "\(script) at \(size)")
            let cut = try Self.thumbnail(Self.cut(bytes, at: end), options)
            if needsLastBit { #expect(cut == (try Self.thumbnail(bytes, options))) }
          }
        }
      }
    }
  }

  /// A file arrives byte by byte. Its header is large.
  @Test func eachByteIsReadOnceAndThoseOfTheHeaderThreeTimes() throws {
    var file = try ScanScript.standard(3).rewrite(Self.photos[1].bytes)
    file.insert(contentsOf: TestJPEG.segment(.app1, [UInt8](repeating: 7, count: 65_000)), at: 2)
    let header = try #require(file.indices.first { file[$0...].starts(with: JPEGMarker.sos.bytes) }) + 14
    let whole = ByteReader(bytes: file)
    var (bytes, calls) = (0, 0)
    let source = ByteReader(size: nil) { offset, buffer in
      let result = whole.read(at: offset, into: buffer)
      bytes += (try? result.get()) ?? 0
      calls += 1
      return result
    }
    let judge = ArrivingJPEG(source, options: try Self.options("28"))
    let end = try #require((1...file.count).first { judge.read(arrived: $0) != .unknown })
    #expect(judge.read(arrived: file.count) == .end(end))
    #expect(bytes <= end + 2 * header + 100 && calls <= end + 1000, "\(bytes) bytes, \(calls) calls for \(end)")
  }
}
