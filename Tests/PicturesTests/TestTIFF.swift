/// Writes TIFF structures as cameras and programs do, and as none would.
struct TestTIFF: Sendable {
  /// Values of a tag.
  indirect enum Value: Sendable {
    /// Numbers of TIFF's type 1, 3, 4, 6, 7, 8, 9, 13, 16 or 18.
    case numbers(type: Int, [UInt64])
    case text(String)
    /// Bytes that are the value (type UNDEFINED).
    case bytes([UInt8])
    /// The offset of bytes elsewhere in the file, and of a gap before them.
    case data([UInt8])
    /// The offsets of directories.
    case directories([Directory])
    /// What the closure writes once it is known where in the file it will be.
    case written(@Sendable (_ offset: Int) -> [UInt8])
  }

  struct Directory: Sendable {
    var entries: [Entry] = []

    init(_ entries: [(Int, Value)]) { self.entries = entries.map { Entry(tag: $0.0, value: $0.1) } }

    struct Entry: Sendable {
      var tag: Int
      var value: Value
    }

    /// The usual tags of a picture in one strip, which may be missing.
    static func page(
      _ width: Int, _ height: Int, subfile: Int? = nil, photometric: Int? = 2, samples: Int = 3, bits: Int = 8,
      compression: Int = 1, strip: [UInt8]? = nil, _ more: [(Int, Value)] = []
    ) -> Directory {
      var entries: [(Int, Value)] = []
      if let subfile { entries.append((0x00FE, .long(subfile))) }
      entries += [
        (0x0100, .long(width)), (0x0101, .long(height)),
        (0x0102, .numbers(type: 3, [UInt64](repeating: UInt64(bits), count: samples))), (0x0103, .short(compression)),
      ]
      if let photometric { entries.append((0x0106, .short(photometric))) }
      let bytes = strip ?? [1, 2, 3]
      entries += [
        (0x0111, .data(bytes)), (0x0115, .short(samples)), (0x0116, .long(height)), (0x0117, .long(bytes.count)),
      ]
      return Directory(entries + more)
    }

    /// A JPEG by JPEGInterchangeFormat, with further tags.
    static func jpeg(_ jpeg: [UInt8], _ more: [(Int, Value)] = []) -> Directory {
      Directory([(0x0103, .short(6)), (0x0201, .data(jpeg)), (0x0202, .long(jpeg.count))] + more)
    }
  }

  var isBigEndian = false
  var isBig = false
  var magic = 42
  /// What is between header and first directory.
  var prefix: [UInt8] = []
  /// The bytes before each piece of data.
  var gap = 0
  var chain: [Directory]

  init(_ chain: [Directory], isBigEndian: Bool = false, isBig: Bool = false) {
    (self.chain, self.isBigEndian, self.isBig) = (chain, isBigEndian, isBig)
  }

  /// The whole file.
  func file() -> [UInt8] {
    var bytes: [UInt8] = Array((isBigEndian ? "MM" : "II").utf8)
    if isBig {
      bytes += number(43, 2) + number(8, 2) + number(0, 2) + number(0, 8)
    } else {
      bytes += number(magic, 2) + number(0, 4)
    }
    bytes += prefix
    var pointer = isBig ? 8 : 4
    for directory in chain {
      patch(&bytes, at: pointer, write(directory, into: &bytes, next: &pointer))
    }
    return bytes
  }

  /// Writes a directory and all it refers to. Returns its offset, and in `next` where that of the next one belongs.
  private func write(_ directory: Directory, into bytes: inout [UInt8], next: inout Int) -> Int {
    if bytes.count % 2 != 0 { bytes.append(0) }
    let start = bytes.count
    let (countWidth, entrySize, width) = isBig ? (8, 20, 8) : (2, 12, 4)
    bytes += number(directory.entries.count, countWidth)
    bytes += [UInt8](repeating: 0, count: directory.entries.count * entrySize + width)
    next = bytes.count - width
    for (index, entry) in directory.entries.enumerated() {
      let (type, count, value) = self.value(entry.value, into: &bytes)
      let place = start + countWidth + index * entrySize
      let head = number(entry.tag, 2) + number(type, 2) + number(count, width)
      bytes.replaceSubrange(place..<place + head.count, with: head)
      if value.count <= width {
        bytes.replaceSubrange(place + head.count..<place + head.count + value.count, with: value)
      } else {
        patch(&bytes, at: place + head.count, bytes.count)
        bytes += value
      }
    }
    return start
  }

  /// The type, count and bytes of a value; what it refers to is written.
  private func value(_ value: Value, into bytes: inout [UInt8]) -> (Int, Int, [UInt8]) {
    switch value {
    case .numbers(let type, let numbers):
      let width = [1: 1, 3: 2, 4: 4, 6: 1, 7: 1, 8: 2, 9: 4, 13: 4, 16: 8, 18: 8][type] ?? 1
      return (type, numbers.count, numbers.flatMap { number($0, width) })
    case .text(let text): return (2, text.utf8.count + 1, Array(text.utf8) + [0])
    case .bytes(let value): return (7, value.count, value)
    case .data(let data):
      bytes += [UInt8](repeating: 0, count: gap)
      bytes += data
      return (4, 1, number(bytes.count - data.count, 4))
    case .directories(let directories):
      var ignored = 0
      let offsets = directories.map { write($0, into: &bytes, next: &ignored) }
      return (4, offsets.count, offsets.flatMap { number($0, 4) })
    case .written(let write):
      let value = write(bytes.count)
      return (7, value.count, value)
    }
  }

  private func patch(_ bytes: inout [UInt8], at place: Int, _ value: Int) {
    bytes.replaceSubrange(place..<place + (isBig ? 8 : 4), with: number(value, isBig ? 8 : 4))
  }

  func number(_ value: some BinaryInteger, _ width: Int) -> [UInt8] {
    let bytes = (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    return isBigEndian ? bytes.reversed() : bytes
  }
}

extension TestTIFF.Value {
  static func short(_ value: Int) -> Self { .numbers(type: 3, [UInt64(value)]) }
  static func long(_ value: Int) -> Self { .numbers(type: 4, [UInt64(value)]) }
}
