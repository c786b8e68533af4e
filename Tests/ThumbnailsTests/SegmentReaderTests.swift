import Testing

@testable import Thumbnails

@Suite(.timeLimit(.minutes(1))) struct SegmentReaderTests {
  /// The reader removes stuffing from 16 bytes at a time. This tests a prefix at each of these places, and reads that end
  /// between them.
  @Test(arguments: [1, 15, 16, 17, 33, 1000]) func stuffingIsLeftOutAtEveryPlace(piece: Int) throws {
    for place in 0..<16 {
      for (count, distance) in [(1, 0), (2, 1), (2, 7), (3, 16), (5, 17)] {
        var data = (0..<100).map { UInt8($0) }
        for index in 0..<count { data[place + index * distance] = JPEGMarker.prefix }
        let stuffed = data.flatMap { $0 == JPEGMarker.prefix ? [$0, JPEGMarker.stuffing] : [$0] }
        #expect(try Self.entropyData(stuffed, piece) == data, "at \(place), \(count) times, \(distance) apart")
      }
    }
  }

  /// A picture's last byte may be a prefix, and fill bytes may precede the marker after it.
  @Test(arguments: [1, 15, 16, 17, 33, 1000]) func fillBytesAreNoData(piece: Int) throws {
    for length in 0..<40 {
      let data = (0..<length).map { UInt8($0) } + [JPEGMarker.prefix]
      let stuffed = data + [JPEGMarker.stuffing, JPEGMarker.prefix, JPEGMarker.prefix]
      #expect(try Self.entropyData(stuffed, piece) == data, "\(length) bytes")
    }
  }

  /// The data that the reader finds before an EOI marker.
  ///
  /// - parameter piece: the bytes of a read.
  private static func entropyData(_ stuffed: [UInt8], _ piece: Int) throws -> [UInt8] {
    let bytes = stuffed + JPEGMarker.eoi.bytes
    let whole = ByteReader(bytes: bytes)
    let source = ByteReader(size: bytes.count) { offset, buffer in
      whole.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(piece)))
    }
    var reader = SegmentReader(DecoderInput(source: source, monitor: nil, progress: 0))
    try reader.beginEntropyData()
    #expect(reader.isAtMarker)
    let data = Array(reader.window[..<reader.end])
    try reader.endEntropyData(at: reader.end)
    #expect(try reader.marker() == .eoi)
    return data
  }
}
