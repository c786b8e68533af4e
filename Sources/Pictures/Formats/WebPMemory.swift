import Thumbnails

/// The memory that decoding one frame takes, without the samples that libwebp returns of a lossy one: these depend on
/// the size to which it scales (``WebPFrame/sampleBytes(scaledTo:hasAlpha:)``).
///
/// Source: libwebp 1.2.4, the allocations in src/dec; CPictures's `vp8l.c`. The tests count them.
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
  /// Structures of libwebp, tables and small allocations.
  private static let fixed = 96 << 10

  /// What nearly all pictures take.
  var bytes: Int {
    // A RIFF file has less than 4 GiB, so that sums and products do not overflow.
    guard let firstPartition else { return lossless }
    return Self.fixed + Self.piece + kept(firstPartition) + rows + (alphaBytes == nil ? 0 : pixels.count + codedAlpha)
  }

  /// The bytes of the file that libwebp keeps, twice while its buffer grows. The first partition is kept in a copy.
  private func kept(_ firstPartition: Int) -> Int {
    let first = min(firstPartition, Int(imageBytes))
    // Alpha is decoded along with the rows, and keeps what follows it from being dropped.
    let held = alphaBytes.map { Int($0 + imageBytes) } ?? (partitions > 1 ? Int(imageBytes) : first + Self.piece)
    return 2 * (held + Self.piece) + first
  }

  /// What a picture with more groups of prefix codes takes besides.
  var rareBytes: Int {
    guard firstPartition == nil || alphaBytes != nil else { return 0 }
    return (groups(atMost: Self.rareGroups) - groups(atMost: Self.usualGroups)) * groupBytes
  }

  /// VP8's rows of macroblocks, and what is known of those above.
  private var rows: Int { ((pixels.width + 15) / 16 + 1) * 2304 }

  /// Alpha is coded like a lossless picture. libwebp keeps all of it, four bytes for each pixel, rows on the way out,
  /// the data of transforms, and prefix codes.
  private var codedAlpha: Int {
    4 * pixels.count + 4 * 18 * pixels.width + pixels.count / 16
      + groups(atMost: Self.usualGroups) * groupBytes
  }

  /// VP8L: the last pixels, the values of blocks, and prefix codes.
  private var lossless: Int {
    let last = min(pixels.count, 1 << 20)
    return (448 << 10) + 4 * last + 20 * pixels.width + 3 * 4 * blocks
      + groups(atMost: Self.usualGroups) * groupBytes
  }

  /// The prefix codes of one group, with the largest colour cache: ours, and those of libwebp.
  private var groupBytes: Int { firstPartition == nil ? 10 << 10 : 21 << 10 }

  /// Photos have fewer than 100 groups. libwebp's encoder begins with up to 2,600 and joins those that are alike; a file
  /// with more fails for want of memory.
  private static let (usualGroups, rareGroups) = (600, 2600)

  /// The groups of prefix codes: each block may choose one.
  private func groups(atMost most: Int) -> Int { min(most, blocks) }

  /// The blocks, at most, of which each has values of its own.
  private var blocks: Int { (pixels.width + 3) / 4 * ((pixels.height + 3) / 4) }
}

extension WebPFrame {
  /// The bytes of the samples that libwebp returns, and of the rows from which it scales them. None of a lossless
  /// frame, whose rows become means at once.
  ///
  /// - parameter size: the size to which the decoder scales; the frame's own if it does not.
  public func sampleBytes(scaledTo size: PixelSize, hasAlpha: Bool) -> Int {
    guard isLossy else { return 0 }
    let perPixel = size.width * 16 + 1024 + size.width * 16 * (hasAlpha ? 2 : 1)
    guard !hasAlpha else { return perPixel + size.count * 4 }
    return perPixel + size.count + 2 * ((size.width + 1) / 2 * ((size.height + 1) / 2))
  }
}
