/// What was read ahead of the operations.
package struct ReadCounters: Sendable, Equatable {
  package internal(set) var files = 0
  package internal(set) var bytes = 0
  /// The most files that were read at once.
  package internal(set) var readers = 0

  mutating func count(_ bytes: Int) {
    files += 1
    self.bytes += bytes
  }
}
