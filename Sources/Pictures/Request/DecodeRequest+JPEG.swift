import CDecoding
import Thumbnails

extension DecodeRequest {
  /// A request for the planes of a JPEG file.
  ///
  /// - Parameters:
  ///   - jpeg: the file, or the part of it, whose header was read.
  ///   - extent: where it is in the whole file.
  ///   - decoderBytes: the bytes that decoding takes at most besides the planes.
  package init(_ jpeg: WholeJPEG, in extent: FileExtent, decoderBytes: Int) {
    var request = cdecoding_request()
    request.kind = CDECODING_JPEG
    (request.width, request.height) = (UInt32(jpeg.pixels.width), UInt32(jpeg.pixels.height))
    (request.denominator, request.fail_mask) = (UInt32(jpeg.denominator), jpeg.failMask)
    let planes = jpeg.planes.map { layout in
      var plane = cdecoding_plane()
      (plane.columns, plane.rows) = (UInt32(layout.stride), UInt32(layout.rows))
      return plane
    }
    self.init(request, planes: planes, extents: [cdecoding_extent(extent)], decoderBytes: decoderBytes)
  }
}
