import Files
import Foundation

/// A fingerprint of size, times and number of a file. It changes when the file is written, and when another file takes its
/// path; also when only its mode, its owner or the number of its names changes.
package struct FileState: Sendable, Hashable {
  package let value: Int

  package init(_ status: stat) {
    var hash = Fingerprint()
    for part in [
      Int64(status.st_size), Int64(status.modified.tv_sec), Int64(status.modified.tv_nsec),
      Int64(status.changed.tv_sec), Int64(status.changed.tv_nsec), Int64(bitPattern: UInt64(status.st_ino)),
    ] {
      withUnsafeBytes(of: part) { hash.append($0) }
    }
    value = Int(truncatingIfNeeded: hash.hash)
  }

  package init(value: Int) { self.value = value }

  /// The state of several files together, in any order.
  package static func together(_ states: some Sequence<FileState>) -> FileState {
    FileState(value: states.reduce(0) { $0 &+ $1.value })
  }
}
