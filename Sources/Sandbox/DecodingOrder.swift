import CDecoding

/// One picture for a decoder process.
package struct DecodingOrder: HelperOrder {
  /// The request. Its counts of tiles and extents are those of `tiles` and `extents`, whatever it says.
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

  private var countedRequest: cdecoding_request {
    var counted = request
    counted.tile_count = UInt32(clamping: tiles.count)
    counted.extent_count = UInt32(clamping: extents.count)
    return counted
  }

  var fileToRead: CInt? { file }

  var layout: cdecoding_layout? {
    guard planeBytes >= 0, workingBytes >= 0, request.profile_capacity <= UInt64(planeBytes),
      request.profile_offset <= UInt64(planeBytes) - request.profile_capacity
    else { return nil }
    var layout = cdecoding_layout()
    var counted = countedRequest
    return cdecoding_lay_out(&counted, UInt64(planeBytes), &layout) ? layout : nil
  }

  var message: cdecoding_request_message {
    var message = cdecoding_request_message()
    message.task = CDECODING_DECODE
    message.file_size = fileSize
    message.memory_size = UInt64(planeBytes)
    message.request = countedRequest
    return message
  }

  func fill(_ memory: SharedMemory, _ layout: cdecoding_layout) {
    tiles.withUnsafeBytes { memory.bytes[layout.tiles...].copyBytes(from: $0) }
    extents.withUnsafeBytes { memory.bytes[layout.extents...].copyBytes(from: $0) }
  }

  func result(
    of reply: cdecoding_reply, in memory: SharedMemory, _ layout: cdecoding_layout
  ) throws(SandboxError) -> DecodedPlanes {
    guard reply.profile_size <= request.profile_capacity else {
      throw .brokenProtocol("a profile that is larger than the memory for it")
    }
    let planes = layout.planes..<layout.planes + planeBytes
    let start = layout.planes + Int(request.profile_offset)
    // A copy, because a process that a picture has taken over could change it while it is parsed.
    let profile = reply.profile_size == 0 ? nil : Array(memory.bytes[start..<start + Int(reply.profile_size)])
    return DecodedPlanes(
      memory, planes: planes, profile: profile,
      warnings: [reply.warnings.0, reply.warnings.1, reply.warnings.2].map { HelperProcess.text($0) ?? "" })
  }
}
