import Files
import Foundation
import SystemPackage

/// All sources of a job, looked at and read once before any work is done on them: so that several runs over them begin with
/// the same list in the same order, and with the same in the page cache.
public struct SourceSurvey: Sendable {
  /// Sources that are JPEG by their contents; each is in the list once.
  public private(set) var count = 0
  /// What they are made of, in bytes.
  public private(set) var bytes = 0

  /// Walks the sources, reads each JPEG among them from its beginning to its end, and writes their paths, each with a NUL
  /// behind it, as `SourceList` reads them.
  ///
  /// - Parameters:
  ///   - outputs: folders that are never walked.
  ///   - list: the descriptor to write to.
  ///   - shouldStop: asked again and again; true ends the survey early.
  /// - Throws: where the list cannot be written.
  public init(
    of arguments: [SourceArgument], outputs: [Path], writingTo list: CInt, shouldStop: () -> Bool,
    onProblem: (WalkProblem) -> Void, onUnreadable: (Path, any Error) -> Void
  ) throws(Errno) {
    let walker = SourceWalker(arguments: arguments, outputs: outputs)
    let entries = SourceList(from: nil, separator: .nul)
    var places: Set<Path> = []
    var failure: Errno?
    walker.walk(shouldStop: shouldStop, onProblem: onProblem) { source in
      let file: SourceFile
      do {
        file = try SourceFile(source.path)
        guard try file.content(of: source) == .image(.jpeg) else { return .goOn }
      } catch {
        onUnreadable(source.path, error)
        return .goOn
      }
      guard let place = entries.relativePath(of: source.path), places.insert(place).inserted else { return .goOn }
      Self.readThrough(file, shouldStop)
      do throws(Errno) {
        try writeAll(source.path.bytes + [0], to: list)
      } catch {
        failure = error
        return .stop
      }
      count += 1
      bytes += file.size
      return .goOn
    }
    if let failure { throw failure }
  }

  /// What cannot be read is found out, and said, by whoever makes a thumbnail of it.
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
