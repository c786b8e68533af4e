import Files
import Foundation

/// The folder of a comparison's results, and in it a temporary folder for everything that is not kept.
///
/// The results are created before anything is measured, so that a comparison that cannot write them fails early. They
/// are put in place at the end; until then the results of an earlier comparison stay.
public final class CompareFolder: Sendable {
  /// The temporary folder. Removing it may take a second, because a process that is being killed still writes for a
  /// moment.
  private static let kind = LockedFolder.Kind(
    prefix: ".thumbjob-compare-", permissions: 0o700, passes: 100, pause: 10_000)

  public enum Result: String, CaseIterable, Sendable {
    case page = "compare.html"
    case samples = "compare.json"

    public var name: Path { Path(rawValue) }
  }

  public let path: Path
  /// The path of the temporary folder.
  public let working: Path
  /// The descriptor of the list of sources, a file without a name. It is good until ``clear()``.
  public var list: CInt { sources.number }
  private let sources: Descriptor
  private let results: [Result: WholeFile]
  private let folder: Descriptor
  private let temporary: LockedFolder
  /// The folders that were created for the results, outermost first.
  private let created: [Path]

  /// Creates the folder with its temporary folder, and opens the results.
  ///
  /// - Throws: ``CompareFolderError``; everything that was created is removed again.
  public init(_ path: Path) throws(CompareFolderError) {
    self.path = path
    var created: [Path] = []
    do throws(CompareFolderError) {
      try Self.makeFolder(path, &created)
      folder = try Self.open(path)
      temporary = try Self.makeTemporary(in: path, folder.number)
    } catch {
      Self.removeEmpty(created)
      throw error
    }
    working = Self.named(path).appending(temporary.name)
    self.created = created
    do throws(CompareFolderError) {
      (results, sources) = try Self.prepare(temporary, in: folder.number, path)
    } catch {
      temporary.remove()
      Self.removeEmpty(created)
      throw error
    }
  }

  /// Writes a result and puts it in place.
  public func publish(_ result: Result, _ text: String) throws(CompareFolderError) {
    guard let file = results[result] else { preconditionFailure("every result was created") }
    do throws(Errno) {
      try writeAll(text.utf8, to: file.contents.number)
      try file.put()
    } catch {
      throw CompareFolderError("write", path.appending(result.name), error)
    }
  }

  /// Removes the temporary folder, and the created folders if they are empty.
  public func clear() {
    temporary.remove()
    Self.removeEmpty(created)
  }

  /// Removes the temporary folder of a comparison that was killed. Does nothing to a folder with any other name.
  public static func remove(_ working: Path) {
    guard let parent = try? openFolder(named(working.parent), in: AT_FDCWD) else { return }
    defer { close(parent) }
    LockedFolder.remove(working.lastName, in: parent, kind)
  }

  // MARK: Creating

  private static func open(_ path: Path) throws(CompareFolderError) -> Descriptor {
    do { return Descriptor(try openFolder(named(path), in: AT_FDCWD)) } catch {
      throw CompareFolderError("open", named(path), error)
    }
  }

  private static func makeTemporary(in path: Path, _ parent: CInt) throws(CompareFolderError) -> LockedFolder {
    let folder = named(path)
    do throws(LockedFolderError) {
      return try LockedFolder(in: parent, kind)
    } catch {
      switch error {
      case .cannotLockParent(let error): throw CompareFolderError("lock", folder, error)
      case .cannotMake(let error): throw CompareFolderError("write in", folder, error)
      case .cannotLock(let name, let error):
        throw CompareFolderError("lock", folder.appending(name), error)
      }
    }
  }

  /// System calls do not take the empty path, which is the working folder.
  private static func named(_ path: Path) -> Path { path.isEmpty ? "." : path }

  /// Creates the results and the list, which are closed when the temporary folder is removed.
  private static func prepare(
    _ temporary: LockedFolder, in folder: CInt, _ path: Path
  ) throws(CompareFolderError) -> (results: [Result: WholeFile], list: Descriptor) {
    var results: [Result: WholeFile] = [:]
    for result in Result.allCases {
      let place = path.appending(result.name)
      if case .success(let status) = FileStatus.of(place, followingLinks: true), status.kind == .folder {
        throw CompareFolderError("write", place, .isDirectory)
      }
      do throws(Errno) {
        let file = try WholeFile(result.name, in: folder, temporary: result.name, in: temporary.descriptor)
        temporary.keep(file.contents)
        results[result] = file
      } catch {
        throw CompareFolderError("write", place, error)
      }
    }
    do throws(Errno) {
      let list = Descriptor(try createUnnamedFile(in: temporary.descriptor))
      temporary.keep(list)
      return (results, list)
    } catch {
      throw CompareFolderError("write in", named(path), error)
    }
  }

  /// Creates a folder, and the folders above it that are missing.
  ///
  /// - Parameter created: receives the folders that this call has created.
  private static func makeFolder(_ path: Path, _ created: inout [Path]) throws(CompareFolderError) {
    if path.isEmpty { return }
    if case .success(let status) = FileStatus.of(path, followingLinks: true) {
      if status.kind != .folder { throw CompareFolderError("write in", path, .notDirectory) }
      return
    }
    if path.parent != path { try makeFolder(path.parent, &created) }
    if path.withCString({ mkdir($0, 0o777) }) == 0 {
      created.append(path)
    } else if errno != EEXIST {
      throw CompareFolderError("make", path, Errno(rawValue: errno))
    }
  }

  private static func removeEmpty(_ folders: [Path]) {
    for folder in folders.reversed() { _ = folder.withCString { rmdir($0) } }
  }
}

/// A file or folder of a comparison cannot be used.
public struct CompareFolderError: Error, CustomStringConvertible {
  public let description: String
  /// Whether the disk is full or the quota is used up.
  public let isOutOfSpace: Bool

  /// - Parameters:
  ///   - action: the action that failed, such as “write in”.
  ///   - error: the error of the system.
  init(_ action: String, _ path: Path, _ error: Errno) {
    description = "cannot \(action) \(path.printable): \(error)"
    isOutOfSpace = error == .noSpace || error == .diskQuotaExceeded
  }
}
