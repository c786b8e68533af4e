import Files
import Foundation

/// The folder for the sockets of a user's runs: `$THUMBJOB_RUNTIME_DIR` if it is set, else `$XDG_RUNTIME_DIR/thumbjob`,
/// else `thumbjob-UID` in the folder for temporary files. Other users cannot read it.
public struct RuntimeFolder: Sendable, Equatable {
  public let path: String

  /// Creates the folder if needed.
  ///
  /// - Throws: ``StatusEndpointError`` if the folder belongs to another user, is open to others, or is a link.
  static func make(_ environment: [String: String]) throws(StatusEndpointError) -> RuntimeFolder {
    var failure: StatusEndpointError?
    for folder in candidates(environment) {
      if mkdir(folder.path, 0o700) != 0, errno != EEXIST {
        // For example a runtime folder that was removed when its login session ended.
        failure = failure ?? StatusEndpointError(folder.path, "cannot be made: \(systemText(errno))")
        continue
      }
      if let defect = folder.defect { throw StatusEndpointError(folder.path, defect) }
      return folder
    }
    throw failure ?? StatusEndpointError("the runtime folder", "its path is too long for a socket")
  }

  /// The existing folders that are safe to read.
  static func existing(_ environment: [String: String]) -> [RuntimeFolder] {
    candidates(environment).filter { $0.defect == nil }
  }

  /// The possible folders, best first.
  private static func candidates(_ environment: [String: String]) -> [RuntimeFolder] {
    if let chosen = environment["THUMBJOB_RUNTIME_DIR"], chosen.hasPrefix("/") { return [RuntimeFolder(path: chosen)] }
    var folders: [RuntimeFolder] = []
    if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"), isOwn(runtime) {
      folders.append(RuntimeFolder(path: "\(runtime)/thumbjob"))
    }
    for temporary in [environment["TMPDIR"], "/tmp"] {
      guard let temporary, temporary.hasPrefix("/") else { continue }
      let folder = RuntimeFolder(path: "\(temporary)/thumbjob-\(geteuid())")
      if !folders.contains(folder) { folders.append(folder) }
    }
    // Room for a slash, a process id, and the number of a second socket.
    return folders.filter { $0.path.utf8.count + "/4194304-9.sock".utf8.count <= Sockets.longestPath }
  }

  private static func isOwn(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_uid == geteuid() && status.isKind(mode_t(S_IFDIR))
  }

  /// Why the folder must not be used; nil if it is safe.
  private var defect: String? {
    guard let status = Sockets.status(of: path) else { return "cannot be examined: \(systemText(errno))" }
    if status.isKind(mode_t(S_IFLNK)) { return "is a link, which another user may have created" }
    if !status.isKind(mode_t(S_IFDIR)) { return "is no folder" }
    if status.st_uid != geteuid() { return "belongs to another user (\(status.st_uid))" }
    let mode = status.st_mode & 0o777
    if mode != 0o700 { return "has mode \(String(mode, radix: 8)); it must be 700, for you alone" }
    return nil
  }

  /// The sockets in it, with the id of the process that created each.
  var sockets: [(pid: Int, path: String)] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.compactMap { name in
      guard name.hasSuffix(".sock"), let pid = Int(name.prefix { $0.isNumber }), pid > 0, pid <= Int32.max,
        Sockets.status(of: "\(path)/\(name)")?.isKind(mode_t(S_IFSOCK)) == true
      else { return nil }
      return (pid, "\(path)/\(name)")
    }
  }

  /// Removes sockets that ended runs have left. A socket without a listener may belong to a run that is about to
  /// listen, so its process must be gone too.
  func sweep() {
    for (pid, path) in sockets where kill(pid_t(pid), 0) != 0 && errno == ESRCH && SocketFile.isStale(path) {
      unlink(path)
    }
  }
}
