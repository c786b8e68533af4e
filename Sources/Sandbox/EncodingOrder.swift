import CDecoding

/// One picture for an encoder process.
package struct EncodingOrder: HelperOrder {
  /// The request. It says what is where in the memory.
  package var request: cencoding_request
  /// The memory for planes, metadata and file, in bytes.
  package var memoryBytes: Int
  package var workingBytes: Int
  package var owner: PictureOwner
  /// Puts planes and metadata into the memory.
  package var fill: (UnsafeMutableRawBufferPointer) -> Void

  package init(
    _ request: cencoding_request, memoryBytes: Int, workingBytes: Int, owner: PictureOwner,
    fill: @escaping (UnsafeMutableRawBufferPointer) -> Void
  ) {
    (self.request, self.memoryBytes, self.workingBytes) = (request, memoryBytes, workingBytes)
    (self.owner, self.fill) = (owner, fill)
  }

  var fileToRead: CInt? { nil }

  var layout: cdecoding_layout? {
    let file = request.file
    guard memoryBytes >= 0, workingBytes >= 0, file.size <= UInt64(memoryBytes),
      file.offset <= UInt64(memoryBytes) - file.size
    else { return nil }
    var layout = cdecoding_layout()
    return cdecoding_lay_out(nil, UInt64(memoryBytes), &layout) ? layout : nil
  }

  var message: cdecoding_request_message {
    var message = cdecoding_request_message()
    message.task = CDECODING_ENCODE
    message.memory_size = UInt64(memoryBytes)
    message.encoding = request
    return message
  }

  func fill(_ memory: SharedMemory, _ layout: cdecoding_layout) {
    fill(UnsafeMutableRawBufferPointer(rebasing: memory.bytes[layout.planes..<layout.planes + memoryBytes]))
  }

  /// The file, as a copy, because a process that a picture has taken over could still change it.
  func result(
    of reply: cdecoding_reply, in memory: SharedMemory, _ layout: cdecoding_layout
  ) throws(SandboxError) -> [UInt8] {
    guard reply.file_size > 0, reply.file_size <= request.file.size else {
      throw .brokenProtocol("a file that is empty, or larger than the memory for it")
    }
    let start = layout.planes + Int(request.file.offset)
    return Array(memory.bytes[start..<start + Int(reply.file_size)])
  }
}
