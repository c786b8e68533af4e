@testable import Thumbnails

extension FuzzTarget {
  /// Targets of the room Thumbnails. `decoder.c` has the one of CLibJPEG.
  static let pictures = [
    FuzzTarget(name: "thumbnail", run: thumbnail), FuzzTarget(name: "blocks", run: blocks),
    FuzzTarget(name: "exif", run: exif), FuzzTarget(name: "profile", run: profile),
  ]

  /// Larger pictures take long and show nothing else.
  private static let mostPixels = 1 << 20

  /// The whole way from a file to thumbnails. Each thumbnail must be a JPEG without a flaw, of the size that was
  /// planned.
  private static func thumbnail(_ input: UnsafeRawBufferPointer) {
    let source = ByteReader(bytes: Array(input))
    let options = options(choice(input))
    guard let info = try? ThumbnailMaker.readInfo(of: source, for: options) else { return }
    precondition(info.bytesNeeded(for: options) > 0)
    var made: [(pixels: PixelSize, bytes: [UInt8])] = []
    let making: Void? = try? {
      _ = try ThumbnailMaker().makeThumbnails(of: source, options: options, monitor: StoppingMonitor()) {
        made.append(($0.pixels, Array($0.bytes)))
      }
    }()
    precondition(making == nil || made.count == options.sizes.count)
    for (pixels, bytes) in made {
      guard let decoder = try? JPEGDecoder(source: ByteReader(bytes: bytes), failOn: .warning, monitor: nil),
        (try? DecodeWorkspace().decode(decoder, 1, skippingFineScans: false)) != nil
      else { preconditionFailure("a thumbnail is damaged") }
      precondition(SourceInfo(decoder).pixels == pixels, "a thumbnail has another size")
    }
  }

  private static func options(_ choice: Int) -> ThumbnailOptions {
    let sizes = ["8", "32", "40x16^", "24x24!", "96", "x300"].compactMap { try? SizeSpec(parsing: $0) }
    return ThumbnailOptions(
      sizes: choice & 1 == 0 ? [sizes[choice / 8 % sizes.count]] : Array(sizes.prefix(2)),
      progressive: choice & 0x100 != 0, subsampling: choice & 0x200 != 0 ? .s444 : .s420,
      keep: KeptMetadata(rawValue: UInt8(choice >> 10 & 31)), linear: choice & 2 != 0,
      failOn: FailOn.allCases[(choice >> 1 & 3) % 3], limitPixels: mostPixels)
  }

  /// The block decoder beside libjpeg: what it decodes of a sequential file, libjpeg decodes to the same samples. Of a
  /// progressive file it stops reading when it has enough.
  private static func blocks(_ input: UnsafeRawBufferPointer) {
    let source = ByteReader(bytes: Array(input))
    guard let decoder = try? JPEGDecoder(source: source, failOn: .truncated, monitor: nil) else { return }
    let info = SourceInfo(decoder)
    guard info.pixels.width * info.pixels.height <= mostPixels, BlockDecoder.supports(info) else { return }
    let (buffer, masks) = (PlaneBuffer(), PlaneBuffer())
    let side = choice(input) & 1 == 0 ? 1 : 2
    var blocks = BlockDecoder(decoder.input, header: info, side: side)
    guard let planes = try? blocks.decode(into: buffer, masksIn: masks), side == 1, !info.isProgressive else { return }
    let workspace = DecodeWorkspace()
    guard let reference = try? JPEGDecoder(source: source, failOn: .error, monitor: nil),
      let expected = try? workspace.decode(reference, 8, skippingFineScans: false)
    else { preconditionFailure("libjpeg finds damage where the block decoder finds none") }
    let hMax = info.sampling.map(\.h).max() ?? 1
    let mcus = (info.pixels.width + 8 * hMax - 1) / (8 * hMax)
    withExtendedLifetime((workspace, buffer)) {
      for (index, (plane, other)) in zip(planes, expected).enumerated() {
        // libjpeg decodes some subsampled planes at a larger scale.
        guard other.view.stride == mcus * info.sampling[index].h else { continue }
        for row in 0..<min(plane.view.rows, other.view.rows) {
          let (mine, theirs) = (plane.view.row(row), other.view.row(row))
          for column in 0..<plane.view.columns { precondition(mine[column] == theirs[column], "a sample differs") }
        }
      }
    }
  }

  private static func exif(_ input: UnsafeRawBufferPointer) {
    input.withMemoryRebound(to: UInt8.self) { block in
      let orientation = ExifOrientation.read(block)
      precondition(Orientation(rawValue: orientation.rawValue) == orientation)
      guard let parsed = ExifBlock(block) else { return }
      if choice(input) & 2 == 0 {
        _ = parsed.extractCopyright()
      } else {
        let whole = parsed.whole(for: PixelSize(width: 256, height: 171), withPlace: choice(input) & 1 == 0)
        guard whole.count > 6 else { return }
        // What goes into a thumbnail says that it is upright.
        let upright = whole[6...].withContiguousStorageIfAvailable { ExifOrientation.read($0) }
        precondition(upright == .upright)
      }
    }
  }

  private static func profile(_ input: UnsafeRawBufferPointer) {
    let kind = [ProfileKind.grey, .rgb, .cmyk][choice(input) % 3]
    input.withMemoryRebound(to: UInt8.self) { bytes in
      guard case .pixels(let transform) = ProfileReader().conversion(for: bytes, kind: kind) else { return }
      let pixels = [UInt8](repeating: 77, count: 4 * 64)
      var colors = [UInt8](repeating: 0, count: 3 * 64)
      transform.convert(pixels, into: &colors, count: 64)
    }
  }
}

/// Stops a decoding that takes too many steps.
private final class StoppingMonitor: ThumbnailMonitor {
  private var calls = 0

  func entered(_ stage: ThumbnailStage) {}
  func progressed(to share: Double) { precondition((0...1).contains(share)) }
  var isCancelled: Bool {
    calls += 1
    return calls > 20_000
  }
}
