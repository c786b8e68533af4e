import Files
import SystemPackage

/// The entries of a folder that is being walked: in the order of the file system, or by name.
final class FolderEntries {
  /// The most entries that are sorted at once, so that the memory is bounded. A folder with more is walked in several parts,
  /// each of which is in order.
  static let mostSorted = 50_000

  let folder: OpenFolder
  private let isSorted: Bool
  /// The sorted entries that remain, the next one last.
  private var sorted: [OpenFolder.Entry] = []
  /// Why the folder could not be read further. It is reported after the entries before it.
  private var failure: Errno?
  private var hasEnded = false

  init(of folder: OpenFolder, isSorted: Bool) {
    (self.folder, self.isSorted) = (folder, isSorted)
  }

  /// The next entry; nil at the end.
  func next() -> Result<OpenFolder.Entry?, Errno> {
    guard isSorted else { return folder.next() }
    if sorted.isEmpty, !hasEnded { readMore() }
    if let entry = sorted.popLast() { return .success(entry) }
    return failure.map { .failure($0) } ?? .success(nil)
  }

  private func readMore() {
    while sorted.count < Self.mostSorted {
      switch folder.next() {
      case .success(let entry?): sorted.append(entry)
      case .success(nil): hasEnded = true
      case .failure(let error): (hasEnded, failure) = (true, error)
      }
      if hasEnded { break }
    }
    sorted.sort { NaturalOrder.precedes($1.name, $0.name) }
  }
}
