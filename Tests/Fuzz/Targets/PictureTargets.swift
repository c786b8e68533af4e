@testable import Pictures
@testable import Thumbnails

extension FuzzTarget {
  /// Targets of the rooms Thumbnails and Pictures. `decoder.c` has the one of CLibJPEG, and `pictures.c` those of
  /// CPictures.
  static let pictures = [
    FuzzTarget(name: "thumbnail", run: thumbnail), FuzzTarget(name: "blocks", run: blocks),
    FuzzTarget(name: "exif", run: exif), FuzzTarget(name: "profile", run: profile),
    FuzzTarget(name: "directories", run: directories), FuzzTarget(name: "multi-picture", run: multiPicture),
    FuzzTarget(name: "png-header", run: pngHeader), FuzzTarget(name: "gif-header", run: gifHeader),
    FuzzTarget(name: "webp-header", run: webPHeader), FuzzTarget(name: "other-headers", run: otherHeaders),
    FuzzTarget(name: "heif", run: heif), FuzzTarget(name: "cr3", run: cr3),
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

  /// What the header says of the first frame must be what its decoder may be asked for.
  private static func webPHeader(_ input: UnsafeRawBufferPointer) {
    guard let window = try? FileWindow(ByteReader(bytes: Array(input))), let header = try? WebPHeader.read(window),
      case .webp(let frame) = header.coding
    else { return }
    precondition(header.pixels.width > 0 && header.pixels.height > 0 && header.workingBytes > 0)
    precondition(frame.x >= 0 && frame.x + frame.pixels.width <= header.pixels.width)
    precondition(frame.y >= 0 && frame.y + frame.pixels.height <= header.pixels.height)
    precondition((1...2).contains(frame.chunks.count) && frame.chunks.allSatisfy { $0.size >= 8 })
    // The rows of a lossless frame become means at once.
    precondition((frame.sampleBytes(scaledTo: frame.pixels, hasAlpha: header.hasAlpha) > 0) == frame.isLossy)
    if let exif = header.exif { precondition(exif.size <= UInt64(input.count) && exif.offset < UInt64(input.count)) }
  }

  /// The headers of BMP, TGA and Photoshop files, icons, JPEG XL and JPEG 2000.
  private static func otherHeaders(_ input: UnsafeRawBufferPointer) {
    let source = ByteReader(bytes: Array(input))
    guard let type = ImageType.sniff(input), [.bmp, .tga, .psd, .ico, .jxl, .jp2].contains(type),
      let header = try? PictureReader.readHeader(of: source, type: type)
    else { return }
    precondition(header.pixels.width > 0 && header.pixels.height > 0 && header.workingBytes > 0)
    precondition(max(header.pixels.width, header.pixels.height) <= PictureHeader.largestSide)
    if let exif = header.exif { precondition(exif.size <= UInt64(input.count) && exif.offset < UInt64(input.count)) }
    _ = try? header.plan(for: ThumbnailOptions(sizes: [SizeSpec(parsing: "256")]))
  }

  /// The header of a HEIF file: all parts of the file that it names are in the file.
  private static func heif(_ input: UnsafeRawBufferPointer) {
    guard let file = try? FileWindow(ByteReader(bytes: Array(input))),
      let header = try? HEIFReader.header(of: file)
    else { return }
    for version in [header] + header.reduced {
      precondition(version.pixels.width > 0 && version.pixels.height > 0 && version.workingBytes >= 0)
      var extents = [version.exif].compactMap { $0 }
      if case .profile(let profile) = version.color { extents.append(profile) }
      if case .tiles(_, let tiles) = version.coding {
        extents += tiles.flatMap { $0.data + [$0.configuration] }
        // Alpha precedes colours, and there are some.
        precondition(tiles.last?.isAlpha == false && version.hasAlpha == tiles[0].isAlpha)
      }
      for extent in extents {
        precondition(extent.offset <= UInt64(input.count) && extent.size <= UInt64(input.count) - extent.offset)
      }
    }
  }

  private static func cr3(_ input: UnsafeRawBufferPointer) {
    guard let file = try? FileWindow(ByteReader(bytes: Array(input))), let raw = try? CanonRawFile(file) else { return }
    for extent in raw.previews + [raw.exif].compactMap({ $0 }) {
      precondition(extent.offset <= UInt64(input.count) && extent.size <= UInt64(input.count) - extent.offset)
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

extension FuzzTarget {
  /// The headers of TIFF pictures and of RAW files.
  private static func directories(_ input: UnsafeRawBufferPointer) {
    checkHeader(input) { window in
      ImageType.sniff(input.prefix(ImageType.sniffLength)) == .raf
        ? try RawFile.fujifilm(window) : try TIFFHeader.read(window)
    }
  }

  private static func multiPicture(_ input: UnsafeRawBufferPointer) {
    checkHeader(input) { try MultiPictureFile.read($0) }
  }

  private static func pngHeader(_ input: UnsafeRawBufferPointer) {
    checkHeader(input, mostReads: PNGChunks.mostChunks + 100) { try PNGHeader.read($0) }
  }

  private static func gifHeader(_ input: UnsafeRawBufferPointer) {
    checkHeader(input, mostReads: input.count / 256 + 100) { try GIFHeader.read($0) }
  }

  /// What a header refers to is inside the file, and little is read for it.
  private static func checkHeader(
    _ input: UnsafeRawBufferPointer, mostReads: Int = 64, read: (FileWindow) throws -> PictureHeader?
  ) {
    let bytes = ByteReader(bytes: Array(input))
    var reads = 0
    let counting = ByteReader(size: input.count) { offset, buffer in
      reads += 1
      return bytes.read(at: offset, into: buffer)
    }
    guard let window = try? FileWindow(counting) else { return }
    let header = (try? read(window)) ?? nil
    precondition(reads <= mostReads, "too much is read")
    guard let header else { return }
    let size = UInt64(input.count)
    for version in [header] + header.reduced {
      precondition(version.reduced.isEmpty || version.coding == header.coding)
      precondition((1...1_000_000).contains(version.pixels.width) && (1...1_000_000).contains(version.pixels.height))
      precondition(version.pixels.count <= header.pixels.count && version.workingBytes >= 0)
      var extents = [version.exif].compactMap { $0 }
      switch version.coding {
      case .jpeg(let extent): extents.append(extent)
      case .tiff(let directory): extents.append(FileExtent(offset: directory, size: 2))
      case .png, .gif: break
      default: preconditionFailure("another coding")
      }
      if case .profile(let profile) = version.color { extents.append(profile) }
      for extent in extents {
        precondition(extent.offset <= size && extent.size <= size - extent.offset, "a part is outside the file")
      }
    }
    let target = PixelSize(width: 1 + choice(input) & 255, height: 1 + choice(input) >> 8)
    let version = header.smallestVersion(for: target)
    precondition(
      version.coding == header.coding
        || version.orientedPixels.width >= 2 * target.width && version.orientedPixels.height >= 2 * target.height)
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
