import CDecoding
import TestSupport
import Thumbnails

@testable import Pictures

/// What becomes of a file by the request that its header leads to: each pixel for itself.
struct DecodedFile {
  let header: PictureHeader
  private let request: DecodeRequest
  private let call: DecoderCall

  /// - Throws: ``ThumbnailError`` of the header; also for pictures that are too large for tests.
  init(_ bytes: [UInt8], _ type: ImageType, reduction: Double = 1) throws(ThumbnailError) {
    header = try PictureReader.readHeader(of: ByteReader(bytes: bytes), type: type)
    guard header.pixels.count < 1 << 22 else { throw .tooManyPixels(header.pixels, limit: 1 << 22) }
    request = DecodeRequest(
      header, reduction: reduction, background: header.hasAlpha ? nil : .white, failMask: FailOn.error.mask)
    call = DecoderCall(bytes, request).decoded()
  }

  var status: cdecoding_status { call.status }
  var message: String { call.message }
  var warning: String { call.warning }

  /// The columns and rows of the planes.
  var size: (columns: Int, rows: Int) { (Int(request.planes[0].columns), Int(request.planes[0].rows)) }

  /// The colours of a pixel, with inks as what is left of white, and its alpha. Colours are not multiplied by alpha.
  func pixel(_ x: Int, _ y: Int) -> (colors: [UInt8], alpha: UInt8) {
    let place = y * size.columns + x
    var samples = request.planes.indices.map { call.plane($0)[place] }
    if header.components == .cmyk { samples = samples.prefix(3).map { 255 - $0 } }
    guard request.keepsAlpha else { return (samples, 255) }
    let alpha = call.alpha[place]
    return (samples.map { alpha == 0 ? 0 : UInt8(min(255, (Int($0) * 255 + Int(alpha) / 2) / Int(alpha))) }, alpha)
  }
}

extension SplitMix {
  /// A file with some of its first bytes changed.
  mutating func changed(_ file: [UInt8], bytes count: ClosedRange<Int>, within limit: Int) -> [UInt8] {
    var file = file
    for _ in 0..<Int.random(in: count, using: &self) {
      file[Int.random(in: 0..<min(file.count, limit), using: &self)] = .random(in: 0...255, using: &self)
    }
    return file
  }
}
