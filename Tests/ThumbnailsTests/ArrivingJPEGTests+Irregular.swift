import TestSupport
import Testing

@testable import Thumbnails

// Files that are needed as a whole, damaged files, and nonsense.
extension ArrivingJPEGTests {
  private static let regular: Result<[UInt8], any Error> = Result {
    try ScanScript.standard(3).rewrite(photos[2].bytes, restartInterval: 9)
  }

  private static func offsets(of marker: JPEGMarker, in bytes: [UInt8]) -> [Int] {
    bytes.indices.dropLast().filter { bytes[$0] == JPEGMarker.prefix && bytes[$0 + 1] == marker.rawValue }
  }

  private static func expectEverything(_ file: [UInt8], _ options: ThumbnailOptions, _ note: String) {
    for (needsLastBit, piece) in [(true, 4096), (false, 4096), (false, 1)] {
      let verdict = verdict(file, options, needsLastBit: needsLastBit, piece: piece)
      #expect(verdict == .everything, "\(note), last bit \(needsLastBit), pieces of \(piece)")
    }
  }

  @Test func filesOfOtherKindsAreNeededAsAWhole() throws {
    let options = try Self.options("12")
    for (name, _, bytes) in Self.photos {
      // This is known from the header.
      Self.expectEverything(Array(bytes.prefix(bytes.count / 2)), options, name)
    }
    Self.expectEverything(SamplingTests.arithmetic, try Self.options("1"), "arithmetic")
    let two = TestJPEG(width: 90, height: 90, components: [.init(id: 1), .init(id: 2)]) { _, _, _ in 9 }
    Self.expectEverything(two.bytes(), options, "two components")
    Self.expectEverything(Array("\u{89}PNG\r\n".utf8) + [UInt8](repeating: 0, count: 90), options, "PNG")
    Self.expectEverything(JPEGMarker.soi.bytes + JPEGMarker.eoi.bytes, options, "no picture")
  }

  @Test func optionsThatNeedEverythingAreHeeded() throws {
    let file = try Self.regular.get()
    let changes: [(String, String, (inout ThumbnailOptions) -> Void)] = [
      ("warnings fail", "12", { $0.failOn = .warning }), ("linear light", "12", { $0.linear = true }),
      ("previews", "12", { $0.previews = .prefer }), ("too many pixels", "12", { $0.limitPixels = 100_000 }),
      ("scale 1/2", "90", { _ in }), ("full scale", "400", { _ in }),
      ("a second size at scale 1/2", "12", { $0.sizes.append($0.sizes[0]) }),
    ]
    let large = try SizeSpec(parsing: "90")
    for (note, size, change) in changes {
      var options = try Self.options(size, change: change)
      if options.sizes.count > 1 { options.sizes[1] = large }
      Self.expectEverything(file, options, note)
    }
    for failOn in [FailOn.truncated, .error] {
      let verdict = Self.verdict(file, try Self.options("12") { $0.failOn = failOn })
      #expect(verdict != .everything && verdict != .unknown)
    }
  }

  @Test func irregularFilesAreNeededAsAWhole() throws {
    let file = try Self.regular.get()
    let scans = Self.offsets(of: .sos, in: file)
    let frame = try #require(Self.offsets(of: .sof2, in: file).first)
    let tables = try #require(Self.offsets(of: .dht, in: file).first)
    let quantization = try #require(Self.offsets(of: .dqt, in: file).first)
    let interval = try #require(Self.offsets(of: .dri, in: file).first)
    func changed(_ changes: (Int, UInt8)...) -> [UInt8] {
      var bytes = file
      for (offset, value) in changes { bytes[offset] = value }
      return bytes
    }
    func inserting(_ bytes: [UInt8], at offset: Int) -> [UInt8] { file[..<offset] + bytes + file[offset...] }
    let frameBytes = Array(file[frame..<frame + 2 + Int(file[frame + 3])])
    let irregular: [(String, [UInt8])] = [
      ("no SOI marker", changed((1, 0xE0))),
      ("a second SOI marker", inserting(JPEGMarker.soi.bytes, at: 2)),
      ("a restart marker", inserting(JPEGMarker.rst0.bytes, at: scans[0])),
      ("an EOI marker", inserting(JPEGMarker.eoi.bytes, at: scans[1])),
      ("no marker", inserting([0], at: tables)),
      ("an arithmetic table", inserting([0xFF, 0xCC, 0, 4, 0, 0], at: tables)),
      ("an empty length", inserting([0xFF, 0xE5, 0, 0], at: tables)),
      ("a second frame", inserting(frameBytes, at: scans[1])),
      ("12 bits", changed((frame + 4, 12))),
      ("a long frame header", changed((frame + 3, file[frame + 3] + 1))),
      ("a missing quantization table", changed((frame + 12, 3))),
      ("a quantization step of 0", changed((quantization + 5, 0))),
      ("a missing Huffman table", changed((scans[0] + 6, 0x30))),
      ("an unknown component", changed((scans[1] + 5, 77))),
      ("a wrong bit", changed((scans[1] + 9, 0x21))),
      ("no bit is new", changed((scans[1] + 7, 0), (scans[1] + 8, 0), (scans[1] + 9, 1))),
      ("a short restart interval", changed((interval + 3, 3))),
      ("a frame after the scan", Array(file[..<frame]) + file[(frame + frameBytes.count)...]),
    ]
    for (note, bytes) in irregular { Self.expectEverything(bytes, try Self.options("28"), note) }
  }

  /// All bytes before the end are needed for the verdict, and it is known as soon as they have arrived.
  @Test func theVerdictIsKnownAsSoonAsTheEndHasArrived() throws {
    let file = try Self.regular.get()
    for needsLastBit in [true, false] {
      let options = try Self.options("28")
      let judge = ArrivingJPEG(ByteReader(bytes: file), options: options, needsLastBit: needsLastBit)
      let count = try #require((0...file.count).first { judge.read(arrived: $0) != .unknown })
      // Without the last bit, the marker that shows the end of the scan is not part of the file.
      #expect(judge.read(arrived: count) == .end(needsLastBit ? count : count - 2))
    }
  }

  /// Whatever the damage, the cut file gives the same thumbnail as the whole one, or the same error.
  @Test func damagedFilesGiveTheSameResultCutOrWhole() throws {
    var random = SplitMix(seed: 31)
    var (early, broken) = (0, 0)
    for index in [0, 1, 6] {
      let (_, components, baseline) = Self.photos[index]
      let file = try ScanScript.standard(components).rewrite(baseline, restartInterval: index)
      for round in 0..<90 {
        var damaged = file
        for _ in 0...Int(random.next() % 3) {
          // Every other fault is in the headers before the first scan.
          let range = round % 2 == 0 ? 700 : file.count - 2
          damaged[Int(random.next() % UInt64(range))] = UInt8(truncatingIfNeeded: random.next())
        }
        let options = try Self.options(Self.sizes[round / 2 % 2])
        let verdict = Self.verdict(damaged, options)
        #expect(Self.verdict(damaged, options, piece: Int(random.next() % 50) + 1) == verdict)
        guard case .end(let end) = verdict else { continue }
        let whole = Result { try Self.thumbnail(damaged, options).bytes }
        let cut = Result { try Self.thumbnail(Self.cut(damaged, at: end), options).bytes }
        #expect((try? cut.get()) == (try? whole.get()))
        if case .failure(let error) = whole, case .failure(let other) = cut {
          #expect(other as? ThumbnailError == error as? ThumbnailError)
          broken += 1
        }
        early += 1
      }
    }
    #expect(early > 60 && broken > 10, "\(early), \(broken)")
  }

  @Test func nonsenseIsNeverTakenForAFileThatEnds() throws {
    var random = SplitMix(seed: 32)
    let file = try Self.regular.get()
    let scan = try #require(Self.offsets(of: .sos, in: file).first)
    for length in [0, 1, 2, 3, 20, 90, 300, scan, scan + 2, scan + 3, scan + 14, scan + 900] {
      let noise = (0..<5000).map { _ in UInt8(truncatingIfNeeded: random.next() % 7 == 0 ? 0xFF : random.next()) }
      let beginning = Array(file.prefix(length))
      for bytes in [beginning, beginning + noise] {
        for size in Self.sizes {
          let options = try Self.options(size)
          let verdict = Self.verdict(bytes, options)
          if case .end = verdict { Issue.record("\(length) bytes, then \(bytes.count - length) of noise") }
          #expect(Self.verdict(bytes, options, piece: 1) == verdict)
        }
      }
    }
  }

  @Test func aSourceThatCannotBeReadIsNeededAsAWhole() throws {
    let file = try Self.regular.get()
    let whole = ByteReader(bytes: file)
    for limit in [0, 10, 400, 2000] {
      for isError in [true, false] {
        let source = ByteReader(size: nil) { offset, buffer in
          if offset + UInt64(buffer.count) <= UInt64(limit) { return whole.read(at: offset, into: buffer) }
          return isError ? .failure(ByteReader.ReadError(rawValue: 5)) : .success(0)
        }
        let judge = ArrivingJPEG(source, options: try Self.options("12"))
        let verdicts = (0...file.count).lazy.map { judge.read(arrived: $0) }
        #expect(verdicts.first { $0 != .unknown } == .everything, "\(limit), \(isError)")
      }
    }
  }
}
