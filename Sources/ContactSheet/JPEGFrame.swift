import Files
import Foundation

/// What a PDF file says of a JPEG file that it contains. The file is not decoded: damage inside the samples is not
/// found.
///
/// *Source*: ITU-T T.81, B.1 and B.2.
struct JPEGFrame: Equatable {
  /// Pixels.
  let width: Int
  let height: Int
  /// 1 for grey, 3 for colour.
  let components: Int
  /// The size of the file in bytes.
  let size: Int

  /// More segments than this exist only to waste time.
  private static let segmentLimit = 1000

  /// Reads the marker segments up to the first scan, each with one short read.
  ///
  /// - Parameter file: a descriptor that was opened to read; the file position does not matter.
  init(reading file: CInt) throws(UnusableJPEGError) {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw UnusableJPEGError(Errno(rawValue: errno)) }
    guard status.kind == .regular else { throw UnusableJPEGError("not a regular file") }
    size = Int(status.st_size)
    guard try Self.read(2, of: file, at: 0) == [0xFF, 0xD8] else { throw .notJPEG }
    guard try Self.read(2, of: file, at: size - 2) == [0xFF, 0xD9] else { throw .cutOff }
    (width, height, components) = try Self.frameHeader(of: file)
  }

  /// The sides and the number of components in the frame header (SOF), which a scan (SOS) must follow.
  private static func frameHeader(of file: CInt) throws(UnusableJPEGError) -> (Int, Int, Int) {
    var found: (Int, Int, Int)?
    var offset = 2
    for _ in 0..<segmentLimit {
      // A marker, a segment's length, and the beginning of a frame header.
      let bytes = try read(10, of: file, at: offset)
      guard bytes.count >= 4 else { throw .cutOff }
      guard bytes[0] == 0xFF else { throw UnusableJPEGError("damaged JPEG file") }
      let length = Int(bytes[2]) << 8 | Int(bytes[3])
      switch bytes[1] {
      case 0xFF:
        // A fill byte.
        offset += 1
        continue
      case 0xDA:
        guard let found else { throw UnusableJPEGError("damaged JPEG file") }
        return found
      case 0xC0, 0xC1, 0xC2:
        guard bytes.count == 10 else { throw .cutOff }
        let components = Int(bytes[9])
        guard found == nil, length == 8 + 3 * components else { throw UnusableJPEGError("damaged JPEG file") }
        guard bytes[4] == 8 else { throw UnusableJPEGError("\(bytes[4]) bits per sample") }
        guard components == 1 || components == 3 else { throw UnusableJPEGError("\(components) colour components") }
        let (height, width) = (Int(bytes[5]) << 8 | Int(bytes[6]), Int(bytes[7]) << 8 | Int(bytes[8]))
        guard width > 0, height > 0 else { throw UnusableJPEGError("JPEG file without width or height") }
        found = (width, height, components)
      case 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        // Lossless, hierarchical or arithmetic coding, which PDF does not have.
        throw UnusableJPEGError("unusual kind of JPEG file")
      case 0x00...0x01, 0xD0...0xD9:
        // Markers without a segment, which must not come here.
        throw UnusableJPEGError("damaged JPEG file")
      default: break
      }
      guard length >= 2 else { throw UnusableJPEGError("damaged JPEG file") }
      offset += 2 + length
    }
    throw UnusableJPEGError("damaged JPEG file")
  }

  /// Reads bytes; fewer if the file ends before, and none before its beginning.
  private static func read(_ count: Int, of file: CInt, at offset: Int) throws(UnusableJPEGError) -> [UInt8] {
    guard offset >= 0 else { return [] }
    do throws(Errno) { return try readAll(count, from: file, at: offset) } catch { throw UnusableJPEGError(error) }
  }
}

/// Why a JPEG file cannot be shown: a few words for the marked place.
struct UnusableJPEGError: Error, Equatable {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  init(_ error: Errno) { reason = systemText(error.rawValue) }

  static let notJPEG = UnusableJPEGError("not a JPEG file")
  static let cutOff = UnusableJPEGError("JPEG file is cut off")
}
