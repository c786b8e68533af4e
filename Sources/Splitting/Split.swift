import Files
import Foundation
import Places
import Sourcing

/// Walks the sources of a job once, and writes lists of equal estimated cost, of which other processes and machines make one
/// each.
///
/// Their scheduler balances the load and repeats what failed, which works best with many more lists than machines. The
/// paths are kept in a file without a name, so that a million sources take few bytes each.
///
/// It sorts the names of each folder (`SourceWalker`). While it walks, ``HeaderReading`` reads the beginnings of many
/// files at once (``SourceHeader``), and estimates what each will take (``SourceCost``); the paths wait in a
/// ``PathSpool``. The ``Partition``, which knows only costs and the hashes of paths, decides the list of each source.
/// The ``ListWriter`` writes the lists in the folder `.split`, and puts them in place once all are whole, with a
/// `split.json` that says how many there are and which folder thumbnails mirror (`ListFolder`). A run reads its share
/// as a `ShardChoice`, asks the `TaskArray` for the variables of the scheduler if it is automatic, and gets a `Shard`:
/// one of these lists, or the sources whose hash falls into it, which the walk picks out.
package struct Split: Sendable {
  private let walker: SourceWalker
  private let into: Path
  private let parts: Int

  /// - Parameters:
  ///   - outputs: folders that are never walked, besides that of the lists.
  ///   - into: the folder for the lists.
  ///   - parts: how many lists, in ``Shard/counts``.
  package init(
    _ sources: [SourceArgument], filter: SourceFilter = SourceFilter(), followsLinks: Bool = false,
    outputs: [Path] = [], into: Path, parts: Int
  ) {
    // By name, so that the same tree gives the same lists on any file system.
    walker = SourceWalker(
      arguments: sources, filter: filter, followsLinks: followsLinks, isSorted: true, outputs: outputs + [into])
    (self.into, self.parts) = (into, parts)
  }

  /// Writes the lists, whole or not at all.
  ///
  /// - Parameter onError: receives each error of the walk at once; the walk goes on.
  package func run(onError: (WalkError) -> Void) throws(SplitError) -> SplitReport {
    let start = ContinuousClock.now
    guard checkSources(onError) else { throw .missingSource }
    let lists = try ListWriter(into)
    let spool = PathSpool(try lists.unnamedFile())
    let headers = HeaderReading()
    let plan = OutputPlan(walker: walker)
    var keys: [UInt64] = []
    var (duplicates, failure) = (0, nil as Errno?)
    let walk = walker.walk(onError: onError) { source in
      if walker.arguments.count > 1, case .duplicate = plan.placement(of: source) {
        duplicates += 1
        return .goOn
      }
      headers.add(source)
      keys.append(Shard.hash(source.relativePath))
      do throws(Errno) { try spool.append(source.path) } catch { failure = error }
      return failure == nil ? .goOn : .stop
    }
    let found = headers.finish()
    if let failure { throw .cannotWrite(into, failure) }
    let partition = Partition(keys: keys, costs: found.costs, parts: parts)
    keys = []
    lists.begin(parts: parts)
    try spool.visit { index, entry throws(SplitError) in
      let part = partition.part[index]
      if part != Partition.none { try lists.append(entry, to: Int(part)) }
    }
    try lists.publish(tree: tree)
    var report = SplitReport(
      walk: walk, parts: parts, empty: partition.loads.count { $0 == 0 },
      lowestCost: Self.seconds(partition.loads.min()), highestCost: Self.seconds(partition.loads.max()),
      cost: Self.seconds(partition.loads.reduce(0, +)), elapsed: .now - start, peakMemory: ProcessStatus.peakResident)
    (report.sources, report.bytes, report.withoutPixels) = (found.sources, found.bytes, found.withoutPixels)
    (report.notImages, report.ownThumbnails, report.duplicates) = (found.notImages, found.ownThumbnails, duplicates)
    return report
  }

  private static func seconds(_ cost: Int?) -> Double { Double(cost ?? 0) / 10_000_000 }

  /// Whether all arguments exist. Lists without the sources of a disk that is not mounted would lose them.
  private func checkSources(_ onError: (WalkError) -> Void) -> Bool {
    var areThere = true
    for (index, argument) in walker.arguments.enumerated() where !argument.exists {
      areThere = false
      onError(WalkError(.missingArgument, Path(argument.description), argument: index))
    }
    return areThere
  }

  /// The folder whose tree the thumbnails mirror. It is relative if all sources are, so that another machine may have
  /// mounted them elsewhere.
  private var tree: Path? {
    guard let root = walker.tree.root else { return nil }
    let areRelative = walker.arguments.allSatisfy { if case .path(let path) = $0 { !path.isAbsolute } else { false } }
    guard areRelative, let folder = Path.workingFolder else { return root }
    let relative = root.leading(from: folder)
    return relative.isEmpty ? "." : relative
  }
}

/// The paths of sources in the order of the walk, in a file without a name.
final class PathSpool {
  private let file: Descriptor
  private var pending: [UInt8] = []
  private static let bufferSize = 1 << 16

  init(_ file: Descriptor) { self.file = file }

  func append(_ path: Path) throws(Errno) {
    pending += path.bytes
    pending.append(0)
    if pending.count >= Self.bufferSize { try flush() }
  }

  private func flush() throws(Errno) {
    try writeAll(pending, to: file.number)
    pending.removeAll(keepingCapacity: true)
  }

  /// Passes each path with its index to `body`.
  func visit(_ body: (Int, ArraySlice<UInt8>) throws(SplitError) -> Void) throws(SplitError) {
    do throws(Errno) { try flush() } catch { throw .cannotRead(error) }
    var (offset, index) = (0, 0)
    var rest: [UInt8] = []
    while true {
      let more: [UInt8]
      do throws(Errno) { more = try readAll(Self.bufferSize, from: file.number, at: offset) } catch {
        throw .cannotRead(error)
      }
      if more.isEmpty { return }
      offset += more.count
      rest += more
      var begin = 0
      while let end = rest[begin...].firstIndex(of: 0) {
        try body(index, rest[begin..<end])
        (index, begin) = (index + 1, end + 1)
      }
      rest.removeFirst(begin)
    }
  }
}
