import Files
import Foundation
import Sourcing

/// Writes the lists of a split into a folder. They are written in the folder `.split` inside it, and appear only once all of
/// them are whole. A split that is interrupted before leaves the lists of an earlier one as they were; one that is
/// interrupted while it replaces them leaves a `split.json` that says so.
///
/// *Concurrency*: one thread at a time. A second process is refused.
final class ListWriter {
  private static let workName: Path = ".split"
  private static let lockName: Path = "lock"
  /// The bytes of all lists that are held before they are written.
  private static let mostHeld = 8 << 20

  private let path: Path
  private let folder: Descriptor
  private let work: Descriptor
  private let lock: Descriptor
  private let earlier: ListFolder?
  /// What is not yet in the file of each list.
  private var pending: [[UInt8]] = []
  private var held = 0

  /// Makes the folder if it is missing.
  ///
  /// - Throws: ``SplitError``, without having changed anything in a folder that is refused.
  init(_ path: Path) throws(SplitError) {
    self.path = path
    do throws(Errno) {
      try makeFolder(path, in: AT_FDCWD)
      folder = Descriptor(try openFolder(path, in: AT_FDCWD))
    } catch {
      throw .cannotCreate(path, error)
    }
    earlier = try Self.earlier(in: path)
    try Self.check(path, earlier)
    do throws(Errno) {
      (work, lock) = try Self.lock(in: folder.number)
    } catch {
      throw error == .wouldBlock ? .isBusy(path) : .cannotCreate(path, error)
    }
    removeWork()
  }

  deinit { removeWork(withLock: true) }

  private static func earlier(in path: Path) throws(SplitError) -> ListFolder? {
    do throws(ListFolderError) { return try ListFolder.find(path) } catch {
      guard case .unreadable(let file, let error) = error else { return nil }
      throw .cannotCreate(file, error)
    }
  }

  /// Refuses a folder that has anything but lists of a split.
  private static func check(_ path: Path, _ earlier: ListFolder?) throws(SplitError) {
    let open: OpenFolder
    switch OpenFolder.open(path) {
    case .success(let found): open = found
    case .failure(let error): throw .cannotCreate(path, error)
    }
    while true {
      switch open.next() {
      case .success(nil): return
      case .failure(let error): throw .cannotCreate(path, error)
      case .success(let entry?):
        // NFS keeps a removed file under such a name for as long as a process reads it.
        if entry.name == workName || entry.name.bytes.starts(with: ".nfs".utf8) { continue }
        let isOurs =
          earlier.map { entry.name == ListFolder.markerName || $0.hasList(entry.name) } == true && entry.kind != .folder
        if !isOurs { throw .isForeign(path.appending(entry.name)) }
      }
    }
  }

  /// Makes the folder `.split` and locks it for this process. Which of two processes was first decides a lock on a file,
  /// because file systems of several machines do not lock folders.
  private static func lock(in folder: CInt) throws(Errno) -> (work: Descriptor, lock: Descriptor) {
    while true {
      try makeFolder(workName, in: folder)
      let work = Descriptor(try openFolder(workName, in: folder, flags: O_NOFOLLOW))
      let lock: Descriptor
      do throws(Errno) {
        lock = Descriptor(try createFile(lockName, in: work.number, flags: O_RDWR))
      } catch {
        if error == .noSuchFileOrDirectory { continue }  // another split has just ended
        throw error
      }
      if retryOnInterrupt({ flock(lock.number, LOCK_EX | LOCK_NB) }) != 0 { throw Errno(rawValue: errno) }
      var status = stat()
      if fstat(lock.number, &status) == 0, status.st_nlink > 0 { return (work, lock) }
    }
  }

  /// Removes the files of this split, or those that a dead one has left.
  private func removeWork(withLock: Bool = false) {
    guard case .success(let open) = OpenFolder.open(".", in: work.number) else { return }
    var names: [Path] = []
    while case .success(let entry?) = open.next() { if entry.name != Self.lockName { names.append(entry.name) } }
    for name in names { unlink(name, in: work.number) }
    guard withLock else { return }
    unlink(Self.lockName, in: work.number)
    _ = Self.workName.withCString { unlinkat(folder.number, $0, AT_REMOVEDIR) }
  }

  /// A file without a name, on the file system of the lists.
  func unnamedFile() throws(SplitError) -> Descriptor {
    do throws(Errno) { return Descriptor(try createUnnamedFile(in: work.number)) } catch {
      throw .cannotWrite(path, error)
    }
  }

  /// Begins this many lists.
  func begin(parts: Int) { pending = [[UInt8]](repeating: [], count: parts) }

  /// Adds an entry to a list.
  func append(_ entry: some Collection<UInt8>, to list: Int) throws(SplitError) {
    pending[list] += entry
    pending[list].append(SourceList.Separator.nul.rawValue)
    held += entry.count + 1
    if held >= Self.mostHeld { try flush() }
  }

  /// Each list is open only while its bytes are written, because there may be more lists than files that may be open.
  private func flush(all: Bool = false) throws(SplitError) {
    for list in pending.indices where all || !pending[list].isEmpty {
      let name = ListFolder.name(list, of: pending.count)
      do throws(Errno) {
        let file = Descriptor(try createFile(name, in: work.number, flags: O_WRONLY | O_APPEND))
        try writeAll(pending[list], to: file.number)
        try Files.flush(file.number)
      } catch {
        throw .cannotWrite(path.appending(name), error)
      }
      pending[list] = []
    }
    held = 0
  }

  /// Puts all lists in place, and removes those of an earlier split.
  ///
  /// - Parameter tree: the folder whose tree thumbnails mirror; nil if each entry decides.
  func publish(tree: Path?) throws(SplitError) {
    try flush(all: true)
    let parts = pending.count
    let old = Array(Set(earlier?.counts ?? [])).sorted()
    var marker = ListFolder.Marker(parts: parts, replaced: old, tree: tree.map(JSONPath.init), complete: false)
    try put(marker)
    for list in 0..<parts { try put(ListFolder.name(list, of: parts)) }
    let now = ListFolder(path, ListFolder.Marker(parts: parts, complete: true))
    for count in old {
      for list in 0..<count {
        let name = ListFolder.name(list, of: count)
        if !now.hasList(name) { unlink(name, in: folder.number) }
      }
    }
    (marker.replaced, marker.complete) = ([], true)
    try put(marker)
  }

  private func put(_ marker: ListFolder.Marker) throws(SplitError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let bytes = try? encoder.encode(marker) else { preconditionFailure("every marker can be encoded") }
    let name = ListFolder.markerName
    do throws(Errno) {
      let file = try WholeFile(name, in: folder.number, temporary: name, in: work.number)
      try writeAll(bytes + [UInt8(ascii: "\n")], to: file.contents.number)
      try file.put()
    } catch {
      throw .cannotWrite(path.appending(name), error)
    }
  }

  private func put(_ name: Path) throws(SplitError) {
    do throws(Errno) { try rename(name, in: work.number, to: name, in: folder.number) } catch {
      throw .cannotWrite(path.appending(name), error)
    }
  }
}
