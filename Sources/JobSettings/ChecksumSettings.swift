import Files
import Sourcing

/// What a job computes in place of thumbnails: the SHA-256 digest of each source, which may be any file.
package struct ChecksumSettings: KindSettings {
  package let words = ResultWords(result: "checksum", source: "file", areFiles: false)
  /// The file for the list of all checksums; nil if the receiver of the job's events makes something of each. A job that makes
  /// a share of the sources adds its share to the name, as ``file(for:)`` says.
  package var file: Path?

  package init(file: Path? = nil) { self.file = file }

  /// The file of a share, such as `SHA256SUMS.3-of-64`, so that no share replaces the list of another; nil if there is no list.
  ///
  /// - Parameter shard: nil for all sources.
  package func file(for shard: Shard?) -> Path? {
    guard let file, let shard else { return file }
    return Path(bytes: file.bytes + Array(".\(shard.part)".utf8))
  }

  package func places(in job: JobSettings) -> [Path] { file(for: job.shard).map { [$0] } ?? [] }

  package func validate() throws(TextError) {
    try BuildTrait.ledger.require(if: true)
    guard let file else { return }
    if file.isEmpty { throw TextError(in: "into", "the path is empty") }
    if file.isURL { throw TextError(in: "into", "\(file.printable) is a URL; name a file") }
    if file.lastName.isEmpty || [".", ".."].contains(file.lastName) {
      throw TextError(in: "into", "\(file.printable) is a folder; name a file")
    }
  }
}
