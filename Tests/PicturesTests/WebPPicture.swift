import Foundation
import PictureWriters
import Testing
import Thumbnails

/// A WebP file, as libwebp writes it or with chunks that are put together here.
struct WebPPicture {
  var size = PixelSize(width: 60, height: 44)
  var isLossless = false
  var hasAlpha = false
  var keepsHidden = false
  var quality = 95
  var partitions = 0
  /// Noise is coded at many bits a pixel.
  var isNoisy = false
  /// Blue does not fall.
  var hasFewColors = false
  /// After so many rows, the same ones come again.
  var period = Int.max

  /// Red rises to the right, green downwards, and blue falls; alpha rises from the upper left.
  func pixel(_ x: Int, _ y: Int) -> (red: Int, green: Int, blue: Int, alpha: Int) {
    let y = y % period
    var noise = 0
    if isNoisy {
      var state = UInt32(truncatingIfNeeded: (y * 9973 + x) &* 2_654_435_761)
      state ^= state >> 15
      state = state &* 2_246_822_519
      noise = Int((state ^ state >> 13) & 127)
    }
    let (across, down) = (hasFewColors ? 0 : x * 127 / size.width, y * 127 / size.height)
    return (
      2 * across * (isNoisy ? 0 : 1) + noise, 2 * down * (isNoisy ? 0 : 1) + noise, 255 - across - noise,
      hasAlpha ? min(255, (across + down) * 2) : 255
    )
  }

  func file() -> [UInt8] {
    var recipe = webp_recipe()
    (recipe.width, recipe.height) = (UInt32(size.width), UInt32(size.height))
    (recipe.is_lossless, recipe.keeps_hidden) = (isLossless, keepsHidden)
    (recipe.quality, recipe.partitions) = (Int32(quality), Int32(partitions))
    var pixels: [UInt8] = []
    pixels.reserveCapacity(size.count * 4)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let (red, green, blue, alpha) = pixel(x, y)
        pixels.append(contentsOf: [UInt8(red), UInt8(green), UInt8(blue), UInt8(alpha)])
      }
    }
    let file = write_webp(&recipe, pixels)
    guard let bytes = file.bytes else { return [] }
    defer { free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: file.size))
  }

  /// The mean of each colour over a part of the picture, mixed with the background.
  func means(_ columns: Range<Int>, _ rows: Range<Int>, background: Double) -> [Double] {
    var sums = [0.0, 0, 0]
    for y in rows {
      for x in columns {
        let (red, green, blue, alpha) = pixel(x, y)
        for (index, color) in [red, green, blue].enumerated() {
          sums[index] += (Double(color) * Double(alpha) + background * Double(255 - alpha)) / 255
        }
      }
    }
    return sums.map { $0 / Double(columns.count * rows.count) }
  }

  // MARK: Chunks

  static func chunk(_ name: String, _ payload: [UInt8]) -> [UInt8] {
    Array(name.utf8) + number(payload.count, 4) + payload + (payload.count % 2 == 1 ? [0] : [])
  }

  static func number(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 255) } }

  static func riff(_ chunks: [[UInt8]]) -> [UInt8] {
    let body = Array("WEBP".utf8) + chunks.flatMap { $0 }
    return Array("RIFF".utf8) + number(body.count, 4) + body
  }

  static func extended(_ flags: Int, _ canvas: PixelSize) -> [UInt8] {
    chunk("VP8X", number(flags, 4) + number(canvas.width - 1, 3) + number(canvas.height - 1, 3))
  }

  static func frame(_ chunks: [UInt8], x: Int, y: Int, _ size: PixelSize) -> [UInt8] {
    let head = number(x / 2, 3) + number(y / 2, 3) + number(size.width - 1, 3) + number(size.height - 1, 3)
    return chunk("ANMF", head + number(100, 3) + [0] + chunks)
  }

  /// The chunks of the picture: `ALPH` if there is one, and `VP8 ` or `VP8L`.
  func chunks() -> [UInt8] {
    let file = file()
    // libwebp writes VP8X only before alpha.
    let start = file[12..<16].elementsEqual("VP8X".utf8) ? 30 : 12
    return Array(file[start...])
  }
}
