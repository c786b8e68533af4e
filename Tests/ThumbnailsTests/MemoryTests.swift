import Foundation
import TestSupport
import Testing

@testable import Thumbnails

@Suite(.timeLimit(.minutes(5))) struct MemoryTests {
  /// The estimate covers the memory that is taken to within 10 %, and is not much more than twice as large, from a few
  /// MiB to many. This holds for the first picture of a process too, which pays for memory that later ones share.
  /// Memory is counted for a whole process, so it is measured in a separate one.
  @Test(
    .enabled(if: MemoryMeter.isUsable, "the kernel does not measure memory here, or a sanitizer takes some of its own"))
  func theEstimateIsCloseToTheMemoryTaken() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      MemoryMeter.boundAllocator()
      for case var work in try MemoryCase.all() + MemoryCase.large() + MemoryCase.irregular() {
        for decoding in work.decodings {
          work.decoding = decoding
          let (needed, taken) = try work.measure()
          let line = "\(work.name), \(decoding): \(needed >> 10) KiB needed, \(taken >> 10) KiB taken"
          if Double(taken) > 1.1 * Double(needed) || needed > 2 * taken + (2 << 20) {
            MemoryMeter.say("wrong: \(line)\n")
          }
        }
      }
    }
    #expect(String(decoding: result.standardErrorContent, as: UTF8.self) == "")
  }

  @Test(
    .enabled(if: MemoryMeter.isUsable, "the kernel does not measure memory here, or a sanitizer takes some of its own"))
  func anIdleMakerHoldsLittle() async throws {
    await #expect(processExitsWith: .success) {
      let maker = ThumbnailMaker()
      let photo = SyntheticPhoto(seed: 1, width: 900, height: 600).jpeg()
      _ = try MemoryCase("warming up", photo, "300").measure()
      MemoryMeter.trim()
      let before = MemoryMeter.held
      for (size, subsampling) in [("100", ChromaSubsampling.s420), ("900", .s444), ("900", .s420), ("1200<", .s444)] {
        let work = try MemoryCase("", photo, size) { $0.subsampling = subsampling }
        try maker.makeThumbnails(of: ByteReader(bytes: work.source), options: work.options) { _ in }
      }
      MemoryMeter.trim()
      let kept = MemoryMeter.held - before
      MemoryMeter.say("an idle maker holds \(kept >> 10) KiB\n")
      exit(kept < ThumbnailMaker.bytesKept ? 0 : 1)
    }
  }

  /// Reading a source's header reads at most one window of 64 KiB, decodes no pixel, and keeps nothing.
  @Test func readingTheHeaderReadsLittleAndKeepsNothing() throws {
    final class Watched {}
    let bytes = SyntheticPhoto(seed: 3, width: 1200, height: 600).jpeg()
    weak var watched: Watched?
    var farthest = 0
    do {
      let token = Watched()
      watched = token
      let whole = ByteReader(bytes: bytes)
      let source = ByteReader(size: nil) { offset, buffer in
        withExtendedLifetime(token) { farthest = max(farthest, Int(offset) + buffer.count) }
        return whole.read(at: offset, into: buffer)
      }
      let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "64")])
      let info = try ThumbnailMaker.readInfo(of: source, for: options)
      #expect(info.bytesNeeded(for: options) > 1200 * 600 / 64 && info.pixels.width == 1200)
    }
    #expect(watched == nil)
    #expect(bytes.count > 2 * 65_536 && farthest <= 65_536)
  }

  /// Reading the header finds the right size of a profile of 4 MB without keeping a byte of it.
  @Test(
    .enabled(if: MemoryMeter.isUsable, "the kernel does not measure memory here, or a sanitizer takes some of its own"))
  func aProfileIsMeasuredWithoutBeingKept()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let filler = [UInt8](repeating: 7, count: 4_000_000)
      let profile = TestProfile.adding([("text", 0, filler.count)], filler, to: TestProfile.wide())
      let tagged = MemoryCase.tag(SyntheticPhoto(seed: 1, width: 90, height: 60).jpeg(), profile)
      _ = try ThumbnailMaker.readInfo(of: ByteReader(bytes: tagged))
      let meter = MemoryMeter()
      let info = try ThumbnailMaker.readInfo(of: ByteReader(bytes: tagged), monitor: meter)
      let taken = meter.taken
      MemoryMeter.say("reading a header took \(taken >> 10) KiB, \(info.profileSize) of \(profile.count) bytes\n")
      exit(info.profileSize == profile.count && taken < 1 << 20 ? 0 : 1)
    }
  }
}

/// A source, and the thumbnails to make of it.
struct MemoryCase {
  let name: String
  let source: [UInt8]
  let options: ThumbnailOptions
  var decoding = Decoding.sparing
  var decodings = [Decoding.sparing, .whole()]

  init(
    _ name: String, _ source: some Sequence<UInt8>, _ sizes: String...,
    change: (inout ThumbnailOptions) -> Void = { _ in }
  )
    throws
  {
    var options = ThumbnailOptions(sizes: try sizes.map { try SizeSpec(parsing: $0) })
    change(&options)
    self.name = "\(name) \(sizes.joined(separator: ","))"
    self.source = Array(source)
    self.options = options
  }

  /// The bytes that the estimate says a new maker needs, and the bytes that it takes.
  func measure() throws -> (needed: Int, taken: Int) {
    let maker = ThumbnailMaker()
    let meter = MemoryMeter()
    let info = try maker.makeThumbnails(
      of: ByteReader(bytes: source), options: options, decoding: decoding, monitor: meter
    ) { _ in meter.look() }
    return (info.bytesNeeded(for: options, decoding: decoding), meter.taken)
  }

  static func all() throws -> [MemoryCase] {
    var photo = SyntheticPhoto(seed: 1, width: 900, height: 600)
    let baseline = photo.jpeg()
    photo.orientation = 6
    let turned = photo.jpeg()
    (photo.orientation, photo.isProgressive) = (0, true)
    let progressive = photo.jpeg()
    photo.hasFullChroma = true
    let full = photo.jpeg()
    (photo.hasFullChroma, photo.isProgressive, photo.isGrey) = (false, false, true)
    let grey = photo.jpeg()
    let tagged = tag(baseline, TestProfile.wide())
    let filler = [UInt8](repeating: 7, count: 700_000)
    let heavy = tag(baseline, TestProfile.adding([("text", 0, filler.count)], filler, to: TestProfile.wide()))
    let slope: (Int, Double, Double) -> Double = SamplingTests.slope(400, 300)
    var separate = TestJPEG.ycc(400, 300, h: 2, v: 2, value: slope)
    separate.isInterleaved = false
    let components = (1...4).map { TestJPEG.Component(id: $0) }
    let inks = TestJPEG(width: 400, height: 300, components: components, value: slope)
    return try [
      MemoryCase("warming up", baseline, "256"),
      MemoryCase("baseline", baseline, "256"), MemoryCase("baseline", baseline, "450"),
      MemoryCase("baseline", baseline, "900"), MemoryCase("baseline", baseline, "200", "400", "900"),
      MemoryCase("baseline to 4:4:4", baseline, "900") { $0.subsampling = .s444 },
      MemoryCase("linear", baseline, "300") { $0.linear = true },
      MemoryCase("linear", baseline, "500") { $0.linear = true },
      MemoryCase("turned", turned, "900"), MemoryCase("turned, linear", turned, "600") { $0.linear = true },
      MemoryCase("progressive", progressive, "50"), MemoryCase("progressive", progressive, "300"),
      MemoryCase("progressive", progressive, "900") { $0.progressive = true },
      MemoryCase("progressive 4:4:4", full, "50"),
      MemoryCase("progressive 4:4:4", full, "500") { $0.subsampling = .s444 },
      MemoryCase("a scan for each component", separate.bytes(), "300"),
      MemoryCase("grey", grey, "900"), MemoryCase("best quality", baseline, "900") { $0.quality = 98 },
      MemoryCase("profile", tagged, "256"), MemoryCase("profile", tagged, "900"),
      MemoryCase("profile kept", tagged, "900") { $0.keep = .icc },
      MemoryCase("profile, linear", tagged, "400") { $0.linear = true },
      MemoryCase("large profile", heavy, "256"), MemoryCase("large profile kept", heavy, "256") { $0.keep = .icc },
      MemoryCase("CMYK", inks.bytes(), "100"), MemoryCase("CMYK enlarged", inks.bytes(), "1200<"),
      MemoryCase("thin", baseline, "1x20000!"), MemoryCase("thin", baseline, "20000x1!"),
      MemoryCase("placeholder", baseline, "60") { $0.makesPlaceholder = true },
      MemoryCase("placeholder", turned, "900") { $0.makesPlaceholder = true },
      MemoryCase("placeholder", baseline, "20000x1!") { $0.makesPlaceholder = true },
    ]
  }

  /// Large sources, of which the DC coefficients alone and the rows of a band are a small part.
  static func large() throws -> [MemoryCase] {
    try [false, true].flatMap { isProgressive in
      var photo = SyntheticPhoto(seed: 2, width: 5000, height: 4000)
      (photo.isBlank, photo.isProgressive) = (true, isProgressive)
      let (name, bytes) = ("large, progressive: \(isProgressive)", photo.jpeg())
      return try [
        MemoryCase(name, bytes, "200"), MemoryCase(name, bytes, "1440"), MemoryCase(name, bytes, "4000"),
        MemoryCase(name, bytes, "2000", "1000", "300"), MemoryCase(name, bytes, "1000", "1000", "1000"),
      ]
    }
  }

  /// Sources that turn out to be irregular. The memory of the first attempt must be freed before the second.
  static func irregular() throws -> [MemoryCase] {
    try [false, true].map { isProgressive in
      var photo = SyntheticPhoto(seed: 2, width: 5000, height: 4000)
      (photo.isBlank, photo.isProgressive) = (true, isProgressive)
      var work = try MemoryCase("irregular, progressive: \(isProgressive)", photo.jpeg().dropLast(2), "400")
      work.decodings = [.automatic]
      return work
    }
  }

  static func tag(_ jpeg: [UInt8], _ profile: [UInt8]) -> [UInt8] {
    Array(jpeg.prefix(2) + TestProfile.segments(profile).flatMap { $0 } + jpeg.dropFirst(2))
  }
}

/// The anonymous memory that this process takes while it is measured, because a memory limit counts that. Pages of the
/// program, which the first picture of a process reads from the program's file, do not count: the system can take them
/// back.
///
/// It measures when a stage begins, after each twentieth of the work and when a thumbnail is done. Memory that is taken
/// and freed between two measurements shows in the peak that the kernel keeps. That peak is not exact: each processor
/// may leave up to a batch of pages of each kind uncounted.
///
/// *Source*: proc(5), clear_refs, smaps_rollup, VmHWM; percpu_counter_batch in the kernel's lib/percpu_counter.c.
final class MemoryMeter: ThumbnailMonitor {
  /// Only Linux counts memory in this way, and the address sanitizer takes additional memory for every byte.
  static let isUsable = access("/proc/self/clear_refs", W_OK) == 0 && dlsym(nil, "__asan_init") == nil

  /// The largest error of the kernel's peak, in bytes.
  private static let granularity: Int = {
    let processors = sysconf(CInt(_SC_NPROCESSORS_CONF))
    return 2 * processors * max(32, 2 * processors) * sysconf(CInt(_SC_PAGESIZE))
  }()

  private let before: (anonymous: Int, all: Int)
  private var most: Int
  private var nextLook = 0.0

  /// Returns free memory to the system, and begins to measure.
  init() {
    Self.trim()
    try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    before = Self.now
    most = before.anonymous
  }

  func look() { most = max(most, Self.now.anonymous) }

  /// The most bytes taken at any time.
  var taken: Int {
    let now = Self.now
    let fileBacked = (now.all - now.anonymous) - (before.all - before.anonymous)
    let peak = Self.read("/proc/self/status", "VmHWM:") - before.all - max(0, fileBacked)
    return max(most - before.anonymous, peak - Self.granularity)
  }

  var isCancelled: Bool { false }

  func entered(_ stage: ThumbnailStage) { look() }

  func progressed(to fraction: Double) {
    guard fraction >= nextLook else { return }
    nextLook = fraction + 0.05
    look()
  }

  /// Writes a message to the process that started this one.
  static func say(_ text: String) {
    _ = text.utf8CString.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count - 1) }
  }

  /// Makes large blocks return to the system when they are freed, as jobs do (mallopt(3), M_MMAP_THRESHOLD).
  static func boundAllocator() {
    guard let function = dlsym(nil, "mallopt") else { return }
    _ = unsafeBitCast(function, to: (@convention(c) (CInt, CInt) -> CInt).self)(-3, 1 << 20)
  }

  static func trim() {
    guard let function = dlsym(nil, "malloc_trim") else { return }
    _ = unsafeBitCast(function, to: (@convention(c) (Int) -> Int32).self)(0)
  }

  /// The anonymous memory held, in bytes, exact to the page.
  static var held: Int { now.anonymous }

  private static var now: (anonymous: Int, all: Int) {
    (read("/proc/self/smaps_rollup", "Anonymous:"), read("/proc/self/smaps_rollup", "Rss:"))
  }

  /// Reads one figure, in bytes, from a file that has a figure in KiB on each line. It does not allocate memory,
  /// because that would be measured too.
  private static func read(_ path: StaticString, _ key: StaticString) -> Int {
    let file = path.withUTF8Buffer { $0.withMemoryRebound(to: CChar.self) { open($0.baseAddress!, O_RDONLY) } }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { text in
      let count = Foundation.read(file, text.baseAddress, text.count - 1)
      guard count > 0, let start = text.baseAddress else { return 0 }
      text[count] = 0
      return key.withUTF8Buffer { key in
        key.withMemoryRebound(to: CChar.self) { key in
          strstr(start, key.baseAddress!).map { atol($0 + key.count) << 10 } ?? 0
        }
      }
    }
  }
}
