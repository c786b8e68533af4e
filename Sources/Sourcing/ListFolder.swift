import Files
import Foundation

/// A folder of lists that ``Split`` has written: `0000`, `0001` and so on, and `split.json`, which says how many there are
/// and which tree the thumbnails of their entries mirror.
package struct ListFolder: Sendable, Equatable {
  /// The contents of `split.json`.
  package struct Marker: Codable, Equatable {
    package static let version = 1

    /// The version of this format.
    package var split = Self.version
    /// How many lists there are.
    package var parts: Int
    /// How many lists there were before, while others replace them.
    package var replaced: [Int] = []
    /// The folder whose tree thumbnails mirror; nil if each entry decides.
    package var tree: JSONPath?
    /// False while the lists are being replaced: some are old, and some are new.
    package var complete: Bool

    package init(parts: Int, replaced: [Int] = [], tree: JSONPath? = nil, complete: Bool) {
      (self.parts, self.replaced, self.tree, self.complete) = (parts, replaced, tree, complete)
    }
  }

  package static let markerName: Path = "split.json"
  private static let longestMarker = 1 << 16

  package let path: Path
  package let marker: Marker

  package var parts: Int { marker.parts }

  package init(_ path: Path, _ marker: Marker) { (self.path, self.marker) = (path, marker) }

  /// - Returns: nil if the folder has no `split.json` of ours.
  package static func read(_ path: Path) throws(ListFolderError) -> ListFolder? {
    guard let folder = try find(path) else { return nil }
    if !folder.marker.complete { throw .unfinished(path) }
    return folder
  }

  /// The same, also if a split was interrupted there.
  package static func find(_ path: Path) throws(ListFolderError) -> ListFolder? {
    let file = path.appending(markerName)
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try readBeginning(of: file, in: AT_FDCWD, limit: longestMarker)
    } catch {
      if error == .noSuchFileOrDirectory || error == .notDirectory { return nil }
      throw .unreadable(file, error)
    }
    guard let marker = try? JSONDecoder().decode(Marker.self, from: Data(bytes)), marker.split == Marker.version,
      Shard.counts.contains(marker.parts), marker.replaced.allSatisfy(Shard.counts.contains)
    else { return nil }
    return ListFolder(path, marker)
  }

  /// The list with this path, if a split has written it.
  package static func list(at path: Path) throws(ListFolderError) -> SourceList? {
    let parent = path.parent.isEmpty ? Path(".") : path.parent
    guard let folder = try read(parent), let index = folder.index(of: path.lastName) else { return nil }
    return folder.list(index, at: path)
  }

  /// The list with this index.
  package func list(_ index: Int) -> SourceList { list(index, at: path.appending(Self.name(index, of: parts))) }

  private func list(_ index: Int, at path: Path) -> SourceList {
    SourceList(file: path, separator: .nul, tree: marker.tree?.path)
  }

  /// The name of a list: four digits, or as many as the last one needs.
  package static func name(_ index: Int, of parts: Int) -> Path {
    let (text, width) = ("\(index)", max(4, "\(parts - 1)".count))
    return Path(String(repeating: "0", count: width - text.count) + text)
  }

  /// The index of the list with this name; nil if it is no list of this folder.
  package func index(of name: Path) -> Int? {
    Self.index(of: name, among: parts)
  }

  private static func index(of name: Path, among parts: Int) -> Int? {
    guard let index = Int(String(decoding: name.bytes, as: UTF8.self)), (0..<parts).contains(index),
      self.name(index, of: parts) == name
    else { return nil }
    return index
  }

  /// The numbers of lists of which some may be here.
  package var counts: [Int] { [marker.parts] + marker.replaced }

  /// Whether a split has given a file this name.
  package func hasList(_ name: Path) -> Bool { counts.contains { Self.index(of: name, among: $0) != nil } }
}

/// The lists of a split cannot be used.
package enum ListFolderError: Error, Sendable, Equatable, CustomStringConvertible {
  case unreadable(Path, Errno)
  /// A split was interrupted while it replaced the lists.
  case unfinished(Path)

  /// One line: the path and the reason.
  package var description: String {
    switch self {
    case .unreadable(let file, let error): "\(file.printable): cannot be read: \(error.description)"
    case .unfinished(let folder):
      "\(folder.printable): thumbjob split was interrupted while it replaced these lists; run it again"
    }
  }
}
