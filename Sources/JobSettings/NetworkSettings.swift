import Files

/// How sources are fetched from the network.
package struct NetworkSettings: Sendable, Equatable {
  /// The valid numbers of connections to one host.
  package static let perHostRange = 1...64

  /// The highest limit of bytes that can be set.
  package static let mostBytes = 64 << 30

  /// The most connections to one host.
  package var perHost = 4
  /// Whether sources may come from addresses that are not public, such as those of the machine and of its local network.
  package var allowsPrivate = false
  /// How much of each source is fetched.
  package var extent = FetchExtent.exact
  /// The most bytes of one source.
  package var largest = 512 << 20

  /// The most connections in all, which is also how many sources are fetched at once.
  package var connections: Int { max(16, perHost) }
  /// The most bytes on disk that are fetched and not yet made into thumbnails: two sources of the largest size.
  package var spoolBytes: Int { 2 * largest }

  package init() {}

  /// Reads the most bytes of one source, from a text such as `64M` or `2G`.
  ///
  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError`` unless the size is from 1M to 64G.
  package static func parseLargest(_ text: String, for subject: String) throws(TextError) -> Int {
    guard let size = try? MemorySize(parsing: text, for: subject), case .bytes(let bytes) = size, bytes <= mostBytes
    else {
      throw TextError(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is not a size; write 64M or 2G (from 1M to 64G)")
    }
    return bytes
  }
}

/// How much of a source is fetched.
package enum FetchExtent: String, Sendable, CaseIterable {
  /// As much as gives the same thumbnails as the whole source.
  case exact
  /// Less: the last bit of a progressive JPEG's DC coefficients is left out, which hardly shows.
  case sparing
  /// Everything.
  case whole
}
