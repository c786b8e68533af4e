import Files
import Foundation
import Locking

#if os(Linux)
import CLinux

/// Reports the changes in folders, by inotify(7). Each folder is watched by itself, not those below it.
///
/// It is inotify and not fanotify: a fanotify mark of a whole file system needs CAP_SYS_ADMIN, and one of a single
/// folder saves nothing.
///
/// A new folder is reported but not watched. To miss nothing in it, watch it first and then read it: a change is then
/// seen in one of the two ways, or in both.
///
/// *Concurrency*: from any thread. Changes are reported on a thread of their own, one call after the other.
///
/// *Complexity*: about 200 bytes for each folder here, and 1 KiB in the kernel.
package final class FolderWatcher: Sendable {
  private let inotify: Descriptor
  /// Becomes readable when the thread is to end.
  private let ending: Descriptor
  /// Guarded by its lock, which is also held while watches are added and removed.
  private let watches = Locked(WatchedFolders())
  /// The bytes that are read at once: some hundred changes.
  private static let bufferSize = 1 << 16

  /// What is asked of the kernel. There is no event for writing, because a file counts only when it is closed.
  private static let mask = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR)

  /// - Throws: the error of the system: `tooManyOpenFiles` if the user has as many watchers as allowed
  ///   (`fs.inotify.max_user_instances`).
  package init() throws(Errno) {
    inotify = Descriptor(inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK)))
    if inotify.number < 0 { throw Errno(rawValue: errno) }
    ending = Descriptor(eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK)))
    if ending.number < 0 { throw Errno(rawValue: errno) }
  }

  /// Watches a folder, unless it is watched by this path already.
  ///
  /// - Throws: the error of the system: `noSpace` if the user watches as many folders as allowed
  ///   (`fs.inotify.max_user_watches`).
  package func watch(_ folder: Path) throws(Errno) {
    try watches.withLock { watches throws(Errno) in
      let number = folder.withCString { inotify_add_watch(inotify.number, $0, Self.mask) }
      if number < 0 { throw Errno(rawValue: errno) }
      if watches[folder] == number { return }
      // Another folder has this path now.
      forget(folder, in: &watches)
      watches.insert(folder, number)
    }
  }

  /// Stops watching a folder and all below it.
  package func forget(below folder: Path) {
    watches.withLock { watches in
      for path in watches.paths(below: folder) { forget(path, in: &watches) }
    }
  }

  /// The number of watched folders.
  package var count: Int { watches.withLock { $0.count } }

  private func forget(_ path: Path, in watches: inout WatchedFolders) {
    if let number = watches.remove(path) { inotify_rm_watch(inotify.number, number) }
  }

  // MARK: Reading

  /// Reports changes until ``stop()``. Call it once.
  ///
  /// - Parameter handler: must return soon, because the kernel keeps a limited number of changes.
  /// - Returns: false if the system gives no thread.
  package func start(_ handler: @escaping @Sendable ([FolderChange]) -> Void) -> Bool {
    startThread(name: "watch") { [self] in
      var ends = [inotify, ending].map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 8)
      defer { buffer.deallocate() }
      while true {
        let count = retryOnInterrupt { CInt(poll(&ends, 2, -1)) }
        if count < 0 || ends[1].revents != 0 { return }
        let size = retryOnInterrupt { read(inotify.number, buffer.baseAddress, buffer.count) }
        if size < 0 && errno != EAGAIN { return handler([.overflow]) }
        if size > 0 { handler(changes(in: UnsafeRawBufferPointer(rebasing: buffer[..<size]))) }
      }
    }
  }

  /// Ends the reports; one may still be under way.
  package func stop() {
    var one: UInt64 = 1
    _ = write(ending.number, &one, MemoryLayout.size(ofValue: one))
  }

  /// The changes that the kernel's events tell of.
  ///
  /// *Source*: inotify(7): each event has its watch, its mask, a cookie, the length of the name, and the name with zeros.
  func changes(in events: UnsafeRawBufferPointer) -> [FolderChange] {
    var (changes, offset) = ([FolderChange](), 0)
    while offset + Self.headerSize <= events.count {
      let number = events.loadUnaligned(fromByteOffset: offset, as: CInt.self)
      let mask = events.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
      let length = Int(events.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
      let start = offset + Self.headerSize
      let name = events[start..<min(start + length, events.count)].prefix { $0 != 0 }
      changes += self.changes(number, mask, Path(bytes: name) ?? Path())
      offset = start + length
    }
    return changes
  }

  private static let headerSize = 16

  private func changes(_ number: CInt, _ mask: UInt32, _ name: Path) -> [FolderChange] {
    func has(_ bit: some BinaryInteger) -> Bool { mask & UInt32(truncatingIfNeeded: bit) != 0 }
    if has(IN_Q_OVERFLOW) { return [.overflow] }
    let folders = watches.withLock { watches in
      let paths = watches.paths(of: number)
      // The kernel has removed the watch.
      if has(IN_IGNORED) { watches.remove(number: number) }
      return paths
    }
    if has(IN_UNMOUNT) { return [.unmounted] }
    if name.isEmpty { return [] }
    return folders.compactMap { folder in
      change(at: folder.appending(name), name, has)
    }
  }

  private func change(at path: Path, _ name: Path, _ has: (Int32) -> Bool) -> FolderChange? {
    let isFolder = has(Int32(IN_ISDIR))
    if has(IN_MOVED_FROM) || has(IN_DELETE) {
      // A folder that was moved is still watched, by a path that is no longer right.
      if isFolder { forget(below: path) }
      return .gone(path, isFolder: isFolder)
    }
    if isFolder { return has(IN_CREATE) || has(IN_MOVED_TO) ? .folder(path) : nil }
    guard has(IN_CREATE) || isUnnamed(name) else { return .file(path) }
    guard let status = try? FileStatus.of(path, followingLinks: false).get() else {
      // A file without a name was closed. It may have got a name in this folder while it was written (linkat(2)).
      return has(IN_CREATE) ? nil : .folder(path.parent)
    }
    // A new file is being written, and its closing is another event. A link and a further name have no such event.
    let isComplete = !has(IN_CREATE) || status.kind == .link || status.kind == .regular && status.st_nlink > 1
    return isComplete ? .file(path) : nil
  }

  /// Whether the kernel gives this name to files without one: `#` and digits.
  private func isUnnamed(_ name: Path) -> Bool {
    name.bytes.first == UInt8(ascii: "#") && name.length > 1
      && name.bytes.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
#endif
