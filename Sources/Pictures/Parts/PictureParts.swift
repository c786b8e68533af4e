import Thumbnails

/// Finds out which parts of a file its thumbnails need, while not all of it is there.
///
/// The headers are read by the same code as when the thumbnails are made. So that code will read again what it read here,
/// and if it is all there, the thumbnails are those of the whole file.
public enum PictureParts {
  /// Whether parts of a file of this type may be enough. Of others, all is needed, or what comes first.
  ///
  /// - Parameter options: of all outputs.
  package static func mayBeEnough(of type: ImageType, for options: [ThumbnailOptions]) -> Bool {
    guard options.allSatisfy({ $0.failOn != .warning }) else { return false }
    switch type {
    case .nef, .cr2, .cr3, .arw, .dng, .orf, .rw2, .pef, .raf, .heic, .avif: return true
    // Many kinds of RAW files begin as a TIFF file does.
    case .tiff: return true
    // Previews that cameras append (Multi-Picture Format).
    case .jpeg: return options.allSatisfy { $0.previews == .prefer }
    case .png, .gif, .webp, .raw, .bmp, .tga, .jxl, .jp2, .psd, .ico: return false
    }
  }

  /// A file in more parts than this is fetched whole.
  private static let mostParts = 4096

  /// The missing bytes that the thumbnails need, as far as known: if part of a header is missing, only that part.
  ///
  /// - Parameters:
  ///   - file: what is there of the file.
  ///   - size: the bytes of the whole file.
  ///   - isNamedRaw: whether its name says that it is no other TIFF file.
  ///   - options: of all outputs.
  /// - Returns: nil if all of the file is needed, or may be.
  package static func missing(
    of type: ImageType, in file: ByteReader, held: RangeSet<Int>, size: Int, isNamedRaw: Bool,
    for options: [ThumbnailOptions]
  ) -> RangeSet<Int>? {
    guard !options.isEmpty, mayBeEnough(of: type, for: options) else { return nil }
    var needed = RangeSet<Int>()
    for options in options {
      let bytes = PartialBytes(file, held: held)
      let reader = bytes.reader(size: size)
      // A TIFF picture is read whole, and its directories may be anywhere.
      if type == .tiff, !((try? FileWindow(reader)).map(RawFile.mayBeRaw) ?? false) {
        guard isNamedRaw, !bytes.missed.isEmpty else { return nil }
        needed.formUnion(bytes.missed)
        continue
      }
      let found = Result { () throws(ThumbnailError) in try data(in: reader, type, size: size, for: options) }
      // A parser does without much that it cannot read. So what was missing counts, and not what came out.
      guard bytes.missed.isEmpty else {
        needed.formUnion(bytes.missed)
        continue
      }
      // A header that cannot be read fails again, whatever follows it.
      guard case .success(let parts) = found else { continue }
      guard let parts, parts.count <= mostParts else { return nil }
      needed.formUnion(RangeSet(parts))
    }
    return needed.subtracting(held)
  }

  /// The parts of which thumbnails are made, besides what was read of the header; nil if they may be any.
  private static func data(
    in reader: ByteReader, _ type: ImageType, size: Int, for options: ThumbnailOptions
  ) throws(ThumbnailError) -> [Range<Int>]? {
    var extents: [FileExtent]
    let header: PictureHeader
    if type == .jpeg {
      guard let previews = try PictureReader.readPreviews(ofJPEG: reader), !previews.reduced.isEmpty else { return nil }
      header = previews
    } else {
      header = try PictureReader.readHeader(of: reader, type: type)
    }
    switch try header.plan(for: options) {
    case .jpeg(let extent, _): extents = [extent]
    case .decoder(_, let version):
      guard case .tiles(_, let tiles) = version.coding else { return nil }
      extents = tiles.flatMap { $0.data + [$0.configuration] }
      if case .profile(let profile) = version.color { extents.append(profile) }
      let needsExif = !options.keep.isDisjoint(with: [.exif, .copyright, .gps])
      if needsExif, let exif = version.exif { extents.append(exif) }
    }
    return extents.compactMap { extent in
      // What is outside the file is read from no file.
      guard extent.offset < UInt64(size), extent.size > 0 else { return nil }
      return Int(extent.offset)..<Int(extent.offset + min(extent.size, UInt64(size) - extent.offset))
    }
  }
}
