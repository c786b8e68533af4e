import Foundation

/// Reads a JPEG file's segments through a window: marker segments as they are, and entropy-coded data without its
/// stuffed zero bytes.
///
/// The window contains entropy-coded bytes that are ready to be decoded (`0..<end`), and after them bytes that have
/// been read but not processed (`raw`). Removing the stuffing beforehand lets the decoder load eight bytes at once.
///
/// *Source*: ITU-T T.81, B.1.1.
struct SegmentReader {
  /// The size of the largest MCU in bytes, if it begins inside a byte: 10 blocks of 64 coefficients, each with a code
  /// of 16 bits and 15 additional bits.
  static let longestMCU = 10 * 64 * (16 + 15) / 8 + 1
  private static let readSize = 64 << 10
  private static let vectorSize = MemoryLayout<SIMD16<UInt8>>.size

  /// After `end` there are always at least `longestMCU` + 8 bytes. So decoding past the end reads meaningless bytes but
  /// stays inside the window. It is detected afterwards.
  private(set) var window: [UInt8]
  private(set) var end = 0
  /// Whether all of the entropy-coded data is in the window. If so, the next byte to be read begins a marker.
  private(set) var isAtMarker = false
  /// The bytes in the window that have been read from the file but not processed.
  private var raw = 0..<0
  private var offset: UInt64 = 0
  private let input: DecoderInput

  init(_ input: DecoderInput) {
    self.input = input
    window = [UInt8](repeating: 0, count: Self.longestMCU + Self.vectorSize + Self.readSize + Self.longestMCU + 8)
  }

  // MARK: Marker segments

  mutating func byte() throws(BlockDecoderError) -> Int {
    if raw.isEmpty { try read() }
    defer { raw = raw.lowerBound + 1..<raw.upperBound }
    return Int(window[raw.lowerBound])
  }

  mutating func bytes(_ count: Int) throws(BlockDecoderError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    for index in bytes.indices { bytes[index] = UInt8(try byte()) }
    return bytes
  }

  mutating func word() throws(BlockDecoderError) -> Int { try byte() << 8 | byte() }

  /// Reads a segment's length and returns the number of bytes that follow it.
  mutating func segmentLength() throws(BlockDecoderError) -> Int {
    let length = try word()
    guard length >= 2 else { throw .irregular }
    return length - 2
  }

  /// Skips bytes. Bytes outside the window are not read.
  mutating func skip(_ count: Int) throws(BlockDecoderError) {
    if count <= raw.count {
      raw = raw.lowerBound + count..<raw.upperBound
    } else {
      offset += UInt64(count - raw.count)
      raw = end..<end
    }
  }

  /// The offset in the file of the next byte.
  var position: UInt64 { offset - UInt64(raw.count) }

  /// Reads a marker, which must come next. If the bytes end before it does, another call goes on when there are more.
  mutating func marker() throws(BlockDecoderError) -> JPEGMarker {
    while true {
      if raw.isEmpty { try read() }
      guard window[raw.lowerBound] == JPEGMarker.prefix else { throw .irregular }
      if raw.count == 1 { try readMore() }
      let code = window[raw.lowerBound + 1]
      let isFill = code == JPEGMarker.prefix
      raw = raw.lowerBound + (isFill ? 1 : 2)..<raw.upperBound
      if !isFill { return JPEGMarker(rawValue: code) }
    }
  }

  /// Skips a scan's data up to the next marker that is not a restart marker. If the bytes end before that marker,
  /// another call goes on when there are more.
  mutating func skipEntropyData() throws(BlockDecoderError) {
    while true {
      if raw.isEmpty { try read() }
      let found = firstPrefix(in: raw) ?? raw.upperBound
      raw = found..<raw.upperBound
      guard !raw.isEmpty else { continue }
      if raw.count == 1 { try readMore() }
      let next = window[raw.lowerBound + 1]
      let isFill = next == JPEGMarker.prefix
      guard isFill || next == JPEGMarker.stuffing || JPEGMarker(rawValue: next).isRestart else { return }
      raw = raw.lowerBound + (isFill ? 1 : 2)..<raw.upperBound
    }
  }

  /// Whether the file's last two bytes are an EOI marker. False if the file's size is not known.
  func endsWithEndMarker() -> Bool {
    guard let size = input.size, size >= 2 else { return false }
    var last: [UInt8] = [0, 0]
    let count = last.withUnsafeMutableBytes { input.peek(at: UInt64(size - 2), into: $0) }
    return count == 2 && last == JPEGMarker.eoi.bytes
  }

  // MARK: Entropy-coded data

  /// Begins the data after a scan header or a restart marker.
  mutating func beginEntropyData() throws(BlockDecoderError) { try refill(after: 0) }

  /// Ends the data, of which `consumed` bytes have been decoded. A marker must follow these.
  mutating func endEntropyData(at consumed: Int) throws(BlockDecoderError) {
    try refill(after: consumed)
    guard isAtMarker, end == 0 else { throw .irregular }
    end = 0
    isAtMarker = false
  }

  /// Drops the data before byte `consumed` and reads on until the window contains a whole MCU or the rest of the data.
  mutating func refill(after consumed: Int) throws(BlockDecoderError) {
    guard consumed <= end else { throw .irregular }
    window.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return }
      memmove(base, base + consumed, end - consumed)
    }
    end -= consumed
    while !isAtMarker && end < Self.longestMCU {
      if raw.isEmpty { try read() }
      try unstuff()
    }
  }

  /// Moves raw bytes up to a marker to the data, and leaves out the stuffing.
  private mutating func unstuff() throws(BlockDecoderError) {
    while true {
      moveToData()
      guard !raw.isEmpty else { return }
      if raw.count == 1 {
        guard end < Self.longestMCU else { return }
        try readMore()
      }
      switch window[raw.lowerBound + 1] {
      case JPEGMarker.stuffing: break
      case JPEGMarker.prefix:
        // Any number of fill bytes may precede a marker.
        raw = raw.lowerBound + 1..<raw.upperBound
      default:
        isAtMarker = true
        return
      }
    }
  }

  /// Moves raw bytes to the data and leaves out the stuffing. Stops before a prefix without stuffing, and before the
  /// last byte if it is a prefix.
  private mutating func moveToData() {
    (raw, end) = window.withUnsafeMutableBytes { [raw, end] window in
      guard let window = window.baseAddress else { return (raw, end) }
      var (from, to) = (raw.lowerBound, end)
      let prefixes = SIMD16<UInt8>(repeating: JPEGMarker.prefix)
      while from < raw.upperBound {
        // The bytes before the next prefix.
        var count = 0
        if from + Self.vectorSize <= raw.upperBound {
          let bytes = window.loadUnaligned(fromByteOffset: from, as: SIMD16<UInt8>.self)
          // Overwrites no raw byte, because the data ends at least `vectorSize` bytes before them.
          assert(from - to >= Self.vectorSize)
          window.storeBytes(of: bytes, toByteOffset: to, as: SIMD16<UInt8>.self)
          guard any(bytes .== prefixes) else {
            (from, to) = (from &+ Self.vectorSize, to &+ Self.vectorSize)
            continue
          }
          count = Self.placeOfPrefix(in: window + from)
        } else {
          while from + count < raw.upperBound {
            let byte = window.load(fromByteOffset: from + count, as: UInt8.self)
            guard byte != JPEGMarker.prefix else { break }
            window.storeBytes(of: byte, toByteOffset: to + count, as: UInt8.self)
            count += 1
          }
        }
        (from, to) = (from &+ count, to &+ count)
        guard from + 1 < raw.upperBound,
          window.load(fromByteOffset: from + 1, as: UInt8.self) == JPEGMarker.stuffing
        else { break }
        window.storeBytes(of: JPEGMarker.prefix, toByteOffset: to, as: UInt8.self)
        (from, to) = (from &+ 2, to &+ 1)
      }
      return (from..<raw.upperBound, to)
    }
  }

  /// The place of the first prefix among 16 bytes that contain one.
  @inline(__always)
  private static func placeOfPrefix(in bytes: UnsafeMutableRawPointer) -> Int {
    // The lowest bit set is in the lowest byte that is a prefix. Bytes above it may have wrong bits.
    func prefixes(_ offset: Int) -> UInt64 {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      return (~word &- 0x0101_0101_0101_0101) & word & 0x8080_8080_8080_8080
    }
    let low = prefixes(0)
    return low != 0 ? low.trailingZeroBitCount >> 3 : 8 + prefixes(8).trailingZeroBitCount >> 3
  }

  private func firstPrefix(in range: Range<Int>) -> Int? {
    window.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress,
        let found = memchr(base + range.lowerBound, Int32(JPEGMarker.prefix), range.count)
      else {
        return nil
      }
      return found - UnsafeMutableRawPointer(mutating: base)
    }
  }

  // MARK: Reading

  /// Reads on when no raw byte is left.
  private mutating func read() throws(BlockDecoderError) {
    raw = end..<end
    try readMore()
  }

  /// Reads bytes and appends them to the raw ones, of which there is at most one. `vectorSize` bytes before them are
  /// left free. The window has room, because the data is shorter than `longestMCU`.
  private mutating func readMore() throws(BlockDecoderError) {
    if input.isCancelled { throw .failed(.cancelled) }
    let place = end + Self.vectorSize
    if let last = raw.first { window[place] = window[last] }
    let start = place + raw.count
    let offset = offset
    let count = window.withUnsafeMutableBytes { buffer in
      input.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + Self.readSize]))
    }
    guard count >= 0 else { throw .failed(.unreadable(input.failure?.rawValue ?? EIO)) }
    guard count > 0 else { throw .irregular }
    self.offset += UInt64(count)
    raw = place..<start + count
  }
}
