import Files
import Foundation
import MemoryPressure

/// The files that control a cgroup, and its folder.
enum CgroupFile {
  static func write(_ text: String, to path: String) throws(SystemError) {
    let file = try Descriptor.open(path, O_WRONLY)
    if !file.write(Array(text.utf8)) { throw SystemError(path) }
  }

  /// Removes a group. It stays busy for a moment after its last process has ended, so this tries for two seconds.
  static func remove(_ folder: String) {
    for _ in 0..<200 {
      if rmdir(folder) == 0 || errno == ENOENT { return }
      usleep(10_000)
    }
  }
}
