/// The type of an image file, found by its first bytes and not by its name.
public enum ImageType: String, Sendable, CaseIterable {
  case jpeg, png, gif, webp, tiff, bmp, heic, avif, jxl, jp2, psd, ico

  /// The name for users.
  public var displayName: String {
    switch self {
    case .jpeg: "JPEG"
    case .png: "PNG"
    case .gif: "GIF"
    case .webp: "WebP"
    case .tiff: "TIFF"
    case .bmp: "BMP"
    case .heic: "HEIC"
    case .avif: "AVIF"
    case .jxl: "JPEG XL"
    case .jp2: "JPEG 2000"
    case .psd: "Photoshop"
    case .ico: "icon"
    }
  }

  /// The most bytes that `sniff` examines.
  public static let sniffLength = 64

  /// The type of a file with these first bytes; nil if it is unknown. Fewer bytes than `sniffLength` are allowed.
  public static func sniff(_ bytes: some Collection<UInt8>) -> ImageType? {
    let head = Array(bytes.prefix(sniffLength))
    if let brand = fileTypeBrand(head) { return brand }
    return signatures.first { signature in head.starts(with: signature.bytes) && signature.also(head) }?.type
  }

  private struct Signature {
    let type: ImageType
    let bytes: [UInt8]
    var also: @Sendable ([UInt8]) -> Bool = { _ in true }
  }

  private static let signatures: [Signature] = [
    Signature(type: .jpeg, bytes: JPEGMarker.soi.bytes + [JPEGMarker.prefix]),
    Signature(type: .png, bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
    Signature(type: .gif, bytes: Array("GIF87a".utf8)),
    Signature(type: .gif, bytes: Array("GIF89a".utf8)),
    Signature(type: .webp, bytes: Array("RIFF".utf8), also: { $0.dropFirst(8).starts(with: Array("WEBP".utf8)) }),
    Signature(type: .tiff, bytes: [0x49, 0x49, 0x2A, 0x00]),
    Signature(type: .tiff, bytes: [0x4D, 0x4D, 0x00, 0x2A]),
    // Two letters are ambiguous, so the size of a known header must also be present.
    Signature(
      type: .bmp, bytes: Array("BM".utf8),
      also: { $0.count > 17 && [12, 40, 52, 56, 64, 108, 124].contains($0[14]) && $0[15] == 0 }),
    Signature(type: .jxl, bytes: [0xFF, 0x0A]),
    Signature(type: .jxl, bytes: [0, 0, 0, 0x0C] + Array("JXL ".utf8)),
    Signature(type: .jp2, bytes: [0, 0, 0, 0x0C] + Array("jP  ".utf8)),
    Signature(type: .jp2, bytes: [0xFF, 0x4F, 0xFF, 0x51]),
    Signature(type: .psd, bytes: Array("8BPS".utf8)),
    Signature(type: .ico, bytes: [0, 0, 1, 0], also: { $0.count > 4 && $0[4] > 0 }),
  ]

  /// The image type of an ISO base media file: its `ftyp` box names a major brand and compatible ones (ISO/IEC
  /// 23008-12).
  private static func fileTypeBrand(_ head: [UInt8]) -> ImageType? {
    guard head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) else { return nil }
    let size = head[0..<4].reduce(0) { $0 << 8 | Int($1) }
    let end = min(head.count, max(size, 12))
    for start in stride(from: 8, through: end - 4, by: 4) where start != 12 {
      switch String(decoding: head[start..<start + 4], as: UTF8.self) {
      case "avif", "avis": return .avif
      case "heic", "heix", "hevc", "hevx", "heim", "heis": return .heic
      default: continue
      }
    }
    return nil
  }
}
