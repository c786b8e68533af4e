import Thumbnails

/// What is before the first scan of a JPEG in a file: its size, and where its metadata is. Segments are passed over by their
/// lengths, so that few bytes are read.
///
/// Source: ITU-T T.81, B.1.1 and B.2.2; Exif 2.32, 4.7.2 (APP1); CIPA DC-007, 5.1 (APP2).
struct JPEGHead {
  let pixels: PixelSize
  /// The sampling factors of each component.
  let sampling: [(h: Int, v: Int)]
  let isProgressive: Bool
  /// The TIFF structure of its EXIF segment.
  var exif: FileExtent?
  /// The orientation in EXIF's first directory; nil if it says nothing of it.
  var orientation: Orientation?
  /// The TIFF structure of the index of a multi-picture file, to the end of its segment.
  var multiPictureIndex: FileExtent?

  /// The most segments before the frame header. A profile or XMP may fill dozens.
  private static let mostSegments = 96

  /// Nil if there is no JPEG, or one that our decoder does not read: it reads sequential and progressive DCT with Huffman
  /// or arithmetic coding and samples of 8 bits, but not the lossless process that cameras use for sensor data.
  static func read(_ file: FileBlocks, _ extent: FileExtent) throws(ThumbnailError) -> JPEGHead? {
    let end = extent.offset + extent.size
    var (exif, index): (FileExtent?, FileExtent?)
    guard try file.bytes(at: extent.offset, count: 2, ahead: 4 << 10)?.elementsEqual([0xFF, 0xD8]) == true else {
      return nil
    }
    var place = extent.offset + 2
    for _ in 0..<mostSegments {
      // The longest identifier that is compared, and the fields of a frame header, lie in these bytes.
      guard place < end, end - place >= 4,
        let head = try file.bytes(at: place, count: Int(min(24, end - place)), ahead: 1 << 10).map(Array.init),
        head[0] == 0xFF
      else { return nil }
      // Fill bytes may precede a marker.
      if head[1] == 0xFF {
        place += 1
        continue
      }
      let length = UInt64(head[2]) << 8 | UInt64(head[3])
      guard length >= 2 else { return nil }
      let payload = FileExtent(offset: place + 4, size: min(length - 2, end - place - 4))
      switch head[1] {
      case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(head[1]):
        guard [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(head[1]) else { return nil }
        guard var found = frame(head) else { return nil }
        (found.exif, found.multiPictureIndex) = (exif, index)
        if let exif { found.orientation = try orientation(file, exif) }
        return found
      case 0xE1 where exif == nil && head[4...].starts(with: Array("Exif\0\0".utf8)):
        exif = after(6, payload)
      case 0xE2 where index == nil && head[4...].starts(with: Array("MPF\0".utf8)):
        index = after(4, payload)
      // A scan, the end, or what has no place before a frame header.
      case 0x00, 0x01, 0xD0...0xDA: return nil
      default: break
      }
      place += 2 + length
    }
    return nil
  }

  /// The frame header in the bytes from its marker on.
  private static func frame(_ head: [UInt8]) -> JPEGHead? {
    guard head.count >= 10, head[4] == 8 else { return nil }
    let pixels = PixelSize(width: Int(head[7]) << 8 | Int(head[8]), height: Int(head[5]) << 8 | Int(head[6]))
    let count = Int(head[9])
    guard pixels.width > 0, pixels.height > 0, [1, 3, 4].contains(count), head.count >= 10 + 3 * count else {
      return nil
    }
    let sampling = (0..<count).map { index in
      let factors = Int(head[11 + 3 * index])
      return (h: factors >> 4, v: factors & 15)
    }
    guard sampling.allSatisfy({ (1...4).contains($0.h) && (1...4).contains($0.v) }) else { return nil }
    return JPEGHead(pixels: pixels, sampling: sampling, isProgressive: head[1] == 0xC2 || head[1] == 0xCA)
  }

  private static func after(_ count: UInt64, _ payload: FileExtent) -> FileExtent? {
    payload.size > count ? FileExtent(offset: payload.offset + count, size: payload.size - count) : nil
  }

  private static func orientation(_ file: FileBlocks, _ exif: FileExtent) throws(ThumbnailError) -> Orientation? {
    guard let structure = try TIFFStructure(file: file, at: exif.offset),
      let directory = try structure.directory(at: structure.firstDirectory)
    else { return nil }
    return try directory.orientation
  }

  /// The header of this JPEG as a picture of its own. Our JPEG decoder reads it, so it takes no memory of another decoder.
  ///
  /// - parameter orientation: how it must be turned.
  func header(type: ImageType, _ extent: FileExtent, orientation: Orientation) -> PictureHeader {
    let (luma, chroma) = (sampling[0], sampling.count == 3 ? sampling[1] : (h: 1, v: 1))
    let components: PictureHeader.Components =
      switch sampling.count {
      case 1: .grey(.full)
      case 3: .ycc(.bt601, .full, across: max(1, luma.h / chroma.h), down: max(1, luma.v / chroma.v))
      default: .cmyk
      }
    var header = PictureHeader(
      type: type, pixels: pixels, components: components, coding: .jpeg(extent), workingBytes: 0)
    header.orientation = orientation
    header.exif = exif
    return header
  }
}

extension TIFFDirectory {
  /// The orientation; nil if there is none that has a meaning.
  var orientation: Orientation? {
    get throws(ThumbnailError) {
      guard let value = try integer(.orientation), let value = Int(exactly: value) else { return nil }
      return Orientation(rawValue: value)
    }
  }
}
