import Files
import Foundation
import Gallery
import Marks
import Places
import Sourcing

/// The copies of thumbnails in the folder of a gallery that shows nothing else.
///
/// A copy is a second name of the thumbnail, a hard link, where the file system has them; otherwise its contents are copied.
/// It replaces only thumbnails, each whole or not at all, and leaves alone one that is the same. Copies that the gallery does
/// not show any more stay until its list of pictures is in place.
///
/// *Concurrency*: one thread at a time may use it.
struct GalleryCopies {
  /// The folder of all copies, from that of the gallery.
  static let folder: Path = "page/pictures"

  private let folder: Path
  private let outputs: [Path]
  private let isDurable: Bool
  /// The hashes of the places with a copy, some 20 bytes each. No thumbnail is made any more when copies are, so that the
  /// memory for those is free.
  private var places: Set<Int> = []
  /// The folder of the last copy. Those of one folder come in a row.
  private var last: (path: Path, folder: Descriptor)?
  /// Whether a copy was made or removed.
  private(set) var isChanged = false

  /// - Parameters:
  ///   - gallery: its folder.
  ///   - outputs: the folders of the thumbnails.
  ///   - isDurable: whether to wait for the disk after each copy.
  init(in gallery: Path, outputs: [Path], isDurable: Bool = false) {
    (folder, self.outputs, self.isDurable) = (gallery.appending(Self.folder), outputs, isDurable)
  }

  /// Makes a copy.
  ///
  /// - Parameter place: relative to the folder of all copies.
  /// - Throws: ``OutputError``: of kind `foreign` if the place has a file that is no thumbnail.
  mutating func copy(_ thumbnail: Path, to place: Path) throws(OutputError) {
    let path = folder.appending(place)
    places.insert(place.hashValue)
    let file: Descriptor
    do throws(Errno) { file = Descriptor(try openToRead(thumbnail, flags: O_NOFOLLOW)) } catch {
      throw OutputError(.unreadable, thumbnail, error)
    }
    let parent = try open(path.parent)
    if try isThere(path, in: parent, thumbnail, file) { return }
    do throws(Errno) {
      unlink(JoinFile.temporary, in: parent.number)
      if try link(file, to: path.lastName, in: parent) {
        // Some network file systems cannot do this for folders, and do not need it.
        if isDurable { do throws(Errno) { try syncToDisk(parent.number) } catch  where error == .invalidArgument {} }
        isChanged = true
        return
      }
    } catch {
      throw OutputError(writing: path, error)
    }
    try write(file, to: path)
    isChanged = true
  }

  private mutating func open(_ path: Path) throws(OutputError) -> Descriptor {
    if let last, last.path == path { return last.folder }
    do throws(Errno) {
      try makeFolder(path, in: AT_FDCWD)
      let folder = Descriptor(try openFolder(path, in: AT_FDCWD))
      last = (path, folder)
      return folder
    } catch {
      throw OutputError(writing: path, error)
    }
  }

  /// Whether a place has a copy of this thumbnail.
  ///
  /// - Throws: ``OutputError`` of kind `foreign` if the file in the place, or the one that is to be copied, is no thumbnail.
  private func isThere(
    _ path: Path, in parent: Descriptor, _ thumbnail: Path, _ file: Descriptor
  ) throws(OutputError) -> Bool {
    let there: stat?
    switch path.lastName.withCString({ FileStatus.of($0, in: parent.number, followingLinks: false) }) {
    case .failure(.noSuchFileOrDirectory): there = nil
    case .failure(let error): throw OutputError(writing: path, error)
    case .success(let status) where status.kind == .folder: throw OutputError(writing: path, .isDirectory)
    case .success(let status) where status.kind != .regular: throw OutputError(.foreign, path)
    case .success(let status): there = status
    }
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw OutputError(.unreadable, thumbnail, Errno(rawValue: errno)) }
    if let there, FileIdentity(there) == FileIdentity(status) { return true }
    let head = try head(of: thumbnail) { () throws(Errno) in try readAll(Self.headSize, from: file.number, at: 0) }
    guard let there else { return false }
    let other = try self.head(of: path) { () throws(Errno) in
      try readBeginning(of: path.lastName, in: parent.number, limit: Self.headSize)
    }
    return there.st_size == status.st_size && other == head
  }

  /// The bytes of the mark and the description, which tell the settings and the contents of the source.
  private static let headSize = ThumbnailMark.headSize + DescriptionComment.longest

  private func head(of path: Path, _ read: () throws(Errno) -> [UInt8]) throws(OutputError) -> [UInt8] {
    let head: [UInt8]
    do throws(Errno) { head = try read() } catch { throw OutputError(.unreadable, path, error) }
    if ThumbnailMark(head: head[...]) == nil { throw OutputError(.foreign, path) }
    return head
  }

  /// Gives a thumbnail a second name, also where another file has it.
  ///
  /// - Returns: false if the thumbnail can have no name there: the file system has no hard links, or is another one.
  private func link(_ file: Descriptor, to name: Path, in parent: Descriptor) throws(Errno) -> Bool {
    do throws(Errno) {
      do throws(Errno) { try Files.link(file, to: name, in: parent.number) } catch  where error == .fileExists {
        try Files.link(file, to: JoinFile.temporary, in: parent.number)
        try rename(JoinFile.temporary, in: parent.number, to: name, in: parent.number)
      }
      return true
    } catch {
      switch error {
      // The last one is that of a thumbnail that was replaced since it was opened.
      case .improperLink, .notPermitted, .permissionDenied, .notSupported, .noFunction, .tooManyLinks, .invalidArgument,
        .noSuchFileOrDirectory:
        return false
      default: throw error
      }
    }
  }

  /// Copies the contents.
  private func write(_ file: Descriptor, to path: Path) throws(OutputError) {
    let copy = try JoinFile(path, kind: nil, isDurable: isDurable)
    var offset = 0
    while true {
      let chunk: [UInt8]
      do throws(Errno) { chunk = try readAll(1 << 16, from: file.number, at: offset) } catch {
        throw OutputError(.unreadable, path, error)
      }
      if chunk.isEmpty { break }
      try copy.append(chunk)
      offset += chunk.count
    }
    _ = try copy.publish()
  }

  /// Removes the copies that were not made since the beginning, and folders that become empty.
  ///
  /// - Throws: ``OutputError``.
  mutating func removeOthers() throws(OutputError) {
    guard (try? FileStatus.of(folder, followingLinks: false).get())?.kind == .folder else { return }
    // Thumbnails there are no copies if the output folder is there.
    let own = FolderSet([folder])
    if outputs.contains(where: { own.encloses($0) }) { return }
    guard case .success(let open) = OpenFolder.open(folder) else { return }
    try removeOthers(in: open, with: try ThumbnailRemover(folder))
  }

  private mutating func removeOthers(in folder: OpenFolder, with remover: ThumbnailRemover) throws(OutputError) {
    while case .success(let entry?) = folder.next() {
      let place = folder.relativePath.appending(entry.name)
      if entry.kind != .regular, case .success(let below) = folder.openFolder(entry.name, followingLinks: false) {
        try removeOthers(in: below, with: remover)
      } else if entry.name == JoinFile.temporary {
        // Left by a run that was killed.
        unlink(folder.path.appending(entry.name), in: AT_FDCWD)
      } else if !places.contains(place.hashValue), case .removed = try remover.remove(place) {
        isChanged = true
      }
    }
    // The kernel refuses to remove a folder that is not empty.
    _ = folder.path.withCString { rmdir($0) }
  }
}

/// How the thumbnails of a picture are stored: a path for each size with zero bytes between, which no path has. It leads from
/// the folder of the size, and is empty where the picture has no thumbnail of it, or shares that of an earlier size.
extension GalleryCopies {
  static func places(in entry: [UInt8]) -> [(size: Int, place: Path)] {
    entry.split(separator: 0, omittingEmptySubsequences: false).enumerated().compactMap { size, bytes in
      bytes.isEmpty ? nil : Path(bytes: bytes).map { (size, $0) }
    }
  }
}
