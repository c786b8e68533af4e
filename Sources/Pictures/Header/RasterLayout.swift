import CDecoding
import Thumbnails

/// How rows of pixels are stored that need no library: in BMP files, icons and TGA files.
public struct RasterLayout: Sendable, Hashable {
  /// How the pixels are packed.
  public enum Packing: Sendable, Hashable { case plain, rle8, rle4, tgaRuns }

  /// The colours of the indices that pixels then are: blue, green, red, and perhaps a fourth byte; or 5 bits of each in two bytes.
  public struct Palette: Sendable, Hashable {
    public var offset: UInt64
    /// The index of its first colour.
    public var first = 0
    public var count: Int
    /// 2 to 4.
    public var bytesPerColor: Int
  }

  /// Where the first row is, and how many bytes it has.
  public var data: UInt64
  public var rowBytes: UInt64
  /// The bits of a pixel.
  public var bits: Int
  /// The bits of red, green, blue and alpha in a pixel; of grey pixels none. With a palette, only that of alpha: it is not 0 if the
  /// fourth byte of a colour is its alpha.
  public var masks: [UInt32]
  public var palette: Palette?
  /// Where the rows of an icon's mask are, in which ones are transparent; nil if there is none.
  public var mask: UInt64?
  public var packing = Packing.plain
  public var isBottomUp: Bool
  public var isRightToLeft = false

  /// What our decoder allocates: a row as it is stored and converted, a row of the mask, an input buffer of 64 KiB, and tables.
  func workingBytes(_ pixels: PixelSize) -> Int { (96 << 10) + Int(rowBytes) + 5 * pixels.width }

  /// The same for the decoder.
  var description: cdecoding_raster {
    var raster = cdecoding_raster()
    (raster.data, raster.row_bytes, raster.bits) = (data, rowBytes, UInt32(bits))
    if let palette {
      (raster.palette, raster.palette_first) = (palette.offset, UInt32(palette.first))
      (raster.palette_count, raster.palette_entry) = (UInt32(palette.count), UInt32(palette.bytesPerColor))
    }
    withUnsafeMutableBytes(of: &raster.masks) { masks.withUnsafeBytes($0.copyMemory) }
    raster.mask = mask ?? 0
    raster.packing =
      switch packing {
      case .plain: CDECODING_PLAIN
      case .rle8: CDECODING_RLE8
      case .rle4: CDECODING_RLE4
      case .tgaRuns: CDECODING_TGA_RUNS
      }
    (raster.is_bottom_up, raster.is_right_to_left) = (isBottomUp, isRightToLeft)
    return raster
  }
}
