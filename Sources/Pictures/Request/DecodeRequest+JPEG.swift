import CDecoding
import Thumbnails

extension DecodeRequest {
  /// A request for the planes of a JPEG file.
  ///
  /// - Parameters:
  ///   - jpeg: the file, or the part of it, whose header was read.
  ///   - extent: where it is in the whole file.
  ///   - bytes: the memory that is reserved for the planes and for decoding.
  package init(_ jpeg: WholeJPEG, in extent: FileExtent, of bytes: Int) {
    var request = cdecoding_request()
    request.kind = CDECODING_JPEG
    (request.width, request.height) = (UInt32(jpeg.pixels.width), UInt32(jpeg.pixels.height))
    (request.denominator, request.fail_mask) = (UInt32(jpeg.denominator), jpeg.failMask)
    let planes = jpeg.planes.map { layout in
      var plane = cdecoding_plane()
      (plane.columns, plane.rows) = (UInt32(layout.stride), UInt32(layout.rows))
      return plane
    }
    self.init(request, planes: planes, extents: [cdecoding_extent(extent)], decoderBytes: 0)
    self = allowing(more: max(0, bytes - memorySize))
  }
}
