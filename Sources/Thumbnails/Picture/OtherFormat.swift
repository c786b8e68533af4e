/// Formats of files that are no images here, which are recognised to name them in messages.
public enum OtherFormat: String, Sendable, CaseIterable {
  case svg, pdf, postScript, quickTime, mp4, avi, matroska

  /// Such as `a PDF document`.
  public var name: String {
    switch self {
    case .svg: "an SVG picture"
    case .pdf: "a PDF document"
    case .postScript: "a PostScript document"
    case .quickTime: "a QuickTime video"
    case .mp4: "an MP4 video"
    case .avi: "an AVI video"
    case .matroska: "a Matroska or WebM video"
    }
  }

  /// Such as `PDF`.
  public var displayName: String { String(name.split(separator: " ")[1]) }

  /// Whether people have such files among their pictures, and may miss their thumbnails.
  public var isDrawing: Bool { self == .svg || self == .pdf }

  /// The format of a file with these first bytes; nil if it is unknown.
  ///
  /// - Parameters:
  ///   - head: the first bytes of the file.
  ///   - hasSVGName: whether the file has the name of an SVG picture. Its first bytes may tell only that it is XML.
  public static func sniff(_ head: some Collection<UInt8>, hasSVGName: Bool) -> OtherFormat? {
    let head = Array(head)
    if let found = signatures.first(where: { head.dropFirst($0.offset).starts(with: $0.bytes) }) { return found.format }
    let text = String(decoding: head, as: UTF8.self).drop { $0 == "\u{FEFF}" || $0.isWhitespace }
    if text.hasPrefix("<svg") || text.hasPrefix("<!DOCTYPE svg") { return .svg }
    guard text.hasPrefix("<?xml") else { return nil }
    return hasSVGName || text.contains("<svg") || text.contains("<!DOCTYPE svg") ? .svg : nil
  }

  private static let signatures: [(offset: Int, bytes: [UInt8], format: OtherFormat)] = [
    (0, Array("%PDF-".utf8), .pdf),
    (0, Array("%!PS".utf8), .postScript),
    (4, Array("ftypqt  ".utf8), .quickTime),
    (4, Array("ftyp".utf8), .mp4),
    (8, Array("AVI LIST".utf8), .avi),
    (0, [0x1A, 0x45, 0xDF, 0xA3], .matroska),
  ]
}
