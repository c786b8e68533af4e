import CDecoding

/// To whom a picture belongs. No process decodes pictures of two owners: the second could see what the first has left there.
package enum PictureOwner: Sendable, Hashable {
  /// The user that owns the file.
  case user(UInt32)
  /// The host that was asked for the picture, or the bucket.
  case host(String)
}

/// One picture for a decoder process.
package struct DecodingOrder {
  /// The request. Its counts of tiles and extents are set by the process's ``DecoderProcess/decode(_:isCancelled:progress:)``.
  package var request: cdecoding_request
  package var tiles: [cdecoding_tile]
  package var extents: [cdecoding_extent]
  /// The file, open to read. It stays the caller's. The process gets a descriptor of the same open file, and reads with
  /// pread(2) only.
  package var file: CInt
  /// The size of the file, in bytes.
  package var fileSize: UInt64
  /// The memory for planes and profile, in bytes. The request says what is where.
  package var planeBytes: Int
  /// The memory that decoding may take besides, in bytes.
  package var workingBytes: Int
  package var owner: PictureOwner

  package init(
    _ request: cdecoding_request, tiles: [cdecoding_tile] = [], extents: [cdecoding_extent] = [], file: CInt,
    fileSize: UInt64, planeBytes: Int, workingBytes: Int, owner: PictureOwner
  ) {
    (self.request, self.tiles, self.extents, self.owner) = (request, tiles, extents, owner)
    (self.file, self.fileSize, self.planeBytes, self.workingBytes) = (file, fileSize, planeBytes, workingBytes)
  }

  /// The layout of the shared memory; nil if the order contradicts itself or is too large.
  var layout: cdecoding_layout? {
    guard planeBytes >= 0, workingBytes >= 0, request.profile_capacity <= UInt64(planeBytes),
      request.profile_offset <= UInt64(planeBytes) - request.profile_capacity
    else { return nil }
    var layout = cdecoding_layout()
    var counted = request
    counted.tile_count = UInt32(clamping: tiles.count)
    counted.extent_count = UInt32(clamping: extents.count)
    return cdecoding_lay_out(&counted, UInt64(planeBytes), &layout) ? layout : nil
  }
}
