import Files

extension RemoteURL {
  /// The path that the thumbnails mirror, such as `example.org/dir/photo.jpg`.
  ///
  /// It begins with the host, and its port if that is unusual. Names that a file system could misread stay encoded: those
  /// with a slash or a control character, `.` and `..`. A name that is too long is cut and gets a hash. A query becomes a
  /// hash before the extension, so that two queries have two places.
  package var mirrored: Path {
    var names = [Array(port.map { "\(host)_\($0)" } ?? host)]
    names[0] = names[0].filter { $0 != "[" && $0 != "]" }.map { $0 == ":" ? "-" : $0 }
    var places = [MirroredName.legal(Array(String(names[0]).utf8))]
    // Empty names are left out, so they count in the hash of the last one.
    let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    let isRegular = segments.dropLast().allSatisfy { !$0.isEmpty }
    for segment in segments.dropLast() where !segment.isEmpty {
      places.append(MirroredName.legal(Self.decoded(Array(segment))))
    }
    let last = segments.last.map { Self.decoded(Array($0)) } ?? []
    var told = queryOfContents.map { "?\($0)" } ?? ""
    if !isRegular { told = path + told }
    places.append(MirroredName.legal(last.isEmpty ? Array("index".utf8) : last, told: told))
    return Path(names: places)
  }

  /// The bytes without percent encoding, where that gives a name that a file may have; otherwise as they are.
  private static func decoded(_ name: [UInt8]) -> [UInt8] {
    let kept = [0x7f, UInt8(ascii: "/"), UInt8(ascii: "%")]
    let bytes = PercentEncoding.decoded(name) { $0 >= 0x20 && !kept.contains($0) }
    if bytes == Array(".".utf8) || bytes == Array("..".utf8) { return bytes.flatMap { _ in Array("%2E".utf8) } }
    return bytes
  }
}
