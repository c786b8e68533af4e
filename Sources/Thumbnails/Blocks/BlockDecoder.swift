/// Decodes only the coefficients that a thumbnail needs, in one of two ways.
///
/// For small thumbnails, it decodes the lowest frequencies of each block of 8 × 8 samples: the DC coefficient at scale 1/8,
/// or DC and the three lowest AC coefficients at 1/4 (`decode`). In a progressive file it skips all AC scans at 1/8. At 1/4
/// it skips them as soon as the AC coefficients kept are known well enough. If the file ends with an EOI marker, it does not
/// even read the scans after the last one needed. In a sequential file it has to pass all symbols, but passes several in one
/// step, and at three places at once (`BlockFinder`).
///
/// For larger ones, it decodes the coefficients of a sequential file one row of MCUs after the other, and the picture is
/// resized at the same time (`decodeBands`).
///
/// At 1/8 the samples equal those of libjpeg (jidctred.c, jpeg_idct_1x1) bit for bit. libjpeg may decode subsampled
/// components at a larger scale; here all components have equally many samples for each block.
///
/// It decodes only faultless files of the usual kinds: sequential (baseline or extended) or progressive, Huffman-coded,
/// with 8 bits per sample. Any other file is `corrupt`, or `irregular` and left to libjpeg. Errors in skipped scans are
/// not noticed.
///
/// *Source*: ITU-T T.81, from which this folder's names are taken: Annex B for markers and headers, F.2 for sequential
/// and G.2 for progressive decoding.
struct BlockDecoder {
  private var reader: SegmentReader
  private let header: SourceInfo
  private let input: DecoderInput
  private let side: Int
  private let known: KnownTables
  private var segments: MarkerSegments
  /// Whether the file was read up to its EOI marker, and has no scan for some bits of its coefficients.
  private(set) var lacksScans = false

  /// - parameters:
  ///   - header: the header of the same source, as libjpeg has read it.
  ///   - side: samples of a block along each axis, 1 or 2.
  ///   - known: lookup tables of an earlier file.
  init(_ input: DecoderInput, header: SourceInfo, side: Int, known: KnownTables = KnownTables()) {
    self.input = input
    self.header = header
    self.side = side
    self.known = known
    reader = SegmentReader(input)
    segments = MarkerSegments(header: header, side: side)
  }

  /// Whether a file with such a header can be decoded. The rest of the file may still be irregular.
  static func supports(_ header: SourceInfo) -> Bool {
    !header.isArithmetic && header.sampling.reduce(0) { $0 + $1.h * $1.v } <= 10
  }

  /// The memory for planes and for non-zero masks, in bytes. The reader's window and the tables are not included.
  static func bytesNeeded(_ header: SourceInfo, side: Int) -> (planes: Int, masks: Int) {
    let grid = header.grid
    let blocks = header.sampling.reduce(0) { $0 + grid.across * $1.h * grid.down * $1.v }
    let bytes = CoefficientStore.bytesPerBlock(isProgressive: header.isProgressive, side: side)
    return (blocks * bytes.coefficients, blocks * bytes.masks)
  }

  /// Decodes the picture. `buffer` holds the returned planes; the memory of `masks` is released.
  mutating func decode(into buffer: PlaneBuffer, masksIn masks: PlaneBuffer) throws(BlockDecoderError) -> [DecodedPlane]
  {
    let (frame, store) = try readCoefficients(into: buffer, masksIn: masks)
    masks.release()
    let input = input
    return try store.planes(frame, steps: segments.progress.map(\.steps), pixels: header.pixels) {
      () throws(BlockDecoderError) in
      if input.isCancelled { throw .failed(.cancelled) }
    }
  }

  /// Reads the file as far as the coefficients require.
  mutating func readCoefficients(
    into buffer: PlaneBuffer, masksIn masks: PlaneBuffer
  ) throws(BlockDecoderError) -> (FrameHeader, CoefficientStore) {
    guard try reader.marker() == .soi else { throw .irregular }
    var picture: (frame: FrameHeader, store: CoefficientStore)?
    var isDone = false
    while true {
      let marker = try reader.marker()
      if let picture, isDone, marker == .sos { return picture }
      if marker == .eoi {
        guard let picture, segments.hasDC else { throw .irregular }
        lacksScans = !segments.isComplete
        return picture
      }
      switch try segments.read(marker, length: reader.segmentLength(), &reader) {
      case .frame(let frame): picture = (frame, try CoefficientStore(frame, side: side, in: buffer))
      case .scan(_, isNeeded: false, _): try reader.skipEntropyData()
      case .scan(let scan, _, let needsMasks):
        guard case (let frame, var store)? = picture else { throw .irregular }
        if needsMasks { try store.keepMasks(frame, in: masks) }
        picture = (frame, store)
        // A refinement scan is not decoded unless masks were kept from the component's first AC scan on.
        assert(scan.spectralStart == 0 || scan.approximationHigh == 0 || !store.nonZeroMasks.isEmpty)
        try segments.decoder(of: scan, known: known).decode(&reader, into: store, input)
      case .other: break
      }
      // If all further scans would be skipped, an EOI marker at the end is enough to take the file for complete.
      if marker == .sos { isDone = segments.isDone() && reader.endsWithEndMarker() }
    }
  }

  /// Decodes a sequential picture, and resizes it at the same time.
  ///
  /// - parameters:
  ///   - sides: the samples of a block along each axis, one of `InverseTransform.sides` for each component.
  ///   - resize: for the layouts that `BandTarget.layouts` gives.
  ///   - proceed: called as by `Resampler.advance`.
  mutating func decodeBands(
    sides: [Int], into resize: BandedResize, proceed: @escaping CancellationCheck
  ) throws(BlockDecoderError) {
    guard try reader.marker() == .soi else { throw .irregular }
    var frame: FrameHeader?
    var isDecoded = false
    while true {
      let marker = try reader.marker()
      if marker == .eoi {
        guard isDecoded else { throw .irregular }
        return
      }
      switch try segments.read(marker, length: reader.segmentLength(), &reader) {
      case .frame(let found): frame = found
      case .scan(let scan, _, _):
        // libjpeg holds the coefficients of a picture in several scans.
        guard let frame, !isDecoded, scan.components.map(\.index) == Array(frame.components.indices) else {
          throw .irregular
        }
        let decoder = try segments.decoder(of: scan, known: known)
        let tables = frame.components.compactMap { segments.steps(of: $0) }
        guard let steps = decoder.stepTables, tables.count == sides.count else { throw .irregular }
        let transforms = zip(sides, tables).map { InverseTransform(side: $0, steps: $1) }
        let target = BandTarget(decoder, frame, transforms, steps, known, into: resize, proceed: proceed)
        try decoder.decode(&reader, into: target, input)
        isDecoded = true
      case .other: break
      }
    }
  }
}
