import BoundedQueue
import Files

/// Writes the manifest of a job, once all its sources are done.
final class ManifestOperation: JoinOperation, @unchecked Sendable {  // constant
  private let entries: EntryList

  init(_ path: Path, _ entries: EntryList, isDurable: Bool) {
    self.entries = entries
    super.init(.manifest, path, isDurable: isDurable)
  }

  override func makeJoin() throws -> (count: Int, isChanged: Bool) {
    let file = try JoinFile(path, kind: .manifest, isDurable: isDurable)
    try file.append(join.signature + #""sources":["#.utf8)
    let count = try entries.append(to: file, in: self)
    try file.append(Array("\n]}\n".utf8))
    return (count, try file.publish())
  }
}
