import CLibJPEG
import Testing

@testable import Thumbnails

/// A decoded JPEG, whose samples tests can compare.
struct Picture {
  let pixels: PixelSize
  let planes: [(columns: Int, rows: Int, samples: [UInt8])]
  let isProgressive: Bool
  let exif: [UInt8]
  let profile: [UInt8]

  init(_ bytes: [UInt8]) throws {
    let decoder = try JPEGDecoder(source: ByteReader(bytes: bytes), failOn: .warning, monitor: nil)
    pixels = PixelSize(width: Int(decoder.header.width), height: Int(decoder.header.height))
    isProgressive = decoder.header.progressive
    exif = Array(decoder.exif)
    profile = Array(decoder.profile)
    let layouts = try decoder.setScale(1)
    let buffers = layouts.map { _ in PlaneBuffer() }
    var views: [PlaneView] = []
    for (layout, buffer) in zip(layouts, buffers) {
      views.append(
        try buffer.plane(
          columns: layout.columns, rows: layout.rows, stride: layout.min_stride, paddedRows: layout.min_rows))
    }
    try decoder.decode(
      into: zip(views, layouts).map { clibjpeg_plane(data: $0.base, stride: $0.stride, rows: $1.min_rows) })
    planes = views.map { view in
      (view.columns, view.rows, (0..<view.rows).flatMap { row in (0..<view.columns).map { view.row(row)[$0] } })
    }
    withExtendedLifetime(buffers) {}
  }

  /// A component's value at a point, which is given as fractions of width and height.
  func value(_ component: Int, _ x: Double, _ y: Double) -> Int {
    let plane = planes[component]
    let column = min(Int(x * Double(plane.columns)), plane.columns - 1)
    let row = min(Int(y * Double(plane.rows)), plane.rows - 1)
    return Int(plane.samples[row * plane.columns + column])
  }

  /// All components at a point.
  func color(_ x: Double, _ y: Double) -> [Int] { planes.indices.map { value($0, x, y) } }

  /// Red, green and blue at a point.
  func rgb(_ x: Double, _ y: Double) -> [Int] {
    let color = color(x, y).map { UInt8($0) }
    let (r, g, b) = color.count == 1 ? (color[0], color[0], color[0]) : YCbCr.jpeg.rgb(color[0], color[1], color[2])
    return [Int(r), Int(g), Int(b)]
  }
}

/// The thumbnails of a source that is in memory.
func thumbnails(
  of source: [UInt8], _ options: ThumbnailOptions, maker: ThumbnailMaker = ThumbnailMaker()
) throws -> [[UInt8]] {
  var made: [[UInt8]] = []
  try maker.makeThumbnails(of: ByteReader(bytes: source), options: options) { made.append(Array($0.bytes)) }
  return made
}

/// The thumbnail of one size, decoded. Its quality is 100 unless `change` sets another.
func thumbnail(
  of source: [UInt8], _ size: String, maker: ThumbnailMaker = ThumbnailMaker(),
  change: (inout ThumbnailOptions) -> Void = { _ in }
) throws -> Picture {
  var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: size)], quality: 100)
  change(&options)
  let made = try thumbnails(of: source, options, maker: maker)
  return try Picture(try #require(made.first))
}

/// Whether two colours are equal to within a few steps.
func isClose(_ a: [Int], _ b: [Int], within tolerance: Int = 4) -> Bool {
  a.count == b.count && zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
}
