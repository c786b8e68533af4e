import CLibJPEG

/// Encodes planes as JPEG files. The output buffer is reused for the next picture.
final class JPEGEncoder {
  /// From this height on, all coefficients of a baseline picture are never held at once.
  static let sampledHeight = Int(CLIBJPEG_SAMPLED_FROM) * 16

  /// The size of a file that shows noise, which makes the largest files. The bytes for each sample were measured at
  /// each quality.
  static func expectedSize(samples: Int, _ quality: Int) -> Int {
    let quality = Double(min(max(quality, 1), 100))
    let bytesPerSample = 0.26 + 0.0055 * min(quality, 80) + 0.023 * max(quality - 80, 0)
    return 64 << 10 + Int(Double(samples) * bytesPerSample)
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
  ///   - picture: not of RGB, and not transparent.
  ///   - monitor: decides at every row of MCUs whether to stop.
  /// - returns: the file's bytes, valid until the next call.
  /// - throws: `outOfMemory`, `cancelled`.
  func encode(
    _ picture: RenderedPicture, options: ThumbnailOptions, metadata: ThumbnailMetadata,
    monitor: (any ThumbnailMonitor)?
  ) throws(ThumbnailError) -> UnsafeRawBufferPointer {
    let (planes, pixels) = (picture.colors, picture.pixels)
    // libjpeg calls back only during the call made here, while `cancellation` is alive.
    let cancellation = Cancellation(monitor)
    let context = Unmanaged.passUnretained(cancellation).toOpaque()
    clibjpeg_encoder_watch(
      handle,
      { context in Unmanaged<Cancellation>.fromOpaque(context).takeUnretainedValue().monitor?.isCancelled == true },
      context
    )
    defer { withExtendedLifetime(cancellation) { clibjpeg_encoder_unwatch(handle) } }
    var views = planes.map { clibjpeg_plane(data: $0.base, stride: $0.stride, rows: $0.rows) }
    while views.count < 3 { views.append(clibjpeg_plane()) }
    var bytes: UnsafePointer<UInt8>?
    var size = 0
    let samples = planes.reduce(0) { $0 + $1.columns * $1.rows }
    let status = metadata.exif.withUnsafeBufferPointer { exif in
      metadata.profile.withUnsafeBufferPointer { profile in
        var encoding = clibjpeg_encoding(
          width: UInt32(pixels.width), height: UInt32(pixels.height), grey: planes.count == 1,
          half_chroma: picture.layout.halvesChroma,
          progressive: options.isProgressive(pixelCount: pixels.count),
          quality: Int32(min(max(options.quality, 1), 100)),
          expected_size: Self.expectedSize(samples: samples, options.quality),
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

  /// Holds the monitor for libjpeg's callback.
  private final class Cancellation {
    let monitor: (any ThumbnailMonitor)?

    init(_ monitor: (any ThumbnailMonitor)?) { self.monitor = monitor }
  }

  /// Frees the output buffer if it is larger than most thumbnails need.
  func shrink() { clibjpeg_encoder_shrink(handle, 256 << 10) }

  /// Frees the output buffer.
  func trim() { clibjpeg_encoder_trim(handle) }
}
