import Thumbnails

/// The memory that libwebp takes for one frame, without the decoded samples that it returns: these depend on the size to
/// which it scales (``WebPFrame/sampleBytes(scaledTo:hasAlpha:)``).
///
/// Source: libwebp 1.2.4, the allocations in src/dec. The tests count them.
struct WebPMemory {
  let pixels: PixelSize
  /// The chunk `ALPH`; nil if there is none.
  let alphaBytes: UInt64?
  let imageBytes: UInt64
  /// The bytes of VP8's first partition; nil for VP8L.
  let firstPartition: Int?
  let partitions: Int

  /// The bytes of a piece that libwebp is given.
  private static let piece = 64 << 10
  /// Structures of a decoder, tables and small allocations.
  private static let fixed = 96 << 10

  /// What nearly all pictures take.
  var bytes: Int {
    // A RIFF file has less than 4 GiB, so that sums and products do not overflow.
    guard let firstPartition else { return Self.fixed + Int(imageBytes) + 64 + entropyCoded }
    return Self.fixed + Self.piece + kept(firstPartition) + rows + (alphaBytes == nil ? 0 : pixels.count + entropyCoded)
  }

  /// The bytes of the file that libwebp keeps, twice while its buffer grows. The first partition is kept in a copy.
  private func kept(_ firstPartition: Int) -> Int {
    let first = min(firstPartition, Int(imageBytes))
    // Alpha is decoded along with the rows, and keeps what follows it from being dropped.
    let held = alphaBytes.map { Int($0 + imageBytes) } ?? (partitions > 1 ? Int(imageBytes) : first + Self.piece)
    return 2 * (held + Self.piece) + first
  }

  /// What a picture with more groups of Huffman codes takes besides.
  var rareBytes: Int {
    guard firstPartition == nil || alphaBytes != nil else { return 0 }
    return (groups(atMost: Self.rareGroups) - groups(atMost: Self.usualGroups)) * Self.groupBytes
  }

  /// VP8's rows of macroblocks, and what is known of those above.
  private var rows: Int { ((pixels.width + 15) / 16 + 1) * 2304 }

  /// VP8L, with which alpha is coded too: all pixels of four bytes each, rows on the way out, the data of transforms, and
  /// Huffman codes.
  private var entropyCoded: Int {
    4 * pixels.count + 4 * 18 * pixels.width + pixels.count / 16
      + groups(atMost: Self.usualGroups) * Self.groupBytes
  }

  /// The Huffman codes of one group, with the largest colour cache.
  private static let groupBytes = 21 << 10

  /// Photos have fewer than 100 groups. libwebp's encoder begins with up to 2,600 and joins those that are alike; a file
  /// with more fails for want of memory.
  private static let (usualGroups, rareGroups) = (600, 2600)

  /// The groups of Huffman codes: each block of at least 4 × 4 pixels may choose one.
  private func groups(atMost most: Int) -> Int { min(most, (pixels.width + 3) / 4 * ((pixels.height + 3) / 4)) }
}

extension WebPFrame {
  /// The bytes of the decoded samples, and of the rows from which libwebp scales them.
  ///
  /// - parameter size: the size to which the decoder scales; the frame's own if it does not.
  public func sampleBytes(scaledTo size: PixelSize, hasAlpha: Bool) -> Int {
    let perPixel = size.width * 16 + 1024 + size.width * 16 * (hasAlpha ? 2 : 1)
    guard isLossy, !hasAlpha else { return perPixel + size.count * (hasAlpha ? 4 : 3) }
    return perPixel + size.count + 2 * ((size.width + 1) / 2 * ((size.height + 1) / 2))
  }
}
