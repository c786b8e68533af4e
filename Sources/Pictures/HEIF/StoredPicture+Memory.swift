import CDecoding
import Thumbnails

extension StoredPicture {
  /// The memory that decoding takes at most, in bytes, besides sums and planes: that of the largest tile, and alpha.
  ///
  /// Of libde265 1.0.11, the allocations were read: the picture; a copy of one plane for the last filter; 1.05 bytes
  /// for each pixel about blocks, of which 0.75 are motion, also if nothing moves; and 130 bytes for each coding tree
  /// block, which has at least 16 × 16 pixels. It also copies the compressed data once. dav1d 1.0.0 was measured: it
  /// takes 2.0 bytes for a pixel of 4:2:0 and a fixed part. Alpha, 8 bits a pixel, is there as a whole while colours
  /// are decoded. So is, 8 bits a pixel, what pictures that lie on each other leave uncovered.
  var workingBytes: Int {
    let largest = max(alphaBytes, tiles.map { bytes(of: $0) }.max() ?? 0)
    let maps = (alphaBytes > 0 ? 1 : 0) + (canvas == nil ? 0 : 1)
    return largest + maps * geometry.pixels.count
  }

  private func bytes(of tile: PictureTile) -> Int {
    let compressed = tile.data.reduce(0) { min($0 + Int(min($1.size, Self.mostCompressed)), Int(Self.mostCompressed)) }
    let block = codec == .hevc ? 64 : 128
    // A picture that is coded much larger than its tile is refused.
    let coded = format.codedPixels ?? tile.pixels
    let padding = Int(CDECODING_MAX_PADDING)
    let width = Self.rounded(max(tile.pixels.width, min(coded.width, tile.pixels.width + padding)), to: block)
    let height = Self.rounded(max(tile.pixels.height, min(coded.height, tile.pixels.height + padding)), to: block)
    let pixels = width * height
    let plane = pixels * (format.bits > 8 ? 2 : 1)
    let picture = plane * samplesOfTwoPixels / 2
    switch codec {
    case .hevc: return picture + plane + pixels * 13 / 8 + 2 * compressed + Self.fixedPart
    case .av1: return format.picturesHeld * picture + pixels * 5 / 8 + compressed + Self.fixedPart
    }
  }

  private static let fixedPart = 1 << 20
  /// A tile with more data is refused before they are read.
  private static let mostCompressed: UInt64 = 1 << 35

  /// The samples of all components that two pixels have.
  private var samplesOfTwoPixels: Int {
    guard let chroma = format.chroma else { return 2 }
    return 2 + 4 / (chroma.across * chroma.down)
  }

  private static func rounded(_ length: Int, to block: Int) -> Int { (length + block - 1) / block * block }
}
