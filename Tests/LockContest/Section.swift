import Foundation

/// Work of a certain length, which takes the processor and touches no memory.
///
/// It is counted and not timed: by a clock, a thread that has lost its processor would work less.
public struct Section: Sendable {
  private let rounds: Int
  private let yields: Bool

  /// - Parameter yields: whether other threads may run before the work, so that threads meet although each is quick.
  public init(nanoseconds: Int, yields: Bool = false) {
    (rounds, self.yields) = (Int(Double(nanoseconds) / Self.nanosecondsPerRound), yields)
  }

  /// The fastest of many attempts, because other programs may have the processor for a part of each.
  private static let nanosecondsPerRound: Double = {
    let section = Section(rounds: 20_000)
    let times = (0..<50).map { _ in
      let start = Waits.now()
      section.pass()
      return Waits.now() - start
    }
    return max(Double(times.min() ?? 1), 1) / 20_000
  }()

  private init(rounds: Int) { (self.rounds, yields) = (rounds, false) }

  /// Works.
  @inline(never) public func pass() {
    if yields { sched_yield() }
    var number = UInt64(bitPattern: Int64(rounds)) | 1
    for _ in 0..<rounds {
      number ^= number << 13
      number ^= number >> 7
      number ^= number << 17
    }
    // It never is zero. The compiler does not know that, and so cannot leave the work out.
    if number == 0 { fatalError("a shift register cannot become zero") }
  }
}

/// How long threads have waited, in buckets each of which is an eighth wider than the one before, or less.
public struct Waits: Sendable {
  private var counts = [Int](repeating: 0, count: 64 * 8)

  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  mutating func record(_ nanoseconds: UInt64) {
    counts[nanoseconds < 8 ? Int(nanoseconds) : Self.bucket(of: nanoseconds)] += 1
  }

  mutating func add(_ other: Waits) {
    for (place, count) in other.counts.enumerated() { counts[place] += count }
  }

  public var count: Int { counts.reduce(0, +) }

  /// In nanoseconds: what a part of the waits does not exceed; 0 if there are none.
  ///
  /// - Parameter part: in 0...1.
  public func quantile(_ part: Double) -> Int {
    let wanted = Int((Double(count) * part).rounded(.up))
    var seen = 0
    for (place, count) in counts.enumerated() where count > 0 {
      seen += count
      if seen >= wanted { return place < 8 ? place : Self.end(of: place) }
    }
    return 0
  }

  /// The position of the highest bit, and the three bits that follow it.
  private static func bucket(of nanoseconds: UInt64) -> Int {
    let high = 63 - nanoseconds.leadingZeroBitCount
    return high * 8 + Int(nanoseconds >> UInt64(high - 3) & 7)
  }

  private static func end(of bucket: Int) -> Int { ((8 + bucket & 7) + 1) << (bucket / 8 - 3) - 1 }
}
