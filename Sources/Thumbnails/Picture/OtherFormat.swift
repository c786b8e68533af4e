/// Formats of files that are no images here, which are recognised to name them in messages.
public enum OtherFormat {
  /// What a file with these first bytes is, such as `a PDF document`; nil if it is unknown.
  ///
  /// - Parameters:
  ///   - head: the first bytes of the file.
  ///   - hasSVGName: whether the file has the name of an SVG picture. Its first bytes may tell only that it is XML.
  public static func name(_ head: some Collection<UInt8>, hasSVGName: Bool) -> String? {
    let head = Array(head)
    if let name = signatures.first(where: { head.dropFirst($0.offset).starts(with: $0.bytes) })?.name { return name }
    let text = String(decoding: head, as: UTF8.self).drop { $0 == "\u{FEFF}" || $0.isWhitespace }
    if text.hasPrefix("<svg") || text.hasPrefix("<!DOCTYPE svg") { return "an SVG picture" }
    guard text.hasPrefix("<?xml") else { return nil }
    return hasSVGName || text.contains("<svg") || text.contains("<!DOCTYPE svg") ? "an SVG picture" : nil
  }

  private static let signatures: [(offset: Int, bytes: [UInt8], name: String)] = [
    (0, Array("%PDF-".utf8), "a PDF document"),
    (0, Array("%!PS".utf8), "a PostScript document"),
    (4, Array("ftypqt  ".utf8), "a QuickTime video"),
    (4, Array("ftyp".utf8), "an MP4 video"),
    (8, Array("AVI LIST".utf8), "an AVI video"),
    (0, [0x1A, 0x45, 0xDF, 0xA3], "a Matroska or WebM video"),
  ]
}
