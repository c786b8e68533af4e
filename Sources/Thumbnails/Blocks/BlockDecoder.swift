import CLibJPEG

/// Decodes what a thumbnail much smaller than its source shows of it, and nothing else: of each block of 8 × 8 samples
/// its mean, at scale 1/8, or its four lowest frequencies, at 1/4.
///
/// Scans of a progressive file that tell nothing of these are passed over, and not even read where the file's end is seen
/// to be there; so is the last bit of its detail. Of a baseline file all symbols have to be walked over, but several at a
/// step.
///
/// At 1/8 a component's samples are what libjpeg makes of its means (jidctred.c, jpeg_idct_1x1), bit for bit. Where
/// libjpeg decodes subsampled components at a larger scale, they have here as many samples for a block as the others.
///
/// It takes spotless files of the usual kinds only (baseline and progressive, Huffman-coded, 8 bits); anything else is
/// `irregular`: what there is to be said of it, libjpeg says. Faults in scans that are passed over go unnoticed.
struct BlockDecoder {
  private var reader: SegmentReader
  private let header: SourceInfo
  private let input: DecoderInput
  private let side: Int
  private var quantizationTables = [[Int]?](repeating: nil, count: 4)
  private var huffmanTables = HuffmanTables()
  private var restartInterval = 0
  /// What has been found out of each component.
  private var progress: [CoefficientProgress] = []

  /// libjpeg's limit, as `CLibJPEG` sets it: more is a file made to waste time, which is its to say.
  private static let scanLimit = Int(CLIBJPEG_SCAN_LIMIT)

  /// - parameters:
  ///   - header: what libjpeg has read of the same source.
  ///   - side: samples of a block along each axis, 1 or 2.
  init(_ input: DecoderInput, header: SourceInfo, side: Int) {
    self.input = input
    self.header = header
    self.side = side
    reader = SegmentReader(input)
  }

  /// Whether a header is of a kind that can be decoded; the rest of the file may still be irregular.
  static func supports(_ header: SourceInfo) -> Bool {
    !header.isArithmetic && header.sampling.reduce(0) { $0 + $1.h * $1.v } <= 10
  }

  /// What decoding holds beside its window and tables, in bytes: for its planes, and on the way to them.
  static func bytesNeeded(_ header: SourceInfo, side: Int) -> (planes: Int, masks: Int) {
    let grid = header.grid
    let blocks = header.sampling.reduce(0) { $0 + grid.across * $1.h * grid.down * $1.v }
    let bytes = CoefficientStore.bytesPerBlock(isProgressive: header.isProgressive, side: side)
    return (blocks * bytes.coefficients, blocks * bytes.masks)
  }

  /// Decodes the picture into two buffers, the first of which holds the planes returned; the other is given back.
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

  /// Reads the file as far as it is needed.
  mutating func readCoefficients(
    into buffer: PlaneBuffer, masksIn masks: PlaneBuffer
  ) throws(BlockDecoderError) -> (FrameHeader, CoefficientStore) {
    guard try reader.marker() == .soi else { throw .irregular }
    var picture: (frame: FrameHeader, store: CoefficientStore)?
    var scans = 0
    while true {
      let marker = try reader.marker()
      switch marker {
      case .sof0, .sof1, .sof2:
        guard picture == nil else { throw .irregular }
        let frame = try FrameHeader(marker: marker, &reader, header: header)
        picture = (frame, try CoefficientStore(frame, side: side, in: buffer, masksIn: masks))
        progress = frame.components.map { _ in CoefficientProgress() }
      case .dht: try huffmanTables.read(&reader)
      case .dqt: try readQuantizationTables()
      case .dri:
        guard try reader.segmentLength() == 2 else { throw .irregular }
        restartInterval = try reader.word()
      case .sos:
        scans += 1
        guard let picture, scans <= Self.scanLimit else { throw .irregular }
        try decodeScan(picture.frame, into: picture.store)
        // What comes now is passed over, of a file that is all there.
        let isDone = progress.allSatisfy { $0.isDone(side: side) }
        if picture.frame.isProgressive, isDone, reader.endsWithEndMarker() { return picture }
      case .eoi:
        guard let picture, progress.allSatisfy({ $0.hasDC }) else { throw .irregular }
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
      for _ in 0..<64 { table.append(destination >> 4 == 0 ? try reader.byte() : try reader.word()) }
      // libjpeg keeps what it multiplies by in 16 bits with a sign.
      guard table.allSatisfy({ (1...Int(Int16.max)).contains($0) }) else { throw .irregular }
      quantizationTables[destination & 15] = table
    }
  }

  private mutating func decodeScan(_ frame: FrameHeader, into store: CoefficientStore) throws(BlockDecoderError) {
    let scan = try ScanHeader(&reader, frame)
    for component in scan.components {
      guard let table = quantizationTables[frame.components[component.index].quantizationTable] else {
        throw .irregular
      }
      try progress[component.index].record(scan, table)
    }
    // Without the last bit of its detail a picture looks the same; and at 1/8 none of it is seen.
    let isPassedOver = scan.spectralStart > 0 && (side == 1 || scan.approximationHigh == 1)
    if isPassedOver { return try reader.skipEntropyData() }
    let data = try ScanDecoder(scan, frame, huffmanTables, side: side, restartInterval: restartInterval)
    try data.decode(&reader, into: store, input)
  }
}
