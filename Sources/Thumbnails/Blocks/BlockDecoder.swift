import CLibJPEG

/// Decodes only the lowest frequencies of each block of 8 × 8 samples, because a much smaller thumbnail shows no
/// others: the DC coefficient at scale 1/8, or DC and the three lowest AC coefficients at 1/4.
///
/// In a progressive file it skips all AC scans at 1/8. At 1/4 it skips them as soon as the AC coefficients kept are known
/// well enough. If the file ends with an EOI marker, it does not even read the scans after the last one needed. In a
/// sequential file it has to pass all symbols, but passes several in one step, and at three places at once
/// (`BlockFinder`).
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
  private var quantizationTables = [[Int]?](repeating: nil, count: 4)
  private var huffmanTables = HuffmanTables()
  private var restartInterval = 0
  /// The bits of the coefficients that are known so far, for each component.
  private var progress: [CoefficientProgress] = []
  /// Whether the file was read up to its EOI marker, and has no scan for some bits of its coefficients.
  private(set) var lacksScans = false

  /// More scans than this exist only to waste time. They are irregular here, and libjpeg reports the error.
  private static let scanLimit = Int(CLIBJPEG_SCAN_LIMIT)

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
    return try store.planes(frame, steps: progress.map(\.steps), pixels: header.pixels) {
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
    var scans = 0
    var isDone = false
    while true {
      let marker = try reader.marker()
      if let picture, isDone, marker == .sos { return picture }
      switch marker {
      case .sof0, .sof1, .sof2:
        guard picture == nil else { throw .irregular }
        let frame = try FrameHeader(marker: marker, &reader, header: header)
        picture = (frame, try CoefficientStore(frame, side: side, in: buffer))
        progress = frame.components.map { _ in CoefficientProgress() }
      case .dht: try huffmanTables.read(&reader)
      case .dqt: try readQuantizationTables()
      case .dri:
        guard try reader.segmentLength() == 2 else { throw .irregular }
        restartInterval = try reader.word()
      case .sos:
        scans += 1
        guard case (let frame, var store)? = picture, scans <= Self.scanLimit else { throw .irregular }
        try decodeScan(frame, into: &store, masksIn: masks)
        picture = (frame, store)
        // If all further scans would be skipped, an EOI marker at the end is enough to take the file for complete.
        isDone =
          frame.isProgressive && progress.allSatisfy { $0.isDone(side: side) } && reader.endsWithEndMarker()
      case .eoi:
        guard let picture, progress.allSatisfy({ $0.hasDC }) else { throw .irregular }
        lacksScans = !progress.allSatisfy { $0.isComplete }
        return picture
      default:
        guard marker.isApplication || marker == .com else { throw .irregular }
        try reader.skip(reader.segmentLength())
      }
    }
  }

  private mutating func readQuantizationTables() throws(BlockDecoderError) {
    var left = try reader.segmentLength()
    while left > 0 {
      let destination = try reader.byte()
      left -= 1 + 64 << (destination >> 4)
      guard destination & 15 < 4, destination >> 4 < 2, left >= 0 else { throw .irregular }
      var table: [Int] = []
      table.reserveCapacity(64)
      for _ in 0..<64 { table.append(destination >> 4 == 0 ? try reader.byte() : try reader.word()) }
      // libjpeg keeps the quantization steps in signed 16-bit integers.
      guard table.allSatisfy({ (1...Int(Int16.max)).contains($0) }) else { throw .irregular }
      quantizationTables[destination & 15] = table
    }
  }

  private mutating func decodeScan(
    _ frame: FrameHeader, into store: inout CoefficientStore, masksIn masks: PlaneBuffer
  ) throws(BlockDecoderError) {
    let scan = try ScanHeader(&reader, frame)
    let isNeeded = scan.spectralStart == 0 || lacksAC(scan)
    for component in scan.components {
      guard let table = quantizationTables[frame.components[component.index].quantizationTable] else {
        throw .irregular
      }
      try progress[component.index].record(scan, table)
    }
    guard isNeeded else { return try reader.skipEntropyData() }
    // A refinement scan may follow, and it needs the masks.
    if scan.spectralStart > 0, lacksAC(scan) { try store.keepMasks(frame, in: masks) }
    // A refinement scan is not decoded unless masks were kept from the component's first AC scan on.
    assert(scan.spectralStart == 0 || scan.approximationHigh == 0 || !store.nonZeroMasks.isEmpty)
    let data = try ScanDecoder(scan, frame, huffmanTables, known, side: side, restartInterval: restartInterval)
    try data.decode(&reader, into: store, input)
  }

  /// Whether a component of the scan still needs AC coefficients that no recorded scan has.
  private func lacksAC(_ scan: ScanHeader) -> Bool {
    !scan.components.allSatisfy { progress[$0.index].needsNoAC(side: side) }
  }
}
