import BoundedQueue
import Files
import Foundation
import Ledger
import Places
import Sourcing

/// The entries of a manifest, a contact sheet or a gallery, in the order of the walk. Most are stored long before the
/// list is written, because sources end in another order. Those of a watch come and go.
///
/// *Concurrency*: as for ``OrderedSpool`` and `EntryTable`.
struct EntryList: Sendable {
  private enum Store: Sendable {
    /// By the numbers of the sources in the walk.
    case numbered(OrderedSpool)
    /// By the paths of the sources, because a watch has no order.
    case named(EntryTable)
  }

  private let store: Store
  /// The folder in which the entries are stored.
  private let folder: Path

  /// - Parameters:
  ///   - output: an output folder, in which the entries are stored.
  ///   - isFollowed: whether entries may be replaced and removed, as in a watch.
  /// - Throws: ``OutputError``.
  init(in output: ThumbnailOutput, isFollowed: Bool) throws(OutputError) {
    folder = output.path
    store = isFollowed ? .named(try Self.table(in: output)) : .numbered(try Self.spool(in: output))
  }

  private static func table(in output: ThumbnailOutput) throws(OutputError) -> EntryTable {
    let name = Path("entries-\(getpid())")
    let file = output.localPath.appending(SourceWalker.workingFolderName).appending(name)
    do throws(LedgerError) { return try EntryTable(file) } catch {
      throw OutputError(writing: file, error.kind == .diskFull ? .noSpace : .ioError)
    }
  }

  private static func spool(in output: ThumbnailOutput) throws(OutputError) -> OrderedSpool {
    do throws(Errno) {
      return try OrderedSpool { () throws(Errno) in
        if let folder = output.folder { return try folder.run.createUnnamedFile() }
        return Descriptor(try createUnnamedFile(in: AT_FDCWD))
      }
    } catch {
      throw OutputError(writing: output.path, error)
    }
  }

  /// Stores the entry of a source. In a watch, it replaces an earlier one.
  func store(_ entry: [UInt8], of source: Source) {
    switch store {
    case .numbered(let spool): spool.store(entry, at: source.number)
    case .named(let table): table.store(entry, at: Self.key(of: source))
    }
  }

  /// Stores an entry as JSON.
  func store(_ entry: some Encodable, of source: Source) { store(Self.json(entry), of: source) }

  /// Removes the entry of a source, which only a watch does.
  ///
  /// - Parameter below: whether those of all sources below its path go, too.
  func remove(_ source: Source, andBelow below: Bool) {
    guard case .named(let table) = store else { return }
    if below { table.remove(beginningWith: Self.key(of: source)) } else { table.remove(Self.key(of: source)) }
  }

  /// The order of the walk: by arguments, and then by paths.
  private static func key(of source: Source) -> [UInt8] {
    let argument = UInt32(clamping: source.argument)
    return withUnsafeBytes(of: argument.bigEndian) { Array($0) } + NaturalOrder.key(of: source.relativePath)
  }

  /// Passes every entry to `body`, in the order of the walk.
  ///
  /// - Throws: the error of `body`, or ``OutputError`` if an entry cannot be read or could not be stored.
  func visit(_ body: ([UInt8]) throws -> Void) throws {
    do {
      switch store {
      case .numbered(let spool): try spool.visit(body)
      case .named(let table): try table.visit(body)
      }
    } catch let error as Errno {
      throw OutputError(writing: folder, error)
    }
  }

  /// Appends the entries, which are JSON, to a file, each on a line of its own with commas between.
  ///
  /// - Parameter operation: ends the loop if it is cancelled.
  /// - Returns: how many there are.
  /// - Throws: also the error of an entry that could not be stored.
  @discardableResult
  func append(to file: JoinFile, in operation: BoundedOperation) throws -> Int {
    var count = 0
    try visit { text in
      if count % 256 == 0 { try operation.checkCancelled() }
      try file.append(Array((count == 0 ? "\n" : ",\n").utf8) + text)
      count += 1
    }
    return count
  }

  /// The JSON of a value. Equal values have equal JSON.
  static func json(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("\(type(of: value)) has no JSON") }
    return Array(data)
  }
}
