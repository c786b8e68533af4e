import BoundedQueue
import Files
import Foundation
import Places
import SystemPackage

/// The entries of a manifest, a contact sheet or a gallery, in the order of the walk. Most are stored long before the
/// list is written, because sources end in another order.
///
/// *Concurrency*: as for ``OrderedSpool``.
struct EntryList: Sendable {
  private let spool: OrderedSpool
  /// The folder in which the entries are stored.
  private let folder: Path

  /// - Parameter output: an output folder, in which the entries are stored.
  /// - Throws: ``OutputError``.
  init(in output: ThumbnailOutput) throws(OutputError) {
    folder = output.path
    do throws(Errno) {
      spool = try OrderedSpool { () throws(Errno) in
        if let folder = output.folder { return try folder.run.createUnnamedFile() }
        return Descriptor(try createUnnamedFile(in: AT_FDCWD))
      }
    } catch {
      throw OutputError(writing: folder, error)
    }
  }

  /// - Parameter number: of the source in the walk.
  func store(_ entry: [UInt8], at number: Int) { spool.store(entry, at: number) }

  /// Stores an entry as JSON.
  func store(_ entry: some Encodable, at number: Int) { store(Self.json(entry), at: number) }

  /// Passes every entry to `body`, in the order of the walk.
  ///
  /// - Throws: the error of `body`, or ``OutputError`` if an entry cannot be read or could not be stored.
  func visit(_ body: ([UInt8]) throws -> Void) throws {
    do { try spool.visit(body) } catch let error as Errno { throw OutputError(writing: folder, error) }
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
