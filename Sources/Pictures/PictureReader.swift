import Thumbnails

/// Reads the headers of pictures, without any of the libraries that decode them.
///
/// From the outside in: it finds the parser of a picture's type (``PNGHeader``, ``WebPHeader``, ``TIFFHeader``,
/// ``RawFile``, ``HEIFReader``). The parser reads small parts of the file through a ``FileWindow`` and makes a
/// ``PictureHeader``: size, orientation, colours, smaller versions, and how the samples are coded. The ``PicturePlan``
/// of a header is either a JPEG in the file, which is decoded as any JPEG, or a ``DecodeRequest`` for the library of
/// the format. A decoded picture is planes of means, with colours by their ``ColorEncoding``. JPEG files with faults
/// have requests, too (``WholeJPEG``).
public enum PictureReader {
  /// Whether a picture of this type can be decoded. JPEG is not among them: it has decoders of its own. A build without the
  /// trait Formats decodes nothing but JPEG, which most RAW files have as previews.
  public static func reads(_ type: ImageType) -> Bool {
    #if Formats
    knows(type)
    #else
    type.isRaw && knows(type)
    #endif
  }

  /// Whether a build with all traits decodes pictures of this type.
  public static func knows(_ type: ImageType) -> Bool { parser(of: type) != nil }

  /// The header of a picture.
  ///
  /// - Parameters:
  ///   - source: the whole file.
  ///   - type: what the first bytes of the file say.
  /// - Throws: ``ThumbnailError``.
  public static func readHeader(of source: ByteReader, type: ImageType) throws(ThumbnailError) -> PictureHeader {
    guard let parse = parser(of: type) else { throw .unsupportedType(type) }
    do throws(ThumbnailError) {
      return try parse(try FileWindow(source))
    } catch {
      if case .unsupported(let reason, .jpeg) = error { throw .unsupported(reason, type: type) }
      throw error
    }
  }

  /// The header of a JPEG file with those of the previews that the camera has appended; nil if it has none of use.
  public static func readPreviews(ofJPEG source: ByteReader) throws(ThumbnailError) -> PictureHeader? {
    try MultiPictureFile.read(try FileWindow(source))
  }

  /// The size of the picture in a JPEG file, before it is turned; nil if our decoder does not read the file.
  public static func readPixels(ofJPEG source: ByteReader) throws(ThumbnailError) -> PixelSize? {
    let file = FileBlocks(try FileWindow(source))
    return try JPEGHead.read(file, FileExtent(offset: 0, size: file.size))?.pixels
  }

  private typealias Parser = @Sendable (FileWindow) throws(ThumbnailError) -> PictureHeader

  private static func parser(of type: ImageType) -> Parser? {
    switch type {
    case .png: PNGHeader.read
    case .gif: GIFHeader.read
    case .webp: WebPHeader.read
    case .tiff, .nef, .cr2, .arw, .dng, .orf, .rw2, .pef: TIFFHeader.read
    case .raf: RawFile.fujifilm
    case .cr3: RawFile.canon
    case .heic, .avif: HEIFReader.header
    case .bmp: BMPHeader.read
    case .ico: IconHeader.read
    case .tga: TGAHeader.read
    case .psd: PSDHeader.read
    case .jxl: JXLHeader.read
    case .jp2: JP2Header.read
    case .jpeg, .raw: nil
    }
  }
}
