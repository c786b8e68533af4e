import Files

/// Names for the places of thumbnails whose sources are no files.
enum MirroredName {
  /// The most bytes of a name; file systems allow 255, and a thumbnail's name may be longer than that of its source.
  private static let longestName = 200

  /// A name that file systems allow.
  ///
  /// - Parameter told: what else distinguishes the source from others; empty if nothing does.
  static func legal(_ name: [UInt8], told: String = "") -> Path {
    let isTooLong = name.count > longestName
    if !isTooLong && told.isEmpty { return Path(bytes: name) ?? Path() }
    let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 && name.count - $0 <= 10 ? $0 : nil } ?? name.count
    let hash = Fingerprint(of: (isTooLong ? name : []) + told.utf8).foldedDigits
    let stem = name[..<dot].prefix(longestName - 20)
    return Path(bytes: stem + [UInt8(ascii: ".")] + hash + name[dot...]) ?? Path()
  }
}
