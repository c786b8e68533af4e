import Thumbnails

/// Reads the header of a TIFF or BigTIFF picture: that of its first page, and of its smaller versions. A RAW file with the
/// structure of a TIFF file is recognised, and read as such.
///
/// *Source*: TIFF 6.0; TIFF Technical Note 1 (SubIFDs).
enum TIFFHeader {
  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let file = FileBlocks(window)
    guard let structure = try TIFFStructure(file: file, at: 0) else {
      throw .damaged("its header is not that of a TIFF file")
    }
    let pages = try TIFFPages(structure)
    if let type = try RawFile.type(of: pages) { return try RawFile.header(type, pages) }
    return try header(pages)
  }

  /// The header of a file that is no RAW file.
  private static func header(_ pages: TIFFPages) throws(ThumbnailError) -> PictureHeader {
    // TIFF/EP may have the reduced picture first, and the whole one in a directory inside it.
    let isWhole: (TIFFPage) -> Bool = { !$0.isReduced && !$0.isMask && $0.hasSize }
    guard let main = pages.chain.first(where: isWhole) ?? pages.all.first(where: isWhole) ?? pages.chain.first else {
      throw .damaged("the file has no directory")
    }
    guard main.hasSize else {
      // A value that is not there may be the size, or what makes the file a RAW file.
      if pages.isCut { throw .truncated("the file ends before what its directory refers to") }
      throw main.pixels.width == 0 || main.pixels.height == 0
        ? .damaged("the picture has no size") : .unsupported("a picture of \(main.pixels)")
    }
    guard var header = try header(of: main) else { throw unsupported(main) }
    // A reduced page of black and white has no greys for the means of its samples, and shows lines too bold.
    for page in pages.all where page.isReduced && !page.isMask && page.hasSize && page.bitsPerSample > 1 {
      guard page.pixels.count < main.pixels.count, page.pixels.hasShape(of: main.pixels),
        var reduced: PictureHeader = try Self.header(of: page), reduced.components == header.components
      else { continue }
      // Programs write the orientation and the profile in the directory of the whole picture only.
      if try page.directory.orientation == nil { reduced.orientation = header.orientation }
      if !page.directory.has(.iccProfile) { reduced.color = header.color }
      header.reduced.append(reduced)
    }
    if pages.hasMore || pages.chain.contains(where: { isWhole($0) && $0.directory.offset != main.directory.offset }) {
      header.remarks.append("only the first of several pages is shown")
    }
    return header
  }

  /// The header of one page; nil if its samples are of a kind that is not decoded.
  static func header(of page: TIFFPage, type: ImageType = .tiff) throws(ThumbnailError) -> PictureHeader? {
    guard page.hasSize, let (components, colors) = try components(page) else { return nil }
    let structure = page.directory.structure
    guard let directory = structure.place(page.directory.offset) else { return nil }
    let hasAlpha = try hasAlpha(page, colors: colors)
    let samplesRead = hasAlpha ? colors + 1 : colors
    let memory = try TIFFMemory.bytes(for: page, samplesRead: samplesRead)
    var header = PictureHeader(
      type: type, pixels: page.pixels, components: components, coding: .tiff(directory: directory), workingBytes: memory
    )
    header.rareBytes = try TIFFMemory.rareBytes(for: page, samplesRead: samplesRead)
    header.orientation = try page.directory.orientation ?? .upright
    header.hasAlpha = hasAlpha
    if let profile = page.directory.extent(.iccProfile), profile.size <= UInt64(PictureHeader.longestBlock) {
      header.color = .profile(profile)
    }
    return header
  }

  /// Whether the sample after the colours is alpha. Other extra samples are not shown, and none beside four inks.
  private static func hasAlpha(_ page: TIFFPage, colors: Int) throws(ThumbnailError) -> Bool {
    guard page.samplesPerPixel > colors, colors < 4, !page.isConverted else { return false }
    // EXTRASAMPLE_ASSOCALPHA and EXTRASAMPLE_UNASSALPHA.
    if let extra = try page.directory.integer(.extraSamples) { return extra == 1 || extra == 2 }
    // Programs leave out the tag.
    return page.photometric == TIFFPage.Photometric.rgb && page.samplesPerPixel == 4 && !page.directory.has(.matteing)
  }

  /// The meaning of a page's samples, and how many of them are colours.
  private static func components(
    _ page: TIFFPage
  ) throws(ThumbnailError) -> (PictureHeader.Components, colors: Int)? {
    typealias Photometric = TIFFPage.Photometric
    guard (1...65_535).contains(page.samplesPerPixel), (1...64).contains(page.bitsPerSample) else { return nil }
    switch page.photometric {
    case Photometric.whiteIsZero, Photometric.blackIsZero, Photometric.mask, Photometric.logL: return (.grey(.full), 1)
    case Photometric.palette: return (.rgb, 1)
    case Photometric.rgb, Photometric.ycc, Photometric.cieLab, Photometric.iccLab, Photometric.logLuv:
      return page.samplesPerPixel >= 3 || page.photometric == Photometric.logLuv ? (.rgb, 3) : nil
    case Photometric.separated:
      let inkSet = try page.directory.integer(.inkSet) ?? 1
      return inkSet == 1 && page.samplesPerPixel >= 4 ? (.cmyk, 4) : nil
    // Some programs leave the tag out.
    case nil: return page.samplesPerPixel >= 3 ? (.rgb, 3) : (.grey(.full), 1)
    default: return nil
    }
  }

  private static func unsupported(_ page: TIFFPage) -> ThumbnailError {
    let interpretation = page.photometric.map(String.init) ?? "none"
    return .unsupported(
      "\(page.samplesPerPixel) samples a pixel of photometric interpretation \(interpretation)")
  }
}
