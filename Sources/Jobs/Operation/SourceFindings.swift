import Marks
import Pictures
import Places
import Sourcing

/// What an operation has found out about its source.
struct SourceFindings: Sendable {
  /// The size and the time of the source; nil before it was opened.
  var file: SourceFile.Version?
  /// A hash of all bytes of the source; nil if none was asked for.
  var hash: UInt64?
  /// The result, if it is a line of text.
  var line: LineResult?
  var thumbnails: [MadeThumbnail] = []
  var warnings: [String] = []
  /// Why the thumbnails are worse than they were asked for; nil if they are not.
  var shortfall: String?
  /// What the results tell of the source; nil if nobody asked, or before the first thumbnail.
  var description: SourceDescription?
  /// What the camera has noted; empty if nobody asked, or the source is on the network.
  var facts = PhotoFacts()
  /// The SHA-256 digest of all its bytes; nil if it was not computed.
  var digest: SHA256Digest?
}
