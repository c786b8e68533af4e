import CLibJPEG
import Foundation

/// Decodes one source with libjpeg, and reports errors as `ThumbnailError`.
final class JPEGDecoder {
  /// The source's header.
  let header: clibjpeg_header
  private let handle: OpaquePointer
  /// The bytes that it reads, which another decoder of the same source may use.
  let input: DecoderInput
  private let failOn: FailOn

  /// Reads the header.
  ///
  /// - parameters:
  ///   - progress: the fraction that has already been reported to the monitor; later reports are not lower.
  ///   - measuring: whether only the header is needed. If so, the size of the profile is kept, but not its bytes.
  /// - throws: `notAnImage`, `unsupportedType`, `empty`, and the errors of a damaged header.
  init(
    source: ByteReader, failOn: FailOn, monitor: (any ThumbnailMonitor)?, progress: Double = 0, measuring: Bool = false
  ) throws(ThumbnailError) {
    try Self.checkType(of: source)
    input = DecoderInput(source: source, monitor: monitor, progress: progress)
    self.failOn = failOn
    // libjpeg calls back only during the calls made here, while `input` is alive.
    var callbacks = clibjpeg_input(
      context: Unmanaged.passUnretained(input).toOpaque(),
      read: { context, offset, into, capacity in
        let input = Unmanaged<DecoderInput>.fromOpaque(context).takeUnretainedValue()
        return input.read(at: offset, into: UnsafeMutableRawBufferPointer(start: into, count: capacity))
      },
      cancelled: { context in
        Unmanaged<DecoderInput>.fromOpaque(context).takeUnretainedValue().isCancelled
      })
    guard let handle = clibjpeg_decoder_create(&callbacks) else { throw .outOfMemory }
    var header = clibjpeg_header()
    let status = clibjpeg_decoder_read_header(handle, failOn.mask, measuring, &header)
    guard status == CLIBJPEG_OK else {
      let error = Self.error(for: status, message: String(cString: clibjpeg_decoder_message(handle)), input, failOn)
      clibjpeg_decoder_destroy(handle)
      throw error
    }
    self.handle = handle
    self.header = header
  }

  deinit { clibjpeg_decoder_destroy(handle) }

  /// The EXIF block after its "Exif\0\0"; empty if there is none. Valid as long as the decoder exists.
  var exif: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: header.exif, count: header.exif_size) }
  /// The embedded colour profile; empty if there is none. Valid as long as the decoder exists. Must not be used with
  /// `measuring`, which keeps a size without bytes.
  var profile: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: header.icc, count: header.icc_size) }

  /// Sets the scale 1/`denominator` and returns the layouts of the planes, one for each component.
  func setScale(_ denominator: Int) throws(ThumbnailError) -> [clibjpeg_plane_layout] {
    var layouts = [clibjpeg_plane_layout](repeating: clibjpeg_plane_layout(), count: Int(CLIBJPEG_MAX_COMPONENTS))
    try check(clibjpeg_decoder_set_scale(handle, UInt32(denominator), &layouts))
    return Array(layouts.prefix(Int(header.components)))
  }

  /// Decodes the picture into planes with the layouts of `setScale`.
  ///
  /// - parameter skippingFineScans: whether to skip the last bit of a progressive file's AC coefficients. After an
  ///   error, a decoder that skips nothing may still decode the picture.
  func decode(into planes: [clibjpeg_plane], skippingFineScans: Bool = false) throws(ThumbnailError) {
    try check(clibjpeg_decoder_decode(handle, skippingFineScans, Self.padded(planes)))
  }

  /// Begins to decode the picture in bands of `band_rows` rows each, from top to bottom.
  ///
  /// - parameter skippingFineScans: as for `decode`.
  func start(skippingFineScans: Bool) throws(ThumbnailError) {
    try check(clibjpeg_decoder_start(handle, skippingFineScans))
  }

  /// Decodes the next band into the first rows of the planes.
  func readBand(into planes: [clibjpeg_plane]) throws(ThumbnailError) {
    try check(clibjpeg_decoder_read_band(handle, Self.padded(planes)))
  }

  /// Reads what follows the last band.
  func finish() throws(ThumbnailError) { try check(clibjpeg_decoder_finish(handle)) }

  private static func padded(_ planes: [clibjpeg_plane]) -> [clibjpeg_plane] {
    planes + [clibjpeg_plane](repeating: clibjpeg_plane(), count: Int(CLIBJPEG_MAX_COMPONENTS) - planes.count)
  }

  /// The fraction last reported to the monitor.
  var progress: Double { input.progress }

  /// The first warning of each class that did not end decoding.
  ///
  /// - parameter damage: the damage that is known, in case libjpeg has not noticed any.
  func warnings(knowing damage: String?) -> [String] {
    [CLIBJPEG_WARNING_TRUNCATED, CLIBJPEG_WARNING_DAMAGED, CLIBJPEG_WARNING_HARMLESS].compactMap { warning in
      guard clibjpeg_decoder_warning_count(handle, warning) > 0 else {
        return warning == CLIBJPEG_WARNING_DAMAGED ? damage : nil
      }
      return String(cString: clibjpeg_decoder_warning_message(handle, warning))
    }
  }

  private func check(_ status: clibjpeg_status) throws(ThumbnailError) {
    guard status != CLIBJPEG_OK else { return }
    throw Self.error(for: status, message: String(cString: clibjpeg_decoder_message(handle)), input, failOn)
  }

  private static func error(
    for status: clibjpeg_status, message: String, _ input: DecoderInput, _ failOn: FailOn
  ) -> ThumbnailError {
    switch status {
    case CLIBJPEG_CANCELLED: .cancelled
    case CLIBJPEG_READ_FAILED: .unreadable(input.failure?.rawValue ?? EIO)
    case CLIBJPEG_TRUNCATED: .truncated(message)
    case CLIBJPEG_WARNED: .imperfect(message)
    case CLIBJPEG_UNSUPPORTED: .unsupported(message)
    case CLIBJPEG_TOO_MANY_SCANS: .scanLimitExceeded
    case CLIBJPEG_NO_MEMORY: .outOfMemory
    case CLIBJPEG_DAMAGED: .damaged(message)
    case CLIBJPEG_CORRUPT: .corrupt(message)
    default: .internalFault(message)
    }
  }

  /// Rejects other image types by name. libjpeg's own message would only give the first bytes: "starts with 0x89 0x50".
  private static func checkType(of source: ByteReader) throws(ThumbnailError) {
    var head: [UInt8] = []
    var more = [UInt8](repeating: 0, count: ImageType.sniffLength)
    // A source may deliver one byte at a time.
    reading: while head.count < ImageType.sniffLength {
      switch more.withUnsafeMutableBytes({ source.read(at: UInt64(head.count), into: $0) }) {
      case .failure(let code): throw .unreadable(code.rawValue)
      case .success(let count) where count > 0: head += more.prefix(count)
      case .success: break reading
      }
    }
    guard !head.isEmpty else { throw .empty }
    let type = ImageType.sniff(head)
    if let type, type != .jpeg { throw .unsupportedType(type) }
    guard type != nil else { throw .notAnImage(Array(head.prefix(4))) }
  }
}

/// The fraction of a source's work that is assumed to be decoding. The sizes share the rest.
enum DecoderProgress {
  static let share = 0.9
}

extension FailOn {
  /// A bit for each class of warnings that ends decoding. A truncated picture fails at every level, because there is nothing
  /// to show for the missing part.
  package var mask: UInt32 {
    let truncated: UInt32 = 1 << CLIBJPEG_WARNING_TRUNCATED.rawValue
    let damaged: UInt32 = 1 << CLIBJPEG_WARNING_DAMAGED.rawValue
    let harmless: UInt32 = 1 << CLIBJPEG_WARNING_HARMLESS.rawValue
    return switch self {
    case .truncated: truncated
    case .error: truncated | damaged
    case .warning: truncated | damaged | harmless
    }
  }
}
