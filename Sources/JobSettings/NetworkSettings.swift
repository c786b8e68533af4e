import Files

/// How sources are fetched from the network.
package struct NetworkSettings: Sendable, Equatable, DefaultSettings {
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

  package static let settings: [Setting<NetworkSettings>] = [
    Setting("per-host", \.perHost, .number(in: 1...64), value: "n", "The most connections to one host."),
    Setting(
      "allow-private", \.allowsPrivate, .flag,
      "Also fetch from addresses that are not public, such as this machine's and its local network's."),
    Setting(
      "fetch", \.extent, .word, value: "extent",
      "How much of a source to fetch: exact (as much as gives the thumbnails of the whole), sparing (without the last bit of "
        + "progressive JPEGs, which hardly shows), whole.", onlyForThumbnails: true),
    Setting(
      "limit-bytes", \.largest,
      .bytes, value: "size", "The most bytes of a source: 64M, 2G."),
  ]
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

extension Notation where Value == Int {
  /// The size of a file.
  package static var bytes: Self {
    .text(
      { text, subject throws(TextError) in
        if case .bytes(let bytes)? = try? MemorySize(parsing: text, for: subject), bytes <= NetworkSettings.mostBytes {
          return bytes
        }
        throw TextError(
          "\(subject): “\(printableText(of: Array(text.utf8)))” is not a size; write 64M or 2G (from 1M to 64G)")
      }, text: MemorySize.text)
  }
}
