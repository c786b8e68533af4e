import Files
import Foundation
import Testing

@Suite struct FileTimeTests {
  private static let extremes = [
    timespec(tv_sec: .min, tv_nsec: 0), timespec(tv_sec: .max, tv_nsec: 999_999_999),
    timespec(tv_sec: -11_644_473_600, tv_nsec: 100), timespec(tv_sec: 13_569_465_600, tv_nsec: 0),
    timespec(tv_sec: 15_032_385_535, tv_nsec: 0), timespec(tv_sec: -1, tv_nsec: 500_000_000),
  ]

  @Test(arguments: extremes) func noTimeOverflows(time: timespec) {
    #expect(!isSameTime(time.other, time) && time.other.isKeptEverywhere)
    #expect(isSameTime(time, asKept: time, isCoarse: false))
    #expect(Duration(to: time) - Duration(to: time) == .zero)
    #expect(Self.extremes.count { $0.wrappedNanoseconds == time.wrappedNanoseconds } == 1)
  }

  @Test func nanosecondsTellTimesOfTheseCenturies() {
    #expect(timespec(tv_sec: 1_700_000_000, tv_nsec: 5).wrappedNanoseconds == 1_700_000_000_000_000_005)
    #expect(timespec(tv_sec: -1, tv_nsec: 500_000_000).wrappedNanoseconds == -500_000_000)
    #expect(Duration(to: timespec(tv_sec: -1, tv_nsec: 500_000_000)) == .milliseconds(-500))
  }

  @Test func anotherTimeIsADayEarlier() {
    let time = timespec(tv_sec: 1_700_000_000, tv_nsec: 5)
    #expect(isSameTime(time.other, timespec(tv_sec: 1_699_913_600, tv_nsec: 5)))
  }

  @Test func sumsAndProductsSaturate() {
    #expect(Int.max.saturating(plus: 1) == .max && Int.min.saturating(plus: -1) == .min && 2.saturating(plus: 3) == 5)
    #expect(Int.max.saturating(times: 2) == .max && Int.max.saturating(times: -2) == .min)
    #expect(Int.min.saturating(times: -1) == .max && 2.saturating(times: 3) == 6)
  }
}
