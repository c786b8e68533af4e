import Files
import Foundation
import SystemPackage

/// The entries of a manifest or a gallery, as JSON, in the order of the walk. Most are stored long before the list is
/// written, because sources end in another order.
///
/// *Concurrency*: as of ``OrderedSpool``.
struct EntryList: Sendable {
  private let spool: OrderedSpool

  /// - Parameter folder: an open folder, on whose file system the entries are stored.
  init(in folder: CInt) throws(Errno) { spool = try OrderedSpool(in: folder) }

  /// - Parameter number: of the source in the walk.
  func store(_ entry: some Encodable, at number: Int) { spool.store(Self.json(entry), at: number) }

  /// Appends the entries to a file, each on a line of its own with commas between.
  ///
  /// - Returns: how many there are.
  /// - Throws: also the error of an entry that could not be stored.
  @discardableResult
  func append(to file: JoinFile) throws -> Int {
    var count = 0
    try spool.visit { text in
      try file.append(Array((count == 0 ? "\n" : ",\n").utf8) + text)
      count += 1
    }
    return count
  }

  /// The JSON of a value, of which equal values have the same.
  static func json(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("\(type(of: value)) has no JSON") }
    return Array(data)
  }
}
