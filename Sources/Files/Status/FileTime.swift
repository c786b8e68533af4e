import Foundation

// The times of files. A file system may tell any time: that of NTFS begins in 1601, that of ext4 ends in 2446, and a damaged
// disk tells what it likes. So nothing here can overflow.

/// Whether `a` is before `b`.
package func isBefore(_ a: timespec, _ b: timespec) -> Bool { (a.tv_sec, a.tv_nsec) < (b.tv_sec, b.tv_nsec) }

/// Whether both times are equal to the nanosecond.
package func isSameTime(_ a: timespec, _ b: timespec) -> Bool { a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec }

/// Whether `copy` is `time`, rounded down by a file system that stores times with a coarser resolution: 100 ns, 1 µs,
/// 10 ms or 1 s.
///
/// - Parameter isCoarse: whether times are stored to two seconds.
package func isSameTime(_ copy: timespec, asKept time: timespec, isCoarse: Bool) -> Bool {
  if isCoarse, copy.tv_nsec == 0, copy.tv_sec == time.tv_sec & ~1 { return true }
  guard copy.tv_sec == time.tv_sec else { return false }
  return [1, 100, 1_000, 10_000_000, 1_000_000_000].contains { copy.tv_nsec == time.tv_nsec / $0 &* $0 }
}

extension timespec {
  /// The nanoseconds since 1970, modulo 2⁶⁴ and as a signed number: equal for equal times, and for no two times of which one
  /// is less than 584 years after the other. Outside the years 1677 to 2262 it tells no more than that: it is the number of
  /// a time between them too.
  package var wrappedNanoseconds: Int { tv_sec &* 1_000_000_000 &+ tv_nsec }

  /// Whether every file system can keep the time, and the one a day before: FAT begins in 1980, and where seconds have 32
  /// bits they end in 2038.
  package var isKeptEverywhere: Bool { (315_705_600...2_147_300_000).contains(tv_sec) }

  /// A time that differs from this one on every file system: a day before it, or the beginning of 2000 if not every file
  /// system can keep it.
  package var other: timespec {
    var other = self
    other.tv_sec = isKeptEverywhere ? tv_sec &- 86_400 : 946_684_800
    return other
  }
}

extension Duration {
  /// From 1970 to a time; negative for an earlier one.
  package init(to time: timespec) { self = .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) }
}
