/// The type of an image file, found by its first bytes and not by its name.
public enum ImageType: String, Sendable, CaseIterable {
  case jpeg, png, gif, webp, tiff, bmp, tga, heic, avif, jxl, jp2, psd, ico
  // RAW files, by the names of their endings; `raw` is any other.
  case nef, cr2, cr3, arw, dng, orf, rw2, pef, raf, raw

  /// The name for users.
  public var displayName: String {
    switch self {
    case .jpeg: "JPEG"
    case .png: "PNG"
    case .gif: "GIF"
    case .webp: "WebP"
    case .tiff: "TIFF"
    case .bmp: "BMP"
    case .tga: "TGA"
    case .heic: "HEIC"
    case .avif: "AVIF"
    case .jxl: "JPEG XL"
    case .jp2: "JPEG 2000"
    case .psd: "Photoshop"
    case .ico: "icon"
    case .nef, .cr2, .cr3, .arw, .dng, .orf, .rw2, .pef, .raf, .raw: rawValue.uppercased()
    }
  }

  /// The media type, as shared-mime-info of desktops has it.
  package var mediaType: String {
    switch self {
    case .jpeg, .png, .gif, .webp, .tiff, .bmp, .avif, .jxl, .jp2: "image/\(rawValue)"
    case .heic: "image/heif"
    case .tga: "image/x-tga"
    case .psd: "image/vnd.adobe.photoshop"
    case .ico: "image/vnd.microsoft.icon"
    case .nef: "image/x-nikon-nef"
    case .cr2, .cr3: "image/x-canon-\(rawValue)"
    case .arw: "image/x-sony-arw"
    case .dng: "image/x-adobe-dng"
    case .orf: "image/x-olympus-orf"
    case .rw2: "image/x-panasonic-rw2"
    case .pef: "image/x-pentax-pef"
    case .raf: "image/x-fuji-raf"
    case .raw: "image/x-dcraw"
    }
  }

  /// Such as `a PNG picture`.
  var nameWithArticle: String { self == .ico ? "an icon" : "a \(displayName) picture" }

  /// Whether it is a camera's sensor data, of which only the previews in the file can be shown.
  public var isRaw: Bool {
    switch self {
    case .nef, .cr2, .cr3, .arw, .dng, .orf, .rw2, .pef, .raf, .raw: true
    default: false
    }
  }

  /// The most bytes that `sniff` examines.
  public static let sniffLength = 64

  /// The type of a file with these first bytes; nil if it is unknown. Fewer bytes than `sniffLength` are allowed.
  ///
  /// Many kinds of RAW files begin as any TIFF file does, and count as `tiff`: only their directories tell.
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
    Signature(type: .cr2, bytes: [0x49, 0x49, 0x2A, 0x00], also: { $0.dropFirst(8).starts(with: Array("CR".utf8)) }),
    Signature(type: .tiff, bytes: [0x49, 0x49, 0x2A, 0x00]),
    Signature(type: .tiff, bytes: [0x4D, 0x4D, 0x00, 0x2A]),
    // BigTIFF.
    Signature(type: .tiff, bytes: [0x49, 0x49, 0x2B, 0x00, 0x08, 0x00]),
    Signature(type: .tiff, bytes: [0x4D, 0x4D, 0x00, 0x2B, 0x00, 0x08]),
    Signature(type: .orf, bytes: Array("IIRO".utf8)),
    Signature(type: .orf, bytes: Array("IIRS".utf8)),
    Signature(type: .orf, bytes: Array("MMOR".utf8)),
    Signature(type: .rw2, bytes: [0x49, 0x49, 0x55, 0x00]),
    Signature(type: .raf, bytes: Array("FUJIFILMCCD-RAW ".utf8)),
    // Minolta, Sigma and older Canon.
    Signature(type: .raw, bytes: [0x00] + Array("MRM".utf8)),
    Signature(type: .raw, bytes: Array("FOVb".utf8)),
    Signature(type: .raw, bytes: Array("II".utf8), also: { $0.dropFirst(6).starts(with: Array("HEAPCCDR".utf8)) }),
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
    Signature(type: .tga, bytes: [], also: isTGA),
  ]

  /// Whether all fields of a TGA header are possible, which has no signature. Its first bytes are the length of a text, whether
  /// there is a palette, and the kind of pixels.
  @Sendable private static func isTGA(_ head: [UInt8]) -> Bool {
    guard head.count > 18, head[12...13] != [0, 0], head[14...15] != [0, 0], head[17] & 0xC0 == 0 else { return false }
    let (hasPalette, bits) = (head[1], head[16])
    switch head[2] {
    case 1, 9: return hasPalette == 1 && [15, 16, 24, 32].contains(head[7]) && bits == 8
    case 2, 10: return hasPalette == 0 && head[3..<8].allSatisfy { $0 == 0 } && [15, 16, 24, 32].contains(bits)
    case 3, 11: return hasPalette == 0 && head[3..<8].allSatisfy { $0 == 0 } && bits == 8
    default: return false
    }
  }

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
      case "crx ": return .cr3
      default: continue
      }
    }
    // Brands of the container alone. Its reader finds out which codec the picture has.
    return ["mif1", "mif2", "miaf", "msf1"].contains(String(decoding: head[8..<12], as: UTF8.self)) ? .heic : nil
  }
}

extension ThumbnailFormat {
  /// The type of its files.
  package var type: ImageType {
    switch self {
    case .jpeg: .jpeg
    case .webp: .webp
    case .avif: .avif
    case .png: .png
    }
  }
}
