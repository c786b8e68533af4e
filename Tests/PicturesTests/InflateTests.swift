#if os(Linux) && Formats
import PictureWriters
import TestSupport
import Testing

/// The functions of ISA-L in the place of zlib's, compared with zlib itself.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct InflateTests {
  private struct Outcome: Equatable {
    var end: inflate_end
    var bytes: [UInt8]
    /// Whether bytes after the end of the data are left; nil if the end was not reached. How many are left may differ.
    var leavesBytes: Bool?
  }

  private static func outcome(
    _ data: [UInt8], steps: (input: Int, output: Int), capacity: Int, byZlib: Bool
  ) -> Outcome {
    var bytes = [UInt8](repeating: 0, count: capacity + 1)
    let result = inflate_bytes(data, data.count, steps.input, steps.output, &bytes, capacity, byZlib)
    #expect(bytes[capacity] == 0)
    return Outcome(
      end: result.end, bytes: Array(bytes.prefix(result.made)),
      leavesBytes: result.end == INFLATE_ENDED ? result.read < data.count : nil)
  }

  /// Runs of equal bytes, noise and repetitions.
  private static func contents(_ size: Int, _ random: inout SplitMix) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < size {
      let count = Int(random.next() % 4000) + 1
      switch random.next() % 4 {
      case 0: bytes += [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: count)
      case 1: bytes += (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      case 2: bytes += (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() % 5) }
      default: bytes += bytes.suffix(Int(random.next() % 40_000) + 1).prefix(count)
      }
    }
    return Array(bytes.prefix(size))
  }

  private static func compressed(_ bytes: [UInt8], level: Int) -> [UInt8] {
    var data = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 1000)
    let size = deflate_bytes(bytes, bytes.count, CInt(level), &data, data.count)
    return Array(data.prefix(size))
  }

  private static let steps = [1, 2, 7, 100, 301, 8192, 18_001, 65_536, 1 << 20]

  @Test func theSameBytesComeOfTheSameData() {
    var random = SplitMix(seed: 1)
    for round in 0..<60 {
      let bytes = Self.contents([0, 1, 300, 30_000, 200_000][round % 5], &random)
      // A call takes some microseconds, however little it does.
      let possible = Self.steps.filter { $0 >= bytes.count / 500 }
      func step() -> Int { possible[Int(random.next() % UInt64(possible.count))] }
      var data = Self.compressed(bytes, level: [0, 1, 6, 9][round % 4])
      // What follows the data is not read.
      data += (0..<round % 13).map { UInt8(truncatingIfNeeded: $0 * 7) }
      let steps = (input: step(), output: step())
      // Exactly as much room as there are bytes, as for the rows of a picture, and more.
      for capacity in [bytes.count, bytes.count + 1] {
        let made = Self.outcome(data, steps: steps, capacity: capacity, byZlib: false)
        #expect(made.bytes == bytes, "round \(round)")
        if capacity > bytes.count {
          #expect(made == Self.outcome(data, steps: steps, capacity: capacity, byZlib: true), "round \(round)")
        } else {
          #expect(made.end == INFLATE_FULL || made.end == INFLATE_ENDED, "round \(round): \(made.end)")
        }
      }
    }
  }

  @Test func dataThatAreDamagedOrCutOffGetTheSameVerdict() {
    var random = SplitMix(seed: 2)
    for round in 0..<600 {
      let bytes = Self.contents(Int(random.next() % 3000), &random)
      var data = Self.compressed(bytes, level: [1, 6, 9][round % 3])
      if round % 4 == 0 { data.removeLast(Int(random.next() % UInt64(data.count))) }
      for _ in 0..<Int(random.next() % 3) where !data.isEmpty {
        data[Int(random.next() % UInt64(data.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      let steps = (input: Self.steps[round % 7], output: Self.steps[2 + round / 7 % 7])
      let made = Self.outcome(data, steps: steps, capacity: 20_000, byZlib: false)
      let expected = Self.outcome(data, steps: steps, capacity: 20_000, byZlib: true)
      #expect(made.end == expected.end, "round \(round)")
      switch made.end {
      // Before damage is noticed, more or fewer bytes may have come out.
      case INFLATE_DAMAGED: break
      // Of data that are cut off, ISA-L gives all of the last repetition.
      case INFLATE_STARVED:
        #expect(made.bytes.starts(with: expected.bytes), "round \(round)")
        #expect(made.bytes.count <= expected.bytes.count + 258, "round \(round)")
      default: #expect(made == expected, "round \(round)")
      }
    }
  }
}
#endif
