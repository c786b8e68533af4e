import Thumbnails

/// The directories of a TIFF file that may have pictures: those of the chain, and the ones that their tag SubIFDs lists.
struct TIFFPages {
  let structure: TIFFStructure
  /// The directories of the chain.
  private(set) var chain: [TIFFPage] = []
  /// The directories that each of the chain's refers to, and those that these refer to.
  private(set) var inner: [[TIFFPage]] = []
  /// Whether the chain goes on after the directories that were read.
  private(set) var hasMore = false
  /// Whether the file ends before a directory, or before a value of one.
  private(set) var isCut = false

  /// The most directories that are read of a chain: a pyramid of ten levels has a million times more pixels at its bottom
  /// than at its top. The pages of a long document are not all looked at.
  private static let longestChain = 10
  /// The most directories that are read inside another, and in all.
  private static let (mostInner, mostDirectories) = (12, 32)

  /// All directories, in the order in which they are referred to.
  var all: [TIFFPage] { zip(chain, inner).flatMap { [$0] + $1 } }

  /// - throws: `ThumbnailError.truncated` or `damaged` if there is no first directory.
  init(_ structure: TIFFStructure) throws(ThumbnailError) {
    self.structure = structure
    var seen: Set<UInt64> = []
    var next = structure.firstDirectory
    while next != 0, seen.insert(next).inserted {
      guard chain.count < Self.longestChain, seen.count <= Self.mostDirectories else {
        hasMore = true
        break
      }
      guard let directory = try structure.directory(at: next) else {
        if try structure.endsBeforeDirectory(at: next) { isCut = true }
        break
      }
      isCut = isCut || directory.isCut
      chain.append(try TIFFPage(directory))
      inner.append([])
      try addInner(of: directory, &seen, isNested: false)
      next = directory.next
    }
    guard chain.isEmpty else { return }
    guard structure.firstDirectory >= 8 else { throw .damaged("the file has no directory") }
    throw isCut
      ? .truncated("the file ends before its image file directory")
      : .damaged("its image file directory cannot be read")
  }

  private mutating func addInner(
    of directory: TIFFDirectory, _ seen: inout Set<UInt64>, isNested: Bool
  ) throws(ThumbnailError) {
    for offset in try directory.integers(.subIFDs, atMost: Self.mostInner) {
      guard seen.count < Self.mostDirectories, seen.insert(offset).inserted else { continue }
      guard let found = try structure.directory(at: offset) else {
        if try structure.endsBeforeDirectory(at: offset) { isCut = true }
        continue
      }
      isCut = isCut || found.isCut
      inner[inner.count - 1].append(try TIFFPage(found))
      if !isNested { try addInner(of: found, &seen, isNested: true) }
    }
  }
}

/// What a directory of a TIFF file says of its picture.
struct TIFFPage {
  let directory: TIFFDirectory
  let pixels: PixelSize
  /// NewSubfileType's bits 0 and 2: a smaller version of another picture, and a mask.
  let isReduced: Bool
  let isMask: Bool
  let compression: UInt64
  let photometric: UInt64?
  let samplesPerPixel: Int
  /// The bits of the largest sample.
  let bitsPerSample: Int

  /// Values of Compression and PhotometricInterpretation.
  enum Compression {
    static let none = UInt64(1), huffman = UInt64(2), group3 = UInt64(3), group4 = UInt64(4), lzw = UInt64(5)
    static let oldJPEG = UInt64(6), jpeg = UInt64(7), deflate = UInt64(8), oldDeflate = UInt64(32946)
    static let packBits = UInt64(32773), huffmanWords = UInt64(32771), pixarLog = UInt64(32909), jbig = UInt64(34661)
    static let logLuv = UInt64(34676), logLuv24 = UInt64(34677), lerc = UInt64(34887), lzma = UInt64(34925)
    static let zstd = UInt64(50000), webp = UInt64(50001)
  }
  enum Photometric {
    static let whiteIsZero = UInt64(0), blackIsZero = UInt64(1), rgb = UInt64(2), palette = UInt64(3)
    static let mask = UInt64(4), separated = UInt64(5), ycc = UInt64(6), cieLab = UInt64(8), iccLab = UInt64(9)
    static let cfa = UInt64(32803), logL = UInt64(32844), logLuv = UInt64(32845)
    static let linearRaw = UInt64(34892)
  }

  init(_ directory: TIFFDirectory) throws(ThumbnailError) {
    self.directory = directory
    let (width, height) = (try directory.integer(.imageWidth) ?? 0, try directory.integer(.imageLength) ?? 0)
    // A count that does not fit is no size of any picture.
    pixels = PixelSize(width: Int(clamping: width), height: Int(clamping: height))
    let subfile = try directory.integer(.newSubfileType) ?? 0
    let oldSubfile = try directory.integer(.subfileType)
    isReduced = subfile & 1 != 0 || oldSubfile == 2
    isMask = subfile & 4 != 0
    compression = try directory.integer(.compression) ?? Compression.none
    photometric = try directory.integer(.photometricInterpretation)
    // Programs leave out both for old JPEG, as its data says them too.
    let isOldJPEG = compression == Compression.oldJPEG
    let isColored = photometric == Photometric.ycc || photometric == Photometric.rgb
    samplesPerPixel = Int(clamping: try directory.integer(.samplesPerPixel) ?? (isOldJPEG && isColored ? 3 : 1))
    bitsPerSample = Int(
      clamping: try directory.integers(.bitsPerSample, atMost: 8).max() ?? (isOldJPEG ? 8 : 1))
  }

  /// Whether it has a size that a picture can have.
  var hasSize: Bool {
    (1...PictureHeader.largestSide).contains(pixels.width) && (1...PictureHeader.largestSide).contains(pixels.height)
  }

  /// Whether its samples are those of a sensor, not of a picture.
  var isSensorData: Bool { photometric == Photometric.cfa || photometric == Photometric.linearRaw }

  /// Whether its colours are converted after decoding. Then it has no alpha.
  var isConverted: Bool {
    photometric == Photometric.cieLab || photometric == Photometric.iccLab
      || photometric == Photometric.ycc && compression != Compression.jpeg
  }

  /// The tags of the offsets and of the sizes of strips, and of tiles.
  static let pieces: [(offsets: TIFFTag, counts: TIFFTag)] = [
    (.stripOffsets, .stripByteCounts), (.tileOffsets, .tileByteCounts),
  ]
}
