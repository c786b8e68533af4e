import TestSupport
import Testing

@testable import Thumbnails

/// Broken files lead to an error or a picture, but never to a crash, a hang, or a picture that depends on earlier ones.
@Suite(.timeLimit(.minutes(5))) struct HostileInputTests {
  private static func samples() throws -> [(name: String, bytes: [UInt8])] {
    var baseline = TestJPEG.ycc(48, 40, h: 2, v: 2, value: SamplingTests.slope(48, 40))
    baseline.restartInterval = 2
    baseline.segments.append(TestExif(orientation: 6, artist: "Somebody").segment)
    var separate = baseline
    separate.isInterleaved = false
    separate.segments += TestProfile.segments(TestProfile.sRGB(), chunkSize: 300)
    let cmyk = TestJPEG(
      width: 24, height: 20, components: (1...4).map { TestJPEG.Component(id: $0) },
      segments: [TestJPEG.adobe(transform: 2)], value: SamplingTests.slope(24, 20))
    var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "48")], progressive: true)
    let progressive = try thumbnails(of: baseline.bytes(), options)[0]
    options.subsampling = .s444
    return [
      ("baseline", baseline.bytes()), ("separate scans", separate.bytes()), ("YCCK", cmyk.bytes()),
      ("progressive", progressive), ("arithmetic", SamplingTests.arithmetic),
    ]
  }

  private static func outcome(
    _ bytes: [UInt8], _ maker: ThumbnailMaker, _ failOn: FailOn, keep: KeptMetadata = [], size: String = "9"
  ) throws -> Result<[[UInt8]], ThumbnailError> {
    let options = ThumbnailOptions(
      sizes: [try SizeSpec(parsing: size)], keep: keep, failOn: failOn, limitPixels: 100_000)
    do {
      return .success(try thumbnails(of: bytes, options, maker: maker))
    } catch let error as ThumbnailError {
      return .failure(error)
    }
  }

  @Test func everyCutOffFileIsRejectedAtEveryLevel() throws {
    let maker = ThumbnailMaker()
    for (name, bytes) in try Self.samples() {
      for length in stride(from: 1, to: bytes.count - 2, by: max(1, bytes.count / 400)) {
        let cut = Array(bytes.prefix(length))
        let size = length % 2 == 0 ? "9" : "2"
        guard case .failure(let error) = try Self.outcome(cut, maker, .truncated, size: size) else {
          // Perhaps only the padding bits of the last scan are missing.
          #expect(length >= bytes.count - 4, "\(name) cut at \(length) of \(bytes.count) passed")
          continue
        }
        switch error {
        case .truncated, .notAnImage: break
        default: Issue.record("\(name) cut at \(length): \(error)")
        }
      }
    }
  }

  @Test func aMissingEndMarkerAloneIsHarmless() throws {
    for (name, bytes) in try Self.samples() where name != "arithmetic" {
      let open = Array(bytes.dropLast(2))
      let maker = ThumbnailMaker()
      for size in ["9", "2"] {
        // A file without an EOI marker is decoded as a whole, as every file is with `FailOn.warning`.
        let whole = try Self.outcome(bytes, maker, .warning, size: size)
        guard case .success = whole else {
          Issue.record("\(name) itself: \(whole)")
          continue
        }
        #expect(try Self.outcome(open, maker, .error, size: size) == whole, "\(name)")
      }
      let strict = try Self.outcome(open, maker, .warning)
      #expect(strict == .failure(.imperfect("Premature end of JPEG file")), "\(name)")
    }
  }

  /// The missing EOI marker is noticed first, but that samples are missing is the reason that `FailOn.error` shares.
  @Test func aCutOffFileIsTruncatedEvenWhereEveryWarningFails() throws {
    for (name, bytes) in try Self.samples() {
      let outcome = try Self.outcome(Array(bytes.prefix(bytes.count * 3 / 4)), ThumbnailMaker(), .warning)
      guard case .failure(.truncated) = outcome else {
        Issue.record("\(name): \(outcome)")
        continue
      }
    }
  }

  @Test func aProgressiveFileCutBetweenScansIsTruncated() throws {
    let progressive = try #require(try Self.samples().first { $0.name == "progressive" }).bytes
    let scans = progressive.indices.dropLast().filter { progressive[$0...].starts(with: JPEGMarker.sos.bytes) }
    #expect(scans.count > 5)
    for scan in scans.dropFirst() {
      // The file is also cut in front of the scan's Huffman tables.
      let tables = progressive[..<scan].indices.last { progressive[$0...].starts(with: JPEGMarker.dht.bytes) } ?? scan
      for end in [scan, tables] {
        let outcome = try Self.outcome(Array(progressive[..<end]), ThumbnailMaker(), .truncated)
        guard case .failure(.truncated) = outcome else {
          Issue.record("cut at \(end): \(outcome)")
          continue
        }
      }
    }
  }

  @Test(arguments: FailOn.allCases) func changedBytesNeverCrashOrHang(_ failOn: FailOn) throws {
    let maker = ThumbnailMaker()
    var random = SplitMix(seed: 2024)
    for (_, bytes) in try Self.samples() {
      for _ in 0..<400 {
        var broken = bytes
        for _ in 0...Int(random.next() % 3) {
          broken[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        // At 2 pixels the decoding scale is 1/8, at which only DC coefficients are decoded.
        let size = random.next() % 2 == 0 ? "9" : "2"
        let reused = try Self.outcome(broken, maker, failOn, keep: [.exif, .icc], size: size)
        // Nothing of an earlier picture may show, so a new maker must have the same outcome.
        if random.next() % 8 == 0 {
          #expect(try Self.outcome(broken, ThumbnailMaker(), failOn, keep: [.exif, .icc], size: size) == reused)
        }
      }
    }
  }

  @Test func holesInAPictureShowNothingOfAnEarlierOne() throws {
    let maker = ThumbnailMaker()
    var options = ThumbnailOptions(
      sizes: try ["2", "9", "20", "48x48^"].map { try SizeSpec(parsing: $0) }, subsampling: .s444,
      failOn: .truncated)
    var passed = 0
    var random = SplitMix(seed: 7)
    for (_, bytes) in try Self.samples() {
      let scan = try #require(bytes.indices.dropLast().first { bytes[$0...].starts(with: JPEGMarker.sos.bytes) })
      for round in 0..<24 {
        // A picture of extreme values, larger than the next, fills every buffer; no part of it may be seen again.
        let glare = round % 2 == 0 ? 255.0 : 0
        let components = (1...4).map { TestJPEG.Component(id: $0) }
        let loud = TestJPEG(width: 90, height: 70, components: components) { _, _, _ in glare }
        options.linear = false
        _ = try thumbnails(of: loud.bytes(), options, maker: maker)
        options.linear = round % 3 == 0
        // Removes data from the middle, and all data from there on, without and with the EOI marker.
        let start = scan + 14 + Int(random.next() % UInt64(bytes.count - scan - 16))
        let end = start + Int(random.next() % UInt64(bytes.count - 2 - start))
        let holed = Array(bytes[..<start] + bytes[end...])
        for broken in [holed, Array(bytes[..<start]), Array(bytes[..<start]) + JPEGMarker.eoi.bytes] {
          let reused = Result { try thumbnails(of: broken, options, maker: maker) }
          let fresh = Result { try thumbnails(of: broken, options) }
          #expect((try? reused.get()) == (try? fresh.get()))
          if case .success = fresh { passed += 1 }
        }
      }
    }
    #expect(passed > 50, "hardly any picture with a hole was made, so nothing was compared")
  }

  @Test func aSegmentBeyondTheEndIsReportedWithoutInventingBytes() throws {
    let head: [UInt8] = [0xFF, 0xD8, 0xFF, 0xEC, 0x10, 0x00] + [UInt8](repeating: 1, count: 100)
    let outcome = try Self.outcome(head, ThumbnailMaker(), .error)
    #expect(outcome == .failure(.truncated("it is cut off before byte 4100")))
  }

  @Test func corruptDataFailsByDefaultAndPassesIfAllowed() throws {
    var bytes = TestJPEG.ycc(64, 64, value: SamplingTests.slope(64, 64)).bytes()
    // Writes ones into the middle of the data, because no code of the table consists only of ones.
    let middle = bytes.count - 200
    for index in middle..<middle + 40 { bytes[index] = (index - middle) % 2 == 0 ? 0xFF : 0x00 }
    let maker = ThumbnailMaker()
    guard case .failure(.corrupt(let reason)) = try Self.outcome(bytes, maker, .error) else {
      Issue.record("corrupt data passed")
      return
    }
    #expect(
      ThumbnailError.corrupt(reason).description == "damaged: \(reason)")
    guard case .success = try Self.outcome(bytes, maker, .truncated) else {
      Issue.record("corrupt data failed although allowed")
      return
    }
  }

  @Test func toleratedWarningsAreReturned() throws {
    let bytes = TestJPEG.grey(16, 16) { _, _ in 50 }.bytes()
    let extra = Array(bytes.dropLast(2)) + [1, 2, 3] + JPEGMarker.eoi.bytes
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "8")])
    let info = try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: extra), options: options) { _ in }
    #expect(info.warnings.count == 1)
    #expect(info.warnings.first?.hasPrefix("Corrupt JPEG data: ") == true)
    guard case .failure(.imperfect) = try Self.outcome(extra, ThumbnailMaker(), .warning) else {
      Issue.record("passed")
      return
    }
  }

  /// The scans have no data at all. The arithmetic decoder reads zeros after the end, which it would decode to noise.
  @Test func anArithmeticCodedFileWithoutDataIsTruncated() throws {
    let side: [UInt8] = [0x40, 0x00]
    var bytes = JPEGMarker.soi.bytes + TestJPEG.segment(.dqt, [0] + [UInt8](repeating: 1, count: 64))
    bytes += TestJPEG.segment(.sof9, [8] + side + side + [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
    for component: UInt8 in 1...3 { bytes += TestJPEG.segment(.sos, [1, component, 0, 0, 63, 0]) }
    bytes += JPEGMarker.eoi.bytes
    let recorder = QuestionCounter()
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "9")], failOn: .truncated)
    #expect(throws: ThumbnailError.truncated("its picture data ends early")) {
      try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: bytes), options: options, monitor: recorder) { _ in }
    }
    #expect(recorder.asked < 10, "most of the picture was decoded")
  }

  /// An EOI marker in place of a restart marker means that the file is truncated, not damaged.
  @Test func anEndMarkerInPlaceOfARestartIsTruncation() throws {
    for isInterleaved in [true, false] {
      var source = TestJPEG.ycc(48, 40, h: 2, v: 2, value: SamplingTests.slope(48, 40))
      source.restartInterval = 2
      source.isInterleaved = isInterleaved
      let bytes = source.bytes()
      let restarts = bytes.indices.dropLast().filter {
        bytes[$0] == JPEGMarker.prefix && JPEGMarker(rawValue: bytes[$0 + 1]).isRestart
      }
      #expect(restarts.count > 3)
      for restart in restarts.prefix(3) {
        for failOn in FailOn.allCases {
          let outcome = try Self.outcome(Array(bytes[..<restart]) + JPEGMarker.eoi.bytes, ThumbnailMaker(), failOn)
          #expect(outcome == .failure(.truncated("its picture data ends early")))
        }
      }
    }
  }

  /// After a failure that is not the file's fault, decoding is not tried a second time.
  @Test func aReadErrorWhileDCIsDecodedIsFinal() throws {
    let wide = ThumbnailOptions(sizes: [try SizeSpec(parsing: "400")], quality: 95, progressive: true)
    let grain = TestJPEG.ycc(400, 400) { component, x, y in
      let mixed: Int = Int(x) * 37 + Int(y) * 91 + component
      return Double(mixed % 251)
    }
    let bytes = try thumbnails(of: grain.bytes(), wide)[0]
    let whole = ByteReader(bytes: bytes)
    var failures = 0
    let source = ByteReader(size: nil) { offset, buffer in
      guard offset + UInt64(buffer.count) > UInt64(bytes.count / 2) else { return whole.read(at: offset, into: buffer) }
      failures += 1
      return .failure(.init(rawValue: 5))
    }
    #expect(bytes.count > 2 * 65_536)
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "9")])
    #expect(throws: ThumbnailError.unreadable(5)) {
      try ThumbnailMaker().makeThumbnails(of: source, options: options) { _ in }
    }
    #expect(failures == 1)
  }

  /// An EOI marker does not make a progressive file complete that has no DC scans.
  @Test func aProgressiveFileWithoutDCScansIsTruncated() throws {
    let wide = ThumbnailOptions(sizes: [try SizeSpec(parsing: "64")], progressive: true)
    var bytes = try thumbnails(of: TestJPEG.ycc(64, 64, value: SamplingTests.slope(64, 64)).bytes(), wide)[0]
    // The DC scans, first and refinement, contain all components. Without them, only AC coefficients are left.
    var at = try #require(bytes.indices.first { bytes[$0...].starts(with: JPEGMarker.sos.bytes) })
    while let scan = bytes.indices.first(where: { $0 >= at && bytes[$0...].starts(with: JPEGMarker.sos.bytes) }) {
      let ends = [JPEGMarker.dht, .sos, .eoi].map(\.bytes)
      let next = bytes.indices.first { index in
        index > scan + 2 && ends.contains { bytes[index...].starts(with: $0) }
      }
      let end = try #require(next)
      let isOfMeans = bytes[scan + 5 + 2 * Int(bytes[scan + 4])] == 0
      if isOfMeans { bytes.removeSubrange(scan..<end) }
      at = isOfMeans ? scan : end
    }
    for size in ["64", "2"] {
      for failOn in FailOn.allCases {
        guard case .failure(let error) = try Self.outcome(bytes, ThumbnailMaker(), failOn, size: size) else {
          Issue.record("passed at \(size)")
          continue
        }
        if failOn == .truncated { #expect(error == .truncated("its picture data ends early")) }
      }
    }
  }

  @Test func aScanBombIsStopped() throws {
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "16")], progressive: true)
    let whole = try thumbnails(of: TestJPEG.grey(16, 16) { _, _ in 50 }.bytes(), options)[0]
    let scan = try #require(whole.indices.dropLast().last { whole[$0...].starts(with: JPEGMarker.sos.bytes) })
    let last = Array(whole[scan..<whole.count - 2])
    let bomb = Array(whole.dropLast(2)) + (0..<600).flatMap { _ in last } + JPEGMarker.eoi.bytes
    #expect(try Self.outcome(bomb, ThumbnailMaker(), .truncated) == .failure(.tooManyScans(limit: 500)))
  }

  @Test func anEnormousFrameWithoutDataFailsAtOnce() throws {
    var bytes = TestJPEG.ycc(16, 16, h: 2, v: 2) { _, _, _ in 50 }.bytes()
    let frame = try #require(bytes.indices.dropLast().first { bytes[$0...].starts(with: JPEGMarker.sof0.bytes) })
    for index in [frame + 5, frame + 7] { (bytes[index], bytes[index + 1]) = (0x75, 0x30) }
    let size = PixelSize(width: 30_000, height: 30_000)
    #expect(
      try Self.outcome(bytes, ThumbnailMaker(), .error) == .failure(.tooManyPixels(size, limit: 100_000)))
    #expect(
      ThumbnailError.tooManyPixels(size, limit: 100_000).description
        == "30000 × 30000 = 900000000 pixels, over the limit of 100000")
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "9")])
    let recorder = QuestionCounter()
    #expect(throws: ThumbnailError.truncated("its picture data ends early")) {
      try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: bytes), options: options, monitor: recorder) { _ in }
    }
    #expect(recorder.asked < 10, "most of the picture was decoded")
  }
}

/// Counts how often the maker asks whether to stop, which it does once for each row of blocks.
final class QuestionCounter: ThumbnailMonitor {
  private(set) var asked = 0
  var isCancelled: Bool {
    asked += 1
    return false
  }
  func entered(_ stage: ThumbnailStage) {}
  func progressed(to fraction: Double) {}
}
