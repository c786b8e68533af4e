import Files
import Foundation

/// Lists and reads all sources once, so that several runs have the same list in the same order, and the same files in
/// the page cache.
package struct SourceSurvey: Sendable {
  /// The number of sources that are JPEG files by their contents. Each is in the list once.
  package private(set) var count = 0
  /// The total size of these files.
  package private(set) var bytes = 0

  /// Walks the sources, reads each JPEG file from beginning to end, and writes its path and a zero byte, as
  /// `SourceList` reads them.
  ///
  /// - Parameters:
  ///   - outputs: folders that are never walked.
  ///   - list: the descriptor to write to.
  ///   - shouldStop: called often; true ends the survey early.
  /// - Throws: the error of a write to the list.
  package init(
    of arguments: [SourceArgument], outputs: [Path], writingTo list: CInt, shouldStop: () -> Bool,
    onError: (WalkError) -> Void, onUnreadable: (Path, any Error) -> Void
  ) throws(Errno) {
    let walker = SourceWalker(arguments: arguments, outputs: outputs)
    var places: Set<Path> = []
    var failure: Errno?
    walker.walk(shouldStop: shouldStop, onError: onError) { source in
      let file: SourceFile
      do {
        file = try SourceFile(source.path)
        guard try file.content(of: source) == .image(.jpeg) else { return .goOn }
      } catch {
        onUnreadable(source.path, error)
        return .goOn
      }
      guard let place = SourceList.relativePath(of: source.path), places.insert(place).inserted else { return .goOn }
      Self.readThrough(file, shouldStop)
      do throws(Errno) {
        try writeAll(source.path.bytes + [0], to: list)
      } catch {
        failure = error
        return .stop
      }
      count += 1
      bytes = bytes.saturating(plus: file.size)
      return .goOn
    }
    if let failure { throw failure }
  }

  /// Reads the whole file into the page cache. It ignores errors, because the operation that makes the thumbnail
  /// reports them.
  private static func readThrough(_ file: SourceFile, _ shouldStop: () -> Bool) {
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    var offset: off_t = 0
    while !shouldStop(),
      case let count = buffer.withUnsafeMutableBytes({ pread(file.descriptor, $0.baseAddress, $0.count, offset) }),
      count > 0
    {
      offset += off_t(count)
    }
  }
}
