import Fetching
import Files

/// Identifies the source of a thumbnail in the thumbnail's mark, so that no source takes the thumbnail of another for its
/// own. Only in buckets do thumbnails of files have none, unless two files may want one place.
///
/// A key is a hash of the path that leads from the output folder to the source. So it stays the same if another source
/// joins the job, and if both folders are copied or mounted elsewhere together.
package struct SourceKey: Sendable, Hashable {
  private let path: Fingerprint

  /// The number of its digits in a mark.
  package static let length = Fingerprint.length

  /// - Parameters:
  ///   - source: the path of the source.
  ///   - output: the absolute path of the output folder.
  package init(of source: Path, from output: Path) {
    path = Fingerprint(of: source.leading(from: output).bytes)
  }

  /// The key of a source from the network.
  package init(of address: RemoteAddress) { path = Fingerprint(of: address.identity) }

  /// Reads a key from its digits; nil if they are not those of a key.
  package init?(digits: some Collection<UInt8>) {
    guard let path = Fingerprint(digits: digits) else { return nil }
    self.path = path
  }

  package var digits: [UInt8] { path.digits }

  /// The key as a number, as the ledger stores it.
  package var number: UInt64 { path.hash }
}
