import Thumbnails

@testable import Pictures

/// Counts how often and how much is read of a file in memory.
final class CountingReader {
  private(set) var reads = 0
  private(set) var bytes = 0
  private let file: [UInt8]

  init(_ file: [UInt8]) { self.file = file }

  var window: FileWindow {
    get throws {
      try FileWindow(
        ByteReader(size: file.count) { [self] offset, buffer in
          guard offset < UInt64(file.count) else { return .success(0) }
          let run = file[Int(offset)...].prefix(buffer.count)
          buffer.copyBytes(from: run)
          (reads, bytes) = (reads + 1, bytes + run.count)
          return .success(run.count)
        })
    }
  }
}

/// The header of a file in memory.
///
/// - parameter size: the bytes of the file, which has zeros at its end; nil for none.
func tiffHeader(_ file: [UInt8], size: Int? = nil) throws -> PictureHeader {
  let bytes = ByteReader(bytes: file)
  let reader = ByteReader(size: size ?? file.count) { offset, buffer in
    guard offset >= UInt64(file.count), offset < UInt64(size ?? file.count) else {
      return bytes.read(at: offset, into: buffer)
    }
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    return .success(buffer.count)
  }
  return try TIFFHeader.read(FileWindow(reader))
}
