import CDecoding
import Marks
import Sandbox
import Thumbnails

/// Encodes thumbnails of one owner in encoder processes.
struct ProcessEncoder: ThumbnailEncoder {
  private let pool: LazyPool
  private let owner: PictureOwner

  init(_ pool: LazyPool, owner: PictureOwner) { (self.pool, self.owner) = (pool, owner) }

  func encode(
    _ picture: RenderedPicture, as format: ThumbnailFormat, _ options: ThumbnailOptions,
    _ metadata: ThumbnailMetadata, monitor: (any ThumbnailMonitor)?
  ) throws -> [UInt8] {
    let order = Self.order(for: picture, as: format, options, metadata, owner)
    do throws(SandboxError) {
      let file = try pool.started().encode(order, isCancelled: { monitor?.isCancelled == true })
      // A picture may have taken the process over.
      guard ThumbnailMark.fits(file, format) else { throw .brokenProtocol("a file of another format") }
      return file
    } catch {
      throw PictureDecoders.failure(error, of: .encoder)
    }
  }

  private static func order(
    for picture: RenderedPicture, as format: ThumbnailFormat, _ options: ThumbnailOptions,
    _ metadata: ThumbnailMetadata, _ owner: PictureOwner
  ) -> EncodingOrder {
    let memory = EncodingMemory(
      format, picture.pixels, picture.layout, isGrey: picture.colors.count == 1, options)
    let encoding = FormatEncoding(format, options)
    var request = cencoding_request()
    request.format = format.number
    (request.width, request.height) = (UInt32(picture.pixels.width), UInt32(picture.pixels.height))
    request.samples =
      picture.colors.count == 1 ? CENCODING_GREY : picture.layout.colors == .rgb ? CENCODING_RGB : CENCODING_YCC
    request.has_alpha = picture.alpha != nil
    request.is_lossless = encoding.isLossless
    (request.quality, request.effort) = (UInt8(encoding.quality), UInt8(encoding.effort))
    let planes = picture.colors + (picture.alpha.map { [$0] } ?? [])
    var end = 0
    func extent(_ size: Int) -> cdecoding_extent {
      defer { end += size }
      return cdecoding_extent(offset: UInt64(end), size: UInt64(size))
    }
    var places: [Int] = []
    withUnsafeMutableBytes(of: &request.planes) { bytes in
      for (index, plane) in planes.enumerated() {
        let place = extent(plane.columns * plane.rows)
        places.append(Int(place.offset))
        bytes.storeBytes(
          of: cencoding_plane(offset: place.offset, columns: UInt32(plane.columns), rows: UInt32(plane.rows)),
          toByteOffset: index * MemoryLayout<cencoding_plane>.stride, as: cencoding_plane.self)
      }
    }
    let icc = metadata.profile.prefix(Self.size(ofProfile: metadata.profile))
    request.exif = extent(metadata.exif.count)
    request.profile = extent(icc.count)
    request.file = extent(memory.file + metadata.exif.count + icc.count)
    let (exif, profile) = (Int(request.exif.offset), Int(request.profile.offset))
    return EncodingOrder(request, memoryBytes: end, workingBytes: memory.working, owner: owner) { bytes in
      for (plane, place) in zip(planes, places) { plane.copy(to: bytes, at: place) }
      bytes[exif...].copyBytes(from: metadata.exif)
      bytes[profile...].copyBytes(from: icc)
    }
  }

  /// The bytes of a profile by its header, which libpng compares with its length (ICC.1:2022, 7.2.2); all if there are fewer.
  private static func size(ofProfile bytes: [UInt8]) -> Int {
    let size = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    return bytes.count >= 128 && size >= 128 && size <= bytes.count ? size : bytes.count
  }
}

extension ThumbnailFormat {
  fileprivate var number: cencoding_format {
    switch self {
    case .jpeg: preconditionFailure("no process encodes JPEG")
    case .webp: CENCODING_WEBP
    case .avif: CENCODING_AVIF
    case .png: CENCODING_PNG
    }
  }
}
