import Foundation

/// A JPEG file's bytes through a window: marker segments as they are, entropy-coded data without its stuffed zeros.
///
/// The window holds, one behind the other, entropy-coded bytes that are ready to be decoded (`0..<end` of `bytes`) and
/// what has been read and not been looked at. Taking the stuffing out beforehand, a run at a time, is what lets the
/// decoder load eight bytes at once (ITU-T T.81, B.1.1.5).
struct SegmentReader {
  /// No MCU takes more bytes, and begins within the first of them: 10 blocks of 64 coefficients, each a code of 16 bits and
  /// 15 more.
  static let longestMCU = 10 * 64 * (16 + 15) / 8 + 1
  private static let readSize = 64 << 10

  /// Behind `end` there are always `longestMCU` bytes and eight more, of no meaning: what is decoded past the end is
  /// found out afterwards, and never reaches outside.
  private(set) var window: [UInt8]
  private(set) var end = 0
  /// The marker that ends the entropy-coded data, once all of that is in the window. It is still to be read.
  private(set) var isAtMarker = false
  /// What has been read from the file and not looked at, in `bytes`.
  private var raw = 0..<0
  private var offset: UInt64 = 0
  private let input: DecoderInput

  init(_ input: DecoderInput) {
    self.input = input
    window = [UInt8](repeating: 0, count: Self.longestMCU + Self.readSize + Self.longestMCU + 8)
  }

  // MARK: Marker segments

  mutating func byte() throws(BlockDecoderError) -> Int {
    if raw.isEmpty { try read() }
    defer { raw = raw.lowerBound + 1..<raw.upperBound }
    return Int(window[raw.lowerBound])
  }

  mutating func word() throws(BlockDecoderError) -> Int { try byte() << 8 | byte() }

  /// The bytes left in a segment, behind its length.
  mutating func segmentLength() throws(BlockDecoderError) -> Int {
    let length = try word()
    guard length >= 2 else { throw .irregular }
    return length - 2
  }

  /// Passes over bytes, those outside the window unread.
  mutating func skip(_ count: Int) throws(BlockDecoderError) {
    if count <= raw.count {
      raw = raw.lowerBound + count..<raw.upperBound
    } else {
      offset += UInt64(count - raw.count)
      raw = end..<end
    }
  }

  /// Reads a marker, which must be the next thing, and returns its second byte.
  mutating func marker() throws(BlockDecoderError) -> JPEGMarker {
    let prefix = Int(JPEGMarker.prefix)
    guard try byte() == prefix else { throw .irregular }
    var code = prefix
    while code == prefix { code = try byte() }
    return JPEGMarker(rawValue: UInt8(code))
  }

  /// Passes over a scan's data up to the marker behind it.
  mutating func skipEntropyData() throws(BlockDecoderError) {
    while true {
      if raw.isEmpty { try read() }
      let found = firstPrefix(in: raw) ?? raw.upperBound
      raw = found..<raw.upperBound
      guard !raw.isEmpty else { continue }
      if raw.count == 1 { try readMore() }
      let next = window[raw.lowerBound + 1]
      // A stuffed zero, a restart marker, or fill before a marker.
      let isFill = next == JPEGMarker.prefix
      guard isFill || next == JPEGMarker.stuffing || JPEGMarker(rawValue: next).isRestart else { return }
      raw = raw.lowerBound + (isFill ? 1 : 2)..<raw.upperBound
    }
  }

  /// Whether the file's last two bytes end a picture. False where that cannot be told without reading on.
  func endsWithEndMarker() -> Bool {
    guard let size = input.size, size >= 2 else { return false }
    var last: [UInt8] = [0, 0]
    let count = last.withUnsafeMutableBytes { input.peek(at: UInt64(size - 2), into: $0) }
    return count == 2 && last == JPEGMarker.eoi.bytes
  }

  // MARK: Entropy-coded data

  /// Makes ready for the data behind a scan's header or a restart marker.
  mutating func beginEntropyData() throws(BlockDecoderError) { try refill(after: 0) }

  /// Leaves the data, of which `consumed` bytes have been decoded: that must be all there are before the next marker.
  mutating func endEntropyData(at consumed: Int) throws(BlockDecoderError) {
    try refill(after: consumed)
    guard isAtMarker, end == 0 else { throw .irregular }
    end = 0
    isAtMarker = false
  }

  /// Drops the data before byte `consumed` and adds what follows, until an MCU or all that is left is there.
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

  /// Moves what has been read to the data, without stuffing, up to a marker.
  private mutating func unstuff() throws(BlockDecoderError) {
    while !raw.isEmpty {
      let found = firstPrefix(in: raw) ?? raw.upperBound
      moveToData(found - raw.lowerBound)
      guard !raw.isEmpty else { return }
      if raw.count == 1 {
        guard end < Self.longestMCU else { return }
        try readMore()
      }
      switch window[raw.lowerBound + 1] {
      case JPEGMarker.stuffing:
        moveToData(1)
        raw = raw.lowerBound + 1..<raw.upperBound
      case JPEGMarker.prefix:
        // Fill: any number may stand before a marker.
        raw = raw.lowerBound + 1..<raw.upperBound
      default:
        isAtMarker = true
        return
      }
    }
  }

  /// Moves the next bytes read to the end of the data.
  private mutating func moveToData(_ count: Int) {
    window.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress, count > 0 else { return }
      memmove(base + end, base + raw.lowerBound, count)
    }
    end += count
    raw = raw.lowerBound + count..<raw.upperBound
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

  /// Reads on, where nothing is left that has been read.
  private mutating func read() throws(BlockDecoderError) {
    raw = end..<end
    try readMore()
  }

  /// Adds to what has been read and not looked at, a byte at the most. There is room: in the data stands less than an MCU.
  private mutating func readMore() throws(BlockDecoderError) {
    if input.isCancelled { throw .failed(.cancelled) }
    let place = end
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
