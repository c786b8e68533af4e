import CLibJPEG

/// Finds out, while a JPEG file arrives from its beginning, from which byte on its thumbnails need nothing more.
///
/// Only a progressive file of which `BlockDecoder` decodes the lowest frequencies has such a byte: after the last scan
/// that it needs. If the file is cut there and ``ending`` is appended, its thumbnails are those of the whole file, byte
/// for byte, unless the rest is damaged.
///
/// Entropy-coded data is not decoded here, so damage in it is not noticed. Therefore make the thumbnails of a cut file
/// with `Decoding.sparing`. If that throws an error, such as `ThumbnailError.irregular`, the whole file is needed after
/// all.
///
/// *Concurrency*: for one thread at a time, together with the source that it reads.
///
/// *Complexity*: each byte is read once, and those before the first scan's data three times. Bytes of skipped segments
/// may not be read at all. It holds about 100 KiB, and up to a mebibyte more while it reads the header.
package final class ArrivingJPEG {
  package enum Verdict: Hashable, Sendable {
    /// More bytes have to arrive before this is known.
    case unknown
    /// The whole file is needed, or too little is known of it.
    case everything
    /// The bytes from this offset on are not needed.
    case end(Int)
  }

  /// The bytes that must be appended to a file that is cut at its `end`: an EOI marker.
  package static let ending = JPEGMarker.eoi.bytes

  /// The warning in `SourceInfo.warnings` that a cut file may cause if the last bit is not needed. It says nothing
  /// about the whole file.
  package static let warningOfMissingBit = CLIBJPEG_LACKS_SCANS

  /// What comes next in the file.
  private enum Step {
    case start
    case marker
    case length(of: JPEGMarker)
    /// The contents of a segment. They are read once all of them have arrived.
    case contents(of: JPEGMarker, length: Int)
    case entropyData

    /// Whether the step may end in the middle because too little has arrived. The others begin once all of it has.
    var canGoOn: Bool {
      switch self {
      case .start, .marker, .entropyData: true
      case .length, .contents: false
      }
    }
  }

  private let options: ThumbnailOptions
  private let needsLastBit: Bool
  private let arrived: ArrivedBytes
  private let bytes: ByteReader
  private var reader: SegmentReader
  private var step = Step.start
  /// Nil until the first scan header has arrived. Then libjpeg reads the file's header, and the file is read again from
  /// its beginning.
  private var segments: MarkerSegments?
  private let known = KnownTables()
  private var verdict = Verdict.unknown

  /// - parameters:
  ///   - source: the bytes that have arrived. Its size is not used.
  ///   - options: the thumbnails to be made.
  ///   - needsLastBit: false if the last bit of the DC coefficients may be missing where it hardly shows. Much less of
  ///     many files is needed then, but their thumbnails are not quite those of the whole files.
  package init(_ source: ByteReader, options: ThumbnailOptions, needsLastBit: Bool = true) {
    self.options = options
    self.needsLastBit = needsLastBit
    let arrived = ArrivedBytes(source)
    self.arrived = arrived
    bytes = ByteReader(size: nil) { arrived.read(at: $0, into: $1) }
    reader = SegmentReader(DecoderInput(source: bytes, monitor: nil, progress: 0))
    // Such previews may be anywhere in the file.
    if options.previews == .prefer { verdict = .everything }
  }

  /// Reads on in what has arrived.
  ///
  /// - parameter count: the number of bytes that have arrived, from the file's beginning. It never falls.
  /// - returns: `unknown` until there is a verdict, and then always the same verdict.
  package func read(arrived count: Int) -> Verdict {
    guard verdict == .unknown else { return verdict }
    arrived.extend(to: count)
    do {
      verdict = try advance()
    } catch {
      verdict = step.canGoOn && arrived.isExhausted ? .unknown : .everything
    }
    return verdict
  }

  /// Reads on until more bytes are needed. If the bytes end inside a step that can go on later, throws `irregular`.
  private func advance() throws(BlockDecoderError) -> Verdict {
    while true {
      switch step {
      case .start:
        guard try reader.marker() == .soi else { throw .irregular }
        step = .marker
      case .marker:
        let marker = try reader.marker()
        // This is where `BlockDecoder` stops, too.
        if marker == .sos, let segments, segments.isDone(needsLastBit: needsLastBit) { return end(segments) }
        guard MarkerSegments.allows(marker) else { throw .irregular }
        step = .length(of: marker)
      case .length(let marker):
        guard arrived.contains(2, at: reader.position) else { return .unknown }
        step = .contents(of: marker, length: try reader.segmentLength())
      case .contents(let marker, let length):
        guard arrived.contains(length, at: reader.position) else { return .unknown }
        try readSegment(marker, length)
      case .entropyData:
        try reader.skipEntropyData()
        step = .marker
      }
    }
  }

  private func readSegment(_ marker: JPEGMarker, _ length: Int) throws(BlockDecoderError) {
    if let contents = try segments?.read(marker, length: length, &reader) {
      step = .marker
      guard case .scan(let scan, let isNeeded, _) = contents else { return }
      // Throws if tables are missing.
      if isNeeded { _ = try segments?.decoder(of: scan, known: known) }
      step = .entropyData
    } else if marker == .sos {
      segments = try readHeader()
      reader = SegmentReader(DecoderInput(source: bytes, monitor: nil, progress: 0))
      step = .start
    } else {
      try reader.skip(length)
      step = .marker
    }
  }

  /// Reads the file's header with libjpeg. Throws if the file will not be decoded in a way that ends early.
  private func readHeader() throws(BlockDecoderError) -> MarkerSegments {
    do {
      let (decoder, info) = try ThumbnailPipeline.readHeader(
        of: bytes, orientation: nil, failOn: options.failOn, monitor: nil, measuring: true)
      let (placements, _) = try ThumbnailPipeline.plan(info, decoder, options)
      if info.isProgressive, case .blocks(let side) = DecodePlan(info, for: placements, options, .sparing).method {
        // libjpeg may have tried to read ahead.
        arrived.isExhausted = false
        return MarkerSegments(header: info, side: side)
      }
    } catch {}
    throw .irregular
  }

  /// The verdict at an SOS marker that has been read, if no further scan is needed.
  ///
  /// At that marker `BlockDecoder` takes a file for complete that has all bits of the DC coefficients. Any other file
  /// has to end with the scan before it.
  private func end(_ segments: MarkerSegments) -> Verdict {
    .end(Int(reader.position) - (segments.isDone() ? 0 : JPEGMarker.sos.bytes.count))
  }
}

/// The bytes of a file that have arrived so far.
private final class ArrivedBytes {
  private let source: ByteReader
  private var count = 0
  /// Whether reading has come to the end of these bytes since they were extended.
  var isExhausted = false

  init(_ source: ByteReader) { self.source = source }

  func extend(to count: Int) {
    self.count = max(count, self.count)
    isExhausted = false
  }

  func contains(_ size: Int, at offset: UInt64) -> Bool { offset + UInt64(size) <= UInt64(count) }

  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, ByteReader.ReadError> {
    guard offset < UInt64(count) else {
      isExhausted = true
      return .success(0)
    }
    let most = min(buffer.count, count - Int(offset))
    return source.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<most]))
  }
}
