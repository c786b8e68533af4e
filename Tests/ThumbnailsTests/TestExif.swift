/// An EXIF block that is composed here: an orientation, text tags and a preview.
struct TestExif {
  var orientation = 1
  /// The type of the orientation: 3 for SHORT, 4 for LONG, 9 for SLONG.
  var orientationType = 3
  var artist: String?
  var copyright: String?
  var software: String?
  /// Bytes of an embedded preview, in IFD 1.
  var preview: [UInt8] = []
  var isBigEndian = true

  private enum Tag { static let orientation = 0x0112, software = 0x0131, artist = 0x013B, copyright = 0x8298 }

  /// The TIFF structure.
  var block: [UInt8] {
    var texts: [(Int, [UInt8])] = []
    for (tag, text) in [(Tag.software, software), (Tag.artist, artist), (Tag.copyright, copyright)] {
      if let text { texts.append((tag, Array(text.utf8) + [0])) }
    }
    let count = 1 + texts.count
    var dataOffset = 8 + 2 + count * 12 + 4
    var data: [UInt8] = []
    var entries = number(Tag.orientation, 2) + number(orientationType, 2) + number(1, 4)
    entries += orientationType == 3 ? number(orientation, 2) + [0, 0] : number(orientation, 4)
    for (tag, bytes) in texts {
      entries += number(tag, 2) + number(2, 2) + number(bytes.count, 4)
      if bytes.count <= 4 {
        entries += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
      } else {
        entries += number(dataOffset, 4)
        data += bytes
        dataOffset += bytes.count
      }
    }
    var block: [UInt8] = Array((isBigEndian ? "MM" : "II").utf8) + number(42, 2) + number(8, 4)
    block += number(count, 2) + entries + number(preview.isEmpty ? 0 : dataOffset, 4) + data
    guard !preview.isEmpty else { return block }
    let start = dataOffset + 2 + 2 * 12 + 4
    block += number(2, 2)
    block += number(0x0201, 2) + number(4, 2) + number(1, 4) + number(start, 4)
    block += number(0x0202, 2) + number(4, 2) + number(1, 4) + number(preview.count, 4)
    return block + number(0, 4) + preview
  }

  /// The whole APP1 segment.
  var segment: [UInt8] { TestJPEG.segment(.app1, Array("Exif\0\0".utf8) + block) }

  private func number(_ value: Int, _ width: Int) -> [UInt8] {
    let bytes = (0..<width).map { UInt8(value >> (8 * $0) & 255) }
    return isBigEndian ? bytes.reversed() : bytes
  }
}
