import CLibJPEG

/// Planes in, a JPEG file's bytes out; its output buffer is used again for the next picture.
final class JPEGEncoder {
  /// What goes into the file beside the picture. Empty for none.
  struct Metadata {
    var exif: [UInt8] = []
    var profile: [UInt8] = []
  }

  private let handle: OpaquePointer

  init() throws(ThumbnailError) {
    guard let handle = clibjpeg_encoder_create() else { throw .outOfMemory }
    self.handle = handle
  }

  deinit { clibjpeg_encoder_destroy(handle) }

  /// Encodes one grey plane or three YCbCr planes.
  ///
  /// - parameters:
  ///   - planes: chroma with half as many rows and columns, rounded up, where `halfChroma` is set.
  ///   - monitor: asked for every row of blocks whether to stop.
  /// - returns: the file's bytes, valid until the next call.
  /// - throws: `outOfMemory`, `cancelled`.
  func encode(
    _ planes: [PlaneView], pixels: PixelSize, halfChroma: Bool, options: ThumbnailOptions, metadata: Metadata,
    monitor: (any ThumbnailMonitor)?
  ) throws(ThumbnailError) -> UnsafeRawBufferPointer {
    // libjpeg calls back only from inside the call made here, while `question` is held.
    let question = Question(monitor)
    let context = Unmanaged.passUnretained(question).toOpaque()
    clibjpeg_encoder_watch(
      handle,
      { context in Unmanaged<Question>.fromOpaque(context).takeUnretainedValue().monitor?.isCancelled == true }, context
    )
    defer { withExtendedLifetime(question) { clibjpeg_encoder_unwatch(handle) } }
    var views = planes.map { clibjpeg_plane(data: $0.base, stride: $0.stride, rows: $0.rows) }
    while views.count < 3 { views.append(clibjpeg_plane()) }
    var bytes: UnsafePointer<UInt8>?
    var size = 0
    let status = metadata.exif.withUnsafeBufferPointer { exif in
      metadata.profile.withUnsafeBufferPointer { profile in
        var encoding = clibjpeg_encoding(
          width: UInt32(pixels.width), height: UInt32(pixels.height), grey: planes.count == 1, half_chroma: halfChroma,
          progressive: options.progressive, quality: Int32(min(max(options.quality, 1), 100)),
          exif: exif.baseAddress, exif_size: exif.count, icc: profile.baseAddress, icc_size: profile.count)
        return clibjpeg_encoder_encode(handle, &encoding, views, &bytes, &size)
      }
    }
    switch status {
    case CLIBJPEG_OK: return UnsafeRawBufferPointer(start: bytes, count: size)
    case CLIBJPEG_CANCELLED: throw .cancelled
    case CLIBJPEG_NO_MEMORY: throw .outOfMemory
    default: throw .internalFault(String(cString: clibjpeg_encoder_message(handle)))
    }
  }

  /// What libjpeg's callback reaches.
  private final class Question {
    let monitor: (any ThumbnailMonitor)?

    init(_ monitor: (any ThumbnailMonitor)?) { self.monitor = monitor }
  }

  /// Gives the output buffer back where it is larger than most thumbnails need.
  func shrink() { clibjpeg_encoder_shrink(handle, 256 << 10) }

  /// Gives the output buffer back.
  func trim() { clibjpeg_encoder_trim(handle) }
}
