import CDecoding
import Thumbnails

extension DecodeRequest {
  /// The least size to which the decoder of lossy WebP scales, in pixels for each pixel of the thumbnail along each axis. It
  /// takes means, which are visible if there are fewer.
  private static let scalingMargin = 3.0

  /// - Parameters:
  ///   - header: of a picture that has a decoder.
  ///   - reduction: how many pixels of the picture, along the axis with fewer, become one of the largest thumbnail.
  ///   - background: the colour where the picture is transparent; nil for a plane of alpha, which only a transparent picture
  ///     without a canvas may have.
  ///   - failMask: the classes of warnings that end decoding, as `cdecoding_request` has them.
  init(_ header: PictureHeader, reduction: Double, background: RGBColor?, failMask: UInt32) {
    var request = cdecoding_request()
    request.kind = header.kind
    request.fail_mask = failMask
    (request.width, request.height) = (UInt32(header.pixels.width), UInt32(header.pixels.height))
    var shrink = min(max(Int(reduction / DecodePlan.margin), 1), Int(CDECODING_MAX_SHRINK))
    var scaled = header.pixels
    if case .webp(let frame) = header.coding, frame.isScalable, frame.isLossy {
      (scaled, shrink) = (header.pixels.reduced(by: reduction / Self.scalingMargin).evened(within: header.pixels), 1)
    }
    var levels = 0
    if case .jp2(let coding) = header.coding {
      // As many levels are left out as leave the margin; means do the rest.
      while levels + 1 < coding.resolutions.count, reduction / Double(2 << levels) >= DecodePlan.margin { levels += 1 }
      scaled = coding.resolutions[levels].pixels
      shrink = min(max(Int(reduction / Double(1 << levels) / DecodePlan.margin), 1), Int(CDECODING_MAX_SHRINK))
    }
    request.discarded_levels = UInt32(levels)
    (request.scaled_width, request.scaled_height) = (UInt32(scaled.width), UInt32(scaled.height))
    // Without a colour, all values are 0.
    if let color = header.canvas ?? background {
      let colors = header.values(of: color)
      withUnsafeMutableBytes(of: &request.background) { $0.copyBytes(from: colors) }
    }
    request.keeps_alpha = header.canvas == nil && background == nil
    if case .tiles = header.coding { request.is_gbr = header.components == .rgb }
    request.is_premultiplied = header.isPremultiplied
    request.is_overlay = header.canvas != nil
    switch header.coding {
    case .tiff(let directory): request.start = directory
    case .png(let start): request.start = start
    case .raster(let layout): request.raster = layout.description
    case .psd(let layout): request.psd = layout.description
    case .gif, .webp, .tiles, .jpeg, .jxl, .jp2: break
    }
    let planes = header.planes(of: scaled, shrink: shrink)
    let (tiles, extents) = header.tiles
    self.init(
      request, planes: planes, tiles: tiles, extents: extents, longestProfile: header.longestProfile,
      decoderBytes: header.sumBytes(planes) + header.sampleBytes(scaledTo: scaled, levels) + header.workingBytes)
  }

  /// The picture that a decoder has made.
  ///
  /// - Parameters:
  ///   - header: the one that this request was made from.
  ///   - memory: at least ``memorySize`` bytes, which the decoder has filled.
  func picture(of header: PictureHeader, in memory: UnsafeRawBufferPointer) -> DecodedPicture {
    precondition(memory.count >= memorySize, "the memory for planes is too small")
    var size = (width: Double(request.scaled_width), height: Double(request.scaled_height))
    if request.discarded_levels > 0 {
      // The last sample of a halved side may lie outside the picture in part.
      let scale = Double(1 << request.discarded_levels)
      size = (Double(header.pixels.width) / scale, Double(header.pixels.height) / scale)
    }
    let planes = (planes + alpha).enumerated().map { index, plane in
      // Nothing writes to the planes of a picture.
      let base = UnsafeMutableRawPointer(mutating: memory.baseAddress! + Int(plane.offset))
      let view = PlaneView(
        base: base.assumingMemoryBound(to: UInt8.self), columns: Int(plane.columns), rows: Int(plane.rows),
        stride: Int(plane.columns))
      // At odd sizes, a part of the last chroma sample is outside the picture.
      let (across, down) = index == 0 ? (1, 1) : header.chroma
      return DecodedPlane(
        view: view, columnsExact: size.width / Double(across) / Double(plane.shrink_x),
        rowsExact: size.height / Double(down) / Double(plane.shrink_y))
    }
    return DecodedPicture(
      pixels: header.pixels, orientation: header.orientation, model: header.model, planes: planes,
      hasAlpha: keepsAlpha)
  }
}

extension PictureHeader {
  fileprivate var kind: cdecoding_kind {
    switch coding {
    case .png: CDECODING_PNG
    case .gif: CDECODING_GIF
    case .webp: CDECODING_WEBP
    case .tiff: CDECODING_TIFF
    case .tiles(.hevc, _): CDECODING_HEVC
    case .tiles(.av1, _): CDECODING_AV1
    case .raster: CDECODING_RASTER
    case .psd: CDECODING_PSD
    case .jxl: CDECODING_JXL
    case .jp2: CDECODING_JP2
    case .jpeg: preconditionFailure("a JPEG inside a file has no decoder here")
    }
  }

  /// The bytes of the samples that a library returns before they are averaged, which depend on how it scales.
  fileprivate func sampleBytes(scaledTo size: PixelSize, _ discardedLevels: Int) -> Int {
    switch coding {
    case .webp(let frame):
      frame.sampleBytes(scaledTo: frame.isScalable && frame.isLossy ? size : frame.pixels, hasAlpha: hasAlpha)
    case .jp2(let coding): coding.resolutions[discardedLevels].bytes
    case .png, .gif, .tiff, .tiles, .jpeg, .raster, .psd, .jxl: 0
    }
  }

  /// The most bytes of the profile that the decoder inflates; 0 if there is none.
  fileprivate var longestProfile: Int { if case .compressedProfile(let longest) = color { longest } else { 0 } }

  fileprivate var model: ColorModel {
    switch components {
    case .grey: .grey
    case .rgb: .rgb
    case .ycc(let matrix, _, _, _): .ycc(matrix)
    case .cmyk: .cmyk(inverted: false)
    }
  }

  /// Whether pixels are weighted: by their alpha, or by what lies above them.
  private var hasWeights: Bool { hasAlpha || canvas != nil }

  /// The bytes of the sums of which a decoder makes means; none if each sample stays as it is.
  fileprivate func sumBytes(_ planes: [cdecoding_plane]) -> Int {
    if canvas == nil, planes.allSatisfy({ $0.shrink_x == 1 && $0.shrink_y == 1 }) { return 0 }
    let samples = planes.map { Int($0.columns) * Int($0.rows) }
    return (samples.reduce(0, +) + (hasWeights ? samples.first ?? 0 : 0)) * MemoryLayout<UInt32>.size
  }

  /// How many pixels a sample of a chroma plane covers. Where pixels are weighted, each has its own chroma.
  fileprivate var chroma: (across: Int, down: Int) {
    if !hasWeights, case .ycc(_, _, let across, let down) = components { (across, down) } else { (1, 1) }
  }

  /// The planes of a picture, without their places in memory.
  fileprivate func planes(of pixels: PixelSize, shrink: Int) -> [cdecoding_plane] {
    let luma: (UInt8, UInt8)
    var others: (UInt8, UInt8) = (0, 255)
    let count: Int
    switch components {
    case .grey(let range): (luma, count) = (range.luma, 1)
    case .rgb: (luma, count) = ((0, 255), 3)
    case .ycc(_, let range, _, _): (luma, others, count) = (range.luma, range.chroma, 3)
    case .cmyk: (luma, count) = ((0, 255), 4)
    }
    return (0..<count).map { index in
      let (across, down) = index == 0 ? (1, 1) : chroma
      let (low, high) = index == 0 ? luma : others
      return cdecoding_plane(
        width: pixels.width.quotientUp(across), height: pixels.height.quotientUp(down), x: max(shrink / across, 1),
        y: max(shrink / down, 1), low: low, high: high)
    }
  }

  /// The values of the components for a colour, which are mixed in where the picture is transparent. A profile is not
  /// regarded: nearly all transparent pictures are sRGB, and white is white in all of them.
  fileprivate func values(of color: RGBColor) -> [UInt8] {
    let rgb = [color.red, color.green, color.blue]
    switch components {
    case .grey: return [YCbCrMatrix.bt601.ycc(color)[0]] + [0, 0, 0]
    case .rgb: return rgb + [0]
    case .ycc(let matrix, _, _, _): return matrix.ycc(color) + [0]
    case .cmyk: return rgb.map { 255 - $0 } + [0]
    }
  }
}

extension YCbCrRange {
  /// The 8-bit values that become 0 and 255.
  fileprivate var luma: (UInt8, UInt8) { self == .full ? (0, 255) : (16, 235) }
  fileprivate var chroma: (UInt8, UInt8) { self == .full ? (0, 255) : (16, 240) }
}

extension cdecoding_plane {
  fileprivate init(width: Int, height: Int, x: Int, y: Int, low: UInt8, high: UInt8) {
    self.init()
    (self.width, self.height) = (UInt32(width), UInt32(height))
    (shrink_x, shrink_y) = (UInt32(x), UInt32(y))
    (columns, rows) = (UInt32(width.quotientUp(x)), UInt32(height.quotientUp(y)))
    (self.low, self.high) = (low, high)
  }
}

extension PictureHeader {
  /// The tiles, and the extents of all of them.
  fileprivate var tiles: ([cdecoding_tile], [cdecoding_extent]) {
    switch coding {
    case .tiles(_, let parts):
      var (tiles, extents): ([cdecoding_tile], [cdecoding_extent]) = ([], [])
      for part in parts {
        tiles.append(cdecoding_tile(part, firstExtent: extents.count))
        extents += part.data.map { cdecoding_extent($0) }
      }
      return (tiles, extents)
    case .webp(let frame): return ([cdecoding_tile(frame)], frame.chunks.map { cdecoding_extent($0) })
    case .jp2(let coding): return ([], coding.extents.map { cdecoding_extent($0) })
    case .png, .gif, .tiff, .jpeg, .raster, .psd, .jxl: return ([], [])
    }
  }
}

extension cdecoding_tile {
  fileprivate init(_ tile: PictureTile, firstExtent: Int) {
    self.init(
      x: Int32(clamping: tile.x), y: Int32(clamping: tile.y), width: UInt32(clamping: tile.pixels.width),
      height: UInt32(clamping: tile.pixels.height), first_extent: UInt32(firstExtent),
      extent_count: UInt32(tile.data.count), configuration: cdecoding_extent(tile.configuration),
      is_alpha: tile.isAlpha, shown_layer: tile.layer.map { UInt8(clamping: $0 + 1) } ?? 0)
  }

  fileprivate init(_ frame: WebPFrame) {
    self.init()
    (x, y) = (Int32(clamping: frame.x), Int32(clamping: frame.y))
    (width, height) = (UInt32(clamping: frame.pixels.width), UInt32(clamping: frame.pixels.height))
    extent_count = UInt32(frame.chunks.count)
  }
}
