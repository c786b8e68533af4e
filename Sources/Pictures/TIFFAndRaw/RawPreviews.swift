import Thumbnails

/// Finds the JPEGs in a RAW file that has the structure of a TIFF file.
struct RawPreviews {
  private let file: FileBlocks
  private var isInNotes = false
  /// Parts of the file that may be JPEGs, in the order in which they were found.
  private(set) var extents: [FileExtent] = []
  /// Whether a directory names one that would begin after the end of the file.
  private(set) var isCut = false
  /// Whether the maker's notes do, or lack something themselves. Programs that edit files leave wrong offsets in notes, so
  /// that says little if there are other previews.
  private(set) var mayBeCut = false

  /// The most JPEGs that are looked at. Cameras write up to four.
  private static let mostPreviews = 12

  static func find(in pages: TIFFPages, _ type: ImageType) throws(ThumbnailError) -> RawPreviews {
    var previews = RawPreviews(file: pages.structure.file)
    for page in pages.all { try previews.add(page) }
    // The notes of these makers have previews that no directory has: Olympus and Pentax the largest, Nikon one that is large
    // enough for most thumbnails and takes a tenth of the time. The others' are read if nothing else was found.
    let largest = previews.extents.map(\.size).max() ?? 0
    if [.orf, .pef, .nef].contains(type) || largest < smallestUseful { try previews.addNotes(of: pages) }
    previews.extents = Array(previews.extents.prefix(mostPreviews))
    return previews
  }

  /// The bytes below which a JPEG is probably the thumbnail of 160 × 120 pixels that EXIF has.
  private static let smallestUseful: UInt64 = 24 << 10

  private init(file: FileBlocks) { self.file = file }

  private mutating func add(_ page: TIFFPage) throws(ThumbnailError) {
    let directory = page.directory
    try add(directory, .jpegInterchangeFormat, .jpegInterchangeFormatLength)
    if let jpeg = directory.extent(.panasonicJPEG) { add(jpeg) }
    // A JPEG in a single strip: the previews of DNG and Canon. Of sensor data it would be lossless, and with tables elsewhere
    // it would be no whole JPEG.
    let isJPEG = page.compression == TIFFPage.Compression.oldJPEG || page.compression == TIFFPage.Compression.jpeg
    guard isJPEG, !page.isSensorData, !directory.has(.jpegTables) else { return }
    for (offsets, counts) in TIFFPage.pieces where directory.entries[offsets.rawValue]?.count == 1 {
      try add(directory, offsets, counts)
    }
  }

  private mutating func add(_ extent: FileExtent) {
    // The same one may be listed twice.
    guard !extents.contains(where: { $0.offset == extent.offset }) else { return }
    extents.append(extent)
  }

  /// Adds what begins at an offset of a structure.
  private mutating func add(_ structure: TIFFStructure, _ offset: UInt64, size: UInt64) {
    guard offset > 0, size > 0 else { return }
    guard let place = structure.place(offset), let extent = file.extent(at: place, size: size) else {
      if isInNotes { mayBeCut = true } else { isCut = true }
      return
    }
    add(extent)
  }

  /// Adds what two tags say: an offset and a count of bytes.
  private mutating func add(_ directory: TIFFDirectory, _ start: TIFFTag, _ length: TIFFTag) throws(ThumbnailError) {
    guard let offset = try directory.integer(start), let size = try directory.integer(length) else { return }
    add(directory.structure, offset, size: size)
  }

  // MARK: Maker notes

  /// Adds what the maker's notes say, which are in the EXIF directory.
  private mutating func addNotes(of pages: TIFFPages) throws(ThumbnailError) {
    isInNotes = true
    guard let first = pages.chain.first?.directory, let offset = try first.integer(.exifIFD),
      let exif = try pages.structure.directory(at: offset)
    else { return }
    mayBeCut = exif.isCut
    guard let notes = exif.extent(.makerNote),
      let head = try file.bytes(at: notes.offset, count: Int(min(notes.size, 20)))
    else { return }
    let order = pages.structure.order
    if head.starts(with: Array("OLYMPUS\0".utf8)) {
      try addOlympus(TIFFStructure(file: file, base: notes.offset, order: marked(head.dropFirst(8)) ?? order), at: 12)
    } else if head.starts(with: Array("OM SYSTEM\0".utf8)) {
      try addOlympus(TIFFStructure(file: file, base: notes.offset, order: marked(head.dropFirst(12)) ?? order), at: 16)
    } else if head.starts(with: Array("OLYMP\0".utf8)) || head.starts(with: Array("EPSON\0".utf8)) {
      // The older notes count from the beginning of the file.
      try addOlympus(TIFFStructure(file: file, base: pages.structure.base, order: order), at: notes.offset + 8)
    } else if head.starts(with: Array("AOC\0".utf8)) {
      let structure = TIFFStructure(file: file, base: pages.structure.base, order: marked(head.dropFirst(4)) ?? order)
      try addPentax(structure, at: notes.offset + 6)
    } else if head.starts(with: Array("PENTAX \0".utf8)) {
      try addPentax(
        TIFFStructure(file: file, base: notes.offset, order: marked(head.dropFirst(8)) ?? order), at: 10)
    } else if head.starts(with: Array("Nikon\0".utf8)) {
      try addNikon(notes.offset + 10)
    }
  }

  /// The byte order that two letters name.
  private func marked(_ bytes: ArraySlice<UInt8>) -> ByteOrder? {
    bytes.starts(with: [0x49, 0x49]) ? .littleEndian : bytes.starts(with: [0x4D, 0x4D]) ? .bigEndian : nil
  }

  private mutating func addOlympus(_ structure: TIFFStructure, at offset: UInt64) throws(ThumbnailError) {
    guard let notes = try structure.directory(at: offset) else { return }
    try add(notes, .olympusPreviewStart, .olympusPreviewLength)
    try add(notes, .olympusOldPreviewStart, .olympusOldPreviewLength)
    // The camera settings are a directory: its offset, or in older notes the directory itself as bytes.
    let pointer = try notes.integer(.olympusCameraSettings)
    let inPlace = notes.extent(.olympusCameraSettings).map { $0.offset - structure.base }
    guard let settings = pointer ?? inPlace, let directory = try structure.directory(at: settings) else { return }
    try add(directory, .olympusSettingsPreviewStart, .olympusSettingsPreviewLength)
  }

  private mutating func addPentax(_ structure: TIFFStructure, at offset: UInt64) throws(ThumbnailError) {
    guard let notes = try structure.directory(at: offset) else { return }
    try add(notes, .pentaxPreviewStart, .pentaxPreviewLength)
    // The offset counts from the beginning of the file, even if the others count from that of the notes.
    guard structure.base > 0, let start = try notes.integer(.pentaxPreviewStart),
      let length = try notes.integer(.pentaxPreviewLength)
    else { return }
    if let extent = file.extent(at: start, size: length) { add(extent) }
  }

  /// The notes have a TIFF header of their own.
  private mutating func addNikon(_ header: UInt64) throws(ThumbnailError) {
    guard let structure = try TIFFStructure(file: file, at: header),
      let preview = try structure.directory(at: structure.firstDirectory)?.integer(.nikonPreviewIFD),
      let directory = try structure.directory(at: preview)
    else { return }
    try add(directory, .jpegInterchangeFormat, .jpegInterchangeFormatLength)
  }
}
