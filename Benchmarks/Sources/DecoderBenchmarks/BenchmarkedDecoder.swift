import CLibJPEG

@testable import Thumbnails

/// A way from a file's bytes to planes. What is not public is reached with `-enable-testing`.
struct BenchmarkedDecoder: Sendable {
  let name: String
  let decode: @Sendable (ByteReader) throws -> Void

  static let all = [
    BenchmarkedDecoder(name: "blocks, 1/8") { try decodeBlocks($0, side: 1) },
    BenchmarkedDecoder(name: "libjpeg, 1/8") { try decodeWithLibJPEG($0, denominator: 8) },
    BenchmarkedDecoder(name: "blocks, 1/4") { try decodeBlocks($0, side: 2) },
    BenchmarkedDecoder(name: "libjpeg, 1/4") { try decodeWithLibJPEG($0, denominator: 4) },
    BenchmarkedDecoder(name: "libjpeg, 1/2") { try decodeWithLibJPEG($0, denominator: 2) },
    BenchmarkedDecoder(name: "libjpeg, 1/2, without fine scans") {
      try decodeWithLibJPEG($0, denominator: 2, skippingFineScans: true)
    },
    BenchmarkedDecoder(name: "libjpeg, 1/1") { try decodeWithLibJPEG($0, denominator: 1) },
  ]

  /// The lowest frequencies of each block, into buffers that are made anew each time.
  private static func decodeBlocks(_ source: ByteReader, side: Int) throws {
    let decoder = try JPEGDecoder(source: source, failOn: .error, monitor: nil)
    var blocks = BlockDecoder(decoder.input, header: SourceInfo(decoder), side: side)
    _ = try blocks.decode(into: PlaneBuffer(), masksIn: PlaneBuffer())
  }

  /// Every scan, unless said otherwise, into planes that are made anew each time.
  private static func decodeWithLibJPEG(
    _ source: ByteReader, denominator: Int, skippingFineScans: Bool = false
  ) throws {
    let decoder = try JPEGDecoder(source: source, failOn: .error, monitor: nil)
    let layouts = try decoder.setScale(denominator)
    let buffers = layouts.map { UnsafeMutablePointer<UInt8>.allocate(capacity: $0.min_stride * $0.min_rows) }
    defer { for buffer in buffers { buffer.deallocate() } }
    try decoder.decode(
      into: zip(layouts, buffers).map { clibjpeg_plane(data: $1, stride: $0.min_stride, rows: $0.min_rows) },
      skippingFineScans: skippingFineScans)
  }
}
