import Files
import Foundation
import Marks
import Sourcing

/// Removes thumbnails from an output folder, one at a time, and the folders that become empty.
///
/// It removes regular files that have our mark, and nothing else: no original, no link, no file that another program has
/// written in the place of a thumbnail. It follows no link below the output folder, so it never leaves it; a thumbnail
/// behind a link stays.
///
/// Between its last look at a file and the removal, another program may replace the file. Linux has no call that removes a
/// file only if it is the one that was looked at.
///
/// *Concurrency*: every method may be called from any thread, while jobs write to the same folder.
package final class ThumbnailRemover: Sendable {
  /// What became of a place.
  package enum Outcome: Sendable, Equatable {
    /// The thumbnail was removed. Its file had this many bytes.
    case removed(bytes: Int)
    /// The place has something else, or has the thumbnail of another source, or a link leads there.
    case notOurs
    /// The place has no file.
    case notThere
  }

  package let path: Path
  /// From where the keys of sources lead to them.
  private let absolutePath: Path
  private let folder: Descriptor
  private let isDryRun: Bool

  /// - Parameters:
  ///   - output: the output folder, which must exist.
  ///   - isDryRun: whether to tell what would be removed, and remove nothing.
  /// - Throws: ``OutputError`` of kind `cannotRemove`, with the error of the system.
  package init(_ output: Path, isDryRun: Bool = false) throws(OutputError) {
    do throws(Errno) { folder = Descriptor(try openFolder(output, in: AT_FDCWD)) } catch {
      throw OutputError(.cannotRemove, output, error)
    }
    (path, absolutePath, self.isDryRun) = (output, output.absolute ?? output, isDryRun)
  }

  /// Removes the thumbnail of a source in a place.
  ///
  /// - Parameters:
  ///   - place: relative to the output folder.
  ///   - source: the source whose thumbnail it must be.
  ///   - unnamed: whether to remove also a thumbnail of an earlier version, whose mark names no source.
  /// - Throws: ``OutputError`` of kind `unreadable` or `cannotRemove`. The thumbnail is still there.
  package func remove(
    _ place: Path, of source: Path, unnamed: @autoclosure () -> Bool = false
  ) throws(OutputError) -> Outcome {
    let key = SourceKey(of: source, from: absolutePath)
    return try remove(place) { $0.source.map { $0 == key } ?? unnamed() }
  }

  /// Removes the thumbnail in a place.
  ///
  /// - Parameters:
  ///   - place: relative to the output folder.
  ///   - isOurs: whether a thumbnail with this mark may be removed; by default any.
  /// - Throws: ``OutputError`` of kind `unreadable` or `cannotRemove`. The thumbnail is still there.
  package func remove(
    _ place: Path, isOurs: (ThumbnailMark) -> Bool = { _ in true }
  ) throws(OutputError) -> Outcome {
    let names = place.names
    guard let name = names.last, !place.isAbsolute, !names.contains(where: { $0 == "." || $0 == ".." }),
      names.first != SourceWalker.workingFolderName
    else { return .notOurs }
    let parent: Descriptor
    do throws(Errno) { parent = try open(names.dropLast()) } catch {
      switch error {
      case .noSuchFileOrDirectory: return .notThere
      // A file or a link is where a folder would be. Systems differ in the error for a link.
      case .notDirectory, .tooManySymbolicLinkLevels: return .notOurs
      default: throw OutputError(.unreadable, path.appending(place), error)
      }
    }
    let bytes: Int
    switch try thumbnail(name, in: parent, place, isOurs: isOurs) {
    case .removed(let found): bytes = found
    case let other: return other
    }
    if isDryRun { return .removed(bytes: bytes) }
    if name.withCString({ unlinkat(parent.number, $0, 0) }) != 0 {
      let error = Errno(rawValue: errno)
      if error == .noSuchFileOrDirectory { return .notThere }
      throw OutputError(.cannotRemove, path.appending(place), error)
    }
    removeEmptyFolders(names.dropLast())
    return .removed(bytes: bytes)
  }

  /// Removes the folder and those above it, except the output folder, as long as they are empty.
  private func removeEmptyFolders(_ names: ArraySlice<Path>) {
    var names = names
    while let name = names.popLast() {
      // The kernel refuses to remove a folder that is not empty, whatever happens meanwhile.
      guard let above = try? open(names), name.withCString({ unlinkat(above.number, $0, AT_REMOVEDIR) }) == 0 else {
        return
      }
    }
  }

  /// Opens the folder of these names below the output folder, following no link.
  private func open(_ names: ArraySlice<Path>) throws(Errno) -> Descriptor {
    var open = folder
    for name in names { open = Descriptor(try openFolder(name, in: open.number, flags: O_NOFOLLOW)) }
    return open
  }

  /// What is in a place: `removed` with its size stands for a thumbnail that may be removed.
  private func thumbnail(
    _ name: Path, in parent: Descriptor, _ place: Path, isOurs: (ThumbnailMark) -> Bool
  ) throws(OutputError) -> Outcome {
    // Opening a device may have effects, so the kind is looked at first.
    guard let before = status(name, in: parent) else { return .notThere }
    guard before.kind == .regular else { return .notOurs }
    let mark: ThumbnailMark?
    do throws(Errno) { mark = try ThumbnailMark.read(name, in: parent.number) } catch {
      if error == .noSuchFileOrDirectory { return .notThere }
      if error == .tooManySymbolicLinkLevels { return .notOurs }
      throw OutputError(.unreadable, path.appending(place), error)
    }
    guard let mark, isOurs(mark), let after = status(name, in: parent),
      FileIdentity(after) == FileIdentity(before), isSameTime(after.modified, before.modified),
      after.st_size == before.st_size
    else { return .notOurs }
    return .removed(bytes: Int(after.st_size))
  }

  private func status(_ name: Path, in parent: Descriptor) -> stat? {
    try? name.withCString { FileStatus.of($0, in: parent.number, followingLinks: false) }.get()
  }
}
