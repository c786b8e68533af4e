import Foundation

/// How many files the process may hold open.
enum OpenFiles {
  /// Takes all that may be had: a walk holds one open per level of folders, and many systems start with 256 or 1024.
  static func raiseLimit() {
    var limit = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    guard getrlimit(resource, &limit) == 0 else { return }
    // Not unlimited: some systems refuse that for this limit though they name it.
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
    setrlimit(resource, &limit)
  }
}
