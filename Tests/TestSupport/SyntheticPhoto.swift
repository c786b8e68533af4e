import CLibJPEG

/// A generated picture that resembles a photograph: sky, sun, and ridges of hills with grain. The same values always
/// give the same picture.
public struct SyntheticPhoto: Sendable {
  public var seed: Int
  /// Pixels as stored, before the orientation is applied.
  public var width: Int
  public var height: Int
  public var isGrey = false
  /// Whether all pixels have the same grey, which is fast even for a large picture.
  public var isBlank = false
  public var isProgressive = false
  /// 4:4:4 instead of 4:2:0.
  public var hasFullChroma = false
  public var quality = 88
  /// The EXIF orientation, 1 to 8; 0 for no EXIF block. The scene is stored turned, so that it is displayed upright.
  public var orientation = 0
  /// Further EXIF tags.
  public var tags = TestTags()

  public init(seed: Int, width: Int, height: Int) {
    self.seed = seed
    self.width = width
    self.height = height
  }

  /// The picture as a JPEG file.
  public func jpeg() -> [UInt8] {
    var planes = storedPlanes()
    let sides = isGrey || hasFullChroma ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
    let exif = exifBlock
    return planes.withUnsafeMutablePointers { pointers in
      exif.withUnsafeBufferPointer { exif in
        let targets = pointers.enumerated().map { index, pointer in
          clibjpeg_plane(
            data: pointer, stride: index == 0 ? width : sides.0, rows: index == 0 ? height : sides.1)
        }
        var encoding = clibjpeg_encoding(
          width: UInt32(width), height: UInt32(height), grey: isGrey, half_chroma: !isGrey && !hasFullChroma,
          progressive: isProgressive, quality: Int32(quality), expected_size: 0,
          exif: exif.isEmpty ? nil : exif.baseAddress, exif_size: exif.count, icc: nil, icc_size: 0)
        guard let encoder = clibjpeg_encoder_create() else { preconditionFailure("no memory for an encoder") }
        defer { clibjpeg_encoder_destroy(encoder) }
        var bytes: UnsafePointer<UInt8>?
        var size = 0
        let status = clibjpeg_encoder_encode(encoder, &encoding, targets, &bytes, &size)
        precondition(status == CLIBJPEG_OK, "a synthetic photo can be encoded")
        return Array(UnsafeBufferPointer(start: bytes, count: size))
      }
    }
  }

  /// The planes as stored, so that the orientation turns them upright.
  private func storedPlanes() -> [[UInt8]] {
    var displayed = self
    if orientation >= 5 { (displayed.width, displayed.height) = (height, width) }
    let planes = isGrey ? [displayed.luma()] : [displayed.luma()] + displayed.chroma()
    if orientation < 2 { return planes }
    let (mirrorsColumns, mirrorsRows) = ([2, 3, 7, 8].contains(orientation), [3, 4, 6, 7].contains(orientation))
    return planes.enumerated().map { index, plane in
      let isHalved = index > 0 && !hasFullChroma
      let (columns, rows) = isHalved ? ((width + 1) / 2, (height + 1) / 2) : (width, height)
      let stride = orientation >= 5 ? rows : columns
      return [UInt8](unsafeUninitializedCapacity: plane.count) { stored, count in
        for row in 0..<rows {
          for column in 0..<columns {
            let (x, y) = (mirrorsColumns ? columns - 1 - column : column, mirrorsRows ? rows - 1 - row : row)
            stored[row * columns + column] = orientation >= 5 ? plane[x * stride + y] : plane[y * stride + x]
          }
        }
        count = plane.count
      }
    }
  }

  // MARK: The scene

  /// Brightness, row by row.
  private func luma() -> [UInt8] {
    var rows = [UInt8](repeating: 128, count: width * height)
    if isBlank { return rows }
    let ridges = (0..<4).map { ridge($0) }
    let sun = (x: Double(hash(1, 1) % 1000) / 1000 * Double(width), y: Double(height) * 0.25)
    let radius = Double(min(width, height)) * 0.09
    for y in 0..<height {
      for x in 0..<width {
        var value = 150 + 80 * Double(y) / Double(height)
        let away = (Double(x) - sun.x) * (Double(x) - sun.x) + (Double(y) - sun.y) * (Double(y) - sun.y)
        if away < radius * radius { value = 245 }
        for (index, ridge) in ridges.enumerated() where Double(y) > ridge[x] {
          value = 130 - 28 * Double(index) + 14 * Double((y - Int(ridge[x])) % 37) / 37
        }
        let grain = Double(hash(x &* 7919 &+ 3, y) % 17) - 8
        rows[y * width + x] = UInt8(max(0, min(255, value + grain)))
      }
    }
    return rows
  }

  /// The planes Cb and Cr, row by row: blue above, green and brown below.
  private func chroma() -> [[UInt8]] {
    let columns = hasFullChroma ? width : (width + 1) / 2
    let rows = hasFullChroma ? height : (height + 1) / 2
    let step = hasFullChroma ? 1 : 2
    let ridges = (0..<4).map { ridge($0) }
    var blue = [UInt8](repeating: 128, count: columns * rows)
    var red = blue
    if isBlank { return [blue, red] }
    for y in 0..<rows {
      for x in 0..<columns {
        var (b, r) = (152 - 20 * y / rows, 112 + 16 * y / rows)
        for (index, ridge) in ridges.enumerated() where Double(y * step) > ridge[min(x * step, width - 1)] {
          (b, r) = (112 - 5 * index, 120 + (hash(index, 9) % 3) * 6)
        }
        blue[y * columns + x] = UInt8(b)
        red[y * columns + x] = UInt8(r)
      }
    }
    return [blue, red]
  }

  /// The row of a ridge of hills in every column: a sum of noise in five octaves.
  private func ridge(_ index: Int) -> [Double] {
    var line = [Double](repeating: Double(height) * (0.42 + 0.14 * Double(index)), count: width)
    for octave in 1...5 {
      let knots = 3 << octave
      let reach = Double(height) * 0.16 / Double(1 << octave)
      for x in 0..<width {
        let position = Double(x) / Double(width) * Double(knots)
        let knot = Int(position)
        let share = position - Double(knot)
        let ease = share * share * (3 - 2 * share)
        let (left, right) = (noise(index, octave, knot), noise(index, octave, knot + 1))
        line[x] += (left + (right - left) * ease) * reach
      }
    }
    return line
  }

  private func noise(_ ridge: Int, _ octave: Int, _ knot: Int) -> Double {
    Double(hash(ridge &* 31 &+ octave, knot) % 2001) / 1000 - 1
  }

  /// A hash of the seed and two numbers; not negative.
  private func hash(_ a: Int, _ b: Int) -> Int {
    var value = UInt64(bitPattern: Int64(a &* 73_856_093 ^ b &* 19_349_663 ^ seed &* 83_492_791))
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((value ^ value >> 31) >> 33)
  }

  /// The payload of an APP1 segment (Exif 2.3, section 4.5).
  private var exifBlock: [UInt8] {
    var tags = tags
    tags.orientation = orientation
    return tags.isEmpty ? [] : Array("Exif\0\0".utf8) + tags.bytes
  }
}

extension [[UInt8]] {
  fileprivate mutating func withUnsafeMutablePointers<Result>(
    _ body: ([UnsafeMutablePointer<UInt8>]) -> Result
  ) -> Result {
    let pointers = map { bytes in
      let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: Swift.max(bytes.count, 1))
      copy.initialize(from: bytes, count: bytes.count)
      return copy
    }
    defer { for pointer in pointers { pointer.deallocate() } }
    return body(pointers)
  }
}
