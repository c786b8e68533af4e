import CLibJPEG

/// What a file's marker segments have said so far: its tables, its frame header, and which bits of its coefficients its
/// scans have.
///
/// `BlockDecoder` decides with it which scans to decode and where to stop. `ArrivingJPEG` predicts with it where
/// `BlockDecoder` will stop.
struct MarkerSegments {
  /// The contents of a segment on which a decoder has to act.
  enum Contents {
    case frame(FrameHeader)
    /// Entropy-coded data follows. `isNeeded` is false if it can be skipped; `needsMasks` tells whether the non-zero
    /// masks of its coefficients may be needed.
    case scan(ScanHeader, isNeeded: Bool, needsMasks: Bool)
    case other
  }

  private let header: SourceInfo
  private let side: Int
  private var frame: FrameHeader?
  private var quantizationTables = [[Int]?](repeating: nil, count: 4)
  private var huffmanTables = HuffmanTables()
  private var restartInterval = 0
  private var scans = 0
  /// The bits of the coefficients that are known, for each component.
  private(set) var progress: [CoefficientProgress] = []

  /// More scans than this exist only to waste time. They are irregular here, and libjpeg reports the error.
  private static let scanLimit = Int(CLIBJPEG_SCAN_LIMIT)

  /// - parameters:
  ///   - header: the header of the same source, as libjpeg has read it.
  ///   - side: samples of a block along each axis, 1 or 2.
  init(header: SourceInfo, side: Int) {
    (self.header, self.side) = (header, side)
  }

  /// Whether a segment with this marker may come before the EOI marker. Others are irregular.
  static func allows(_ marker: JPEGMarker) -> Bool {
    switch marker {
    case .sof0, .sof1, .sof2, .dht, .dqt, .dri, .sos, .com: true
    default: marker.isApplication
    }
  }

  /// Reads a segment after its marker and its length.
  ///
  /// - parameter length: the number of bytes in the segment that follow the length.
  mutating func read(
    _ marker: JPEGMarker, length: Int, _ reader: inout SegmentReader
  ) throws(BlockDecoderError) -> Contents {
    guard Self.allows(marker) else { throw .irregular }
    switch marker {
    case .sof0, .sof1, .sof2:
      guard frame == nil else { throw .irregular }
      let frame = try FrameHeader(marker: marker, length: length, &reader, header: header)
      self.frame = frame
      progress = frame.components.map { _ in CoefficientProgress() }
      return .frame(frame)
    case .dht: try huffmanTables.read(length: length, &reader)
    case .dqt: try readQuantizationTables(length: length, &reader)
    case .dri:
      guard length == 2 else { throw .irregular }
      restartInterval = try reader.word()
    case .sos: return try readScan(length: length, &reader)
    default: try reader.skip(length)
    }
    return .other
  }

  private mutating func readQuantizationTables(
    length: Int, _ reader: inout SegmentReader
  ) throws(BlockDecoderError) {
    var left = length
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

  private mutating func readScan(length: Int, _ reader: inout SegmentReader) throws(BlockDecoderError) -> Contents {
    scans += 1
    guard let frame, scans <= Self.scanLimit else { throw .irregular }
    let scan = try ScanHeader(length: length, &reader, frame)
    let isNeeded = scan.spectralStart == 0 || lacksAC(scan)
    for component in scan.components {
      guard let table = quantizationTables[frame.components[component.index].quantizationTable] else {
        throw .irregular
      }
      try progress[component.index].record(scan, table)
    }
    // A refinement scan may follow, and it needs the masks.
    return .scan(scan, isNeeded: isNeeded, needsMasks: isNeeded && scan.spectralStart > 0 && lacksAC(scan))
  }

  /// Whether a component of the scan still needs AC coefficients that no recorded scan has.
  private func lacksAC(_ scan: ScanHeader) -> Bool {
    !scan.components.allSatisfy { progress[$0.index].needsNoAC(side: side) }
  }

  /// The decoder of a scan's data, with the tables that are in force now.
  func decoder(of scan: ScanHeader, known: KnownTables) throws(BlockDecoderError) -> ScanDecoder {
    guard let frame else { throw .irregular }
    return try ScanDecoder(scan, frame, huffmanTables, known, side: side, restartInterval: restartInterval)
  }

  /// The quantization steps of a component, in zigzag order, from the table that is in force now; nil if there is none.
  func steps(of component: FrameHeader.Component) -> [Int]? { quantizationTables[component.quantizationTable] }

  /// Whether every component has a DC scan.
  var hasDC: Bool { frame != nil && progress.allSatisfy { $0.hasDC } }

  /// Whether every bit of every coefficient is known.
  var isComplete: Bool { progress.allSatisfy { $0.isComplete } }

  /// Whether every further scan would be skipped.
  ///
  /// - parameter needsLastBit: as in `CoefficientProgress.isDone`.
  func isDone(needsLastBit: Bool = true) -> Bool {
    frame?.isProgressive == true && progress.allSatisfy { $0.isDone(side: side, needsLastBit: needsLastBit) }
  }
}
