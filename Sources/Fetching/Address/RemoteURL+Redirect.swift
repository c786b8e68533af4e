extension RemoteURL {
  /// The URL to which a redirect leads from this one. If it is a path, that is on the same server, and is left out.
  ///
  /// - Returns: nil if it is no URL that is fetched, or if libcurl could read it differently: it also takes `http:/host`,
  ///   for example.
  func redirected(to location: String) -> RemoteURL? {
    if location.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) { return nil }
    // libcurl takes spaces and characters outside ASCII, and encodes them.
    let bytes = location.utf8.flatMap { byte in
      (0x21...0x7e).contains(byte) ? [byte] : Array("%\(String(byte, radix: 16))".utf8)
    }
    if bytes.starts(with: "//".utf8) { return try? RemoteURL(parsing: "\(scheme.rawValue):".utf8 + bytes) }
    let first = bytes.first { ":/?#".utf8.contains($0) }
    return first == UInt8(ascii: ":") ? try? RemoteURL(parsing: bytes) : self
  }
}
