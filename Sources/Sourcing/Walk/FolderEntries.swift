import Files

/// The entries of a folder that is being walked: in the order of the file system, or by name.
///
/// The first entries are read ahead: to sort them, and to see whether ``hasOnlyJPEGNames``.
final class FolderEntries {
  /// The most entries that are sorted at once, so that the memory is bounded. A folder with more is walked in several
  /// parts, each of which is in order.
  static let mostSorted = 50_000
  /// The most entries of all open folders that are read ahead where nothing is sorted. Each takes about a hundred
  /// bytes, and the longer ago an entry was read, the likelier its file is gone.
  static let mostAhead = 4096

  package let folder: OpenFolder
  /// Whether all files that are not hidden have names of JPEG files. Then no `scan.png` or `scan` wants the place of
  /// `scan.png.jpg` or `scan.jpg`. False if that is not known, because the folder has too many entries to be read to
  /// its end before the first one is given.
  private(set) var hasOnlyJPEGNames = false
  private let isSorted: Bool
  private let room: Int
  /// The entries that were read and not given, the next one last.
  private var ahead: [OpenFolder.Entry] = []
  /// Why the folder could not be read further. It is reported after the entries before it.
  private var failure: Errno?
  private var hasEnded = false

  /// - Parameters:
  ///   - ahead: how many entries the folders above have read and not given.
  ///   - hides: whether a walk passes over this name.
  init(of folder: OpenFolder, isSorted: Bool, ahead: Int = 0, hides: (Path) -> Bool) {
    (self.folder, self.isSorted) = (folder, isSorted)
    room = isSorted ? Self.mostSorted : Self.mostAhead - ahead
    readMore()
    hasOnlyJPEGNames =
      hasEnded && failure == nil
      && self.ahead.allSatisfy { $0.kind == .folder || $0.name.hasJPEGName || hides($0.name) }
  }

  /// How many entries were read and not given.
  var aheadCount: Int { ahead.count }

  /// The next entry; nil at the end.
  package func next() -> Result<OpenFolder.Entry?, Errno> {
    if ahead.isEmpty, isSorted { readMore() }
    if let entry = ahead.popLast() { return .success(entry) }
    guard hasEnded else { return folder.next() }
    return failure.map { .failure($0) } ?? .success(nil)
  }

  private func readMore() {
    while !hasEnded, ahead.count < room {
      switch folder.next() {
      case .success(let entry?): ahead.append(entry)
      case .success(nil): hasEnded = true
      case .failure(let error): (hasEnded, failure) = (true, error)
      }
    }
    if isSorted { ahead.sort { NaturalOrder.precedes($1.name, $0.name) } } else { ahead.reverse() }
  }
}
