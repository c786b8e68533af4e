import Thumbnails

/// The items of a HEIF file: coded pictures, pictures that are derived from others, and metadata.
///
/// Source: ISO/IEC 14496-12, 8.11 (the box `meta`); ISO/IEC 23008-12, 9.3 (`iprp`).
struct ItemTable {
  /// How an item of the file is found, and what it is.
  struct Item {
    var type: FourCC = "    "
    /// Of an item of the type `mime`.
    var contentType = ""
    var isProtected = false
    var location: Location?
    /// Indices into ``ItemTable/properties``, in the order in which they apply.
    var properties: [Association] = []
  }

  /// Where the data of an item are.
  struct Location {
    /// What offsets count from: 0 the file, 1 the box `idat`, 2 another item.
    let constructionMethod: Int
    let isInOtherFile: Bool
    let extents: [FileExtent]
  }

  struct Association {
    let index: Int
    let isEssential: Bool
  }

  private struct Referrer: Hashable {
    let type: FourCC
    let id: UInt32
  }

  private(set) var primary: UInt32?
  private(set) var items: [UInt32: Item] = [:]
  /// The boxes of `ipco`. An index of 1 means the first.
  private(set) var properties: [Box] = []
  /// The items to which each item refers, in one way.
  private var references: [Referrer: [UInt32]] = [:]
  /// The items of ``references``, in the order of the file.
  private var referrers: [Referrer] = []
  private var itemData: FileExtent?
  private let reader: BoxReader

  private static let longestTable = 1 << 20
  private static let mostItems = 20_000
  private static let mostExtents = 40_000

  /// - parameter meta: the contents of the box `meta`.
  init(_ meta: FileExtent, _ reader: BoxReader) throws(ThumbnailError) {
    self.reader = reader
    guard meta.size >= 4 else { throw .damaged("its header (box “meta”) is empty") }
    var rest = FileExtent(offset: meta.offset + 4, size: meta.size - 4)
    while let box = try reader.next(in: &rest) {
      switch box.type {
      case "pitm": primary = try readPrimary(fields(box))
      case "iinf": try readInformation(box.contents)
      case "iloc": try readLocations(fields(box))
      case "iref": try readReferences(box.contents)
      case "iprp": try readProperties(box.contents)
      case "idat": itemData = box.contents
      default: break
      }
    }
  }

  private func fields(_ box: Box) throws(ThumbnailError) -> BoxFields {
    try reader.fields(box.contents, atMost: Self.longestTable)
  }

  private mutating func change(_ id: UInt32, _ body: (inout Item) -> Void) throws(ThumbnailError) {
    body(&items[id, default: Item()])
    guard items.count <= Self.mostItems else { throw .damaged("its header lists too many pictures and blocks") }
  }

  private func readPrimary(_ fields: BoxFields) throws(ThumbnailError) -> UInt32 {
    var fields = fields
    return UInt32(try fields.number(try fields.versionAndFlags().version == 0 ? 2 : 4))
  }

  private mutating func readInformation(_ contents: FileExtent) throws(ThumbnailError) {
    var head = try reader.fields(FileExtent(offset: contents.offset, size: min(contents.size, 4)), atMost: 4)
    let headSize: UInt64 = try head.versionAndFlags().version == 0 ? 6 : 8
    guard contents.size >= headSize else { throw .damaged("its list of pictures (box “iinf”) is empty") }
    var rest = FileExtent(offset: contents.offset + headSize, size: contents.size - headSize)
    while let box = try reader.next(in: &rest) {
      guard box.type == "infe" else { continue }
      var fields = try fields(box)
      let version = try fields.versionAndFlags().version
      // Entries of the older versions have no type, so they are no pictures.
      guard version >= 2 else { continue }
      let id = UInt32(try fields.number(version == 2 ? 2 : 4))
      let isProtected = try fields.u16() != 0
      let type = try fields.fourCC()
      _ = try fields.string()
      let contentType = type == "mime" ? try fields.string() : ""
      try change(id) { ($0.type, $0.contentType, $0.isProtected) = (type, contentType, isProtected) }
    }
  }

  private mutating func readLocations(_ fields: BoxFields) throws(ThumbnailError) {
    var fields = fields
    let version = try fields.versionAndFlags().version
    guard version <= 2 else { throw .unsupported("places in the file in the form of version \(version)") }
    let (sizes, moreSizes) = (try fields.u8(), try fields.u8())
    let (offsetSize, lengthSize, baseSize) = (sizes >> 4, sizes & 15, moreSizes >> 4)
    let indexSize = version == 0 ? 0 : moreSizes & 15
    guard [offsetSize, lengthSize, baseSize, indexSize].allSatisfy({ [0, 4, 8].contains($0) }) else {
      throw .damaged("its header gives places in the file in an impossible form")
    }
    var extentsLeft = Self.mostExtents
    for _ in 0..<(try fields.number(version < 2 ? 2 : 4)) {
      let id = UInt32(try fields.number(version < 2 ? 2 : 4))
      let method = version == 0 ? 0 : try fields.u16() & 15
      let isInOtherFile = try fields.u16() != 0
      let base = try fields.number(baseSize)
      let count = try fields.u16()
      extentsLeft -= count
      guard extentsLeft >= 0 else { throw .damaged("its pictures are in too many parts") }
      var extents: [FileExtent] = []
      extents.reserveCapacity(count)
      for _ in 0..<count {
        try fields.skip(indexSize)
        let (offset, overflows) = base.addingReportingOverflow(try fields.number(offsetSize))
        guard !overflows else { throw .damaged("a picture or block would be outside the file") }
        extents.append(FileExtent(offset: offset, size: try fields.number(lengthSize)))
      }
      let location = Location(constructionMethod: method, isInOtherFile: isInOtherFile, extents: extents)
      try change(id) { $0.location = location }
    }
  }

  private mutating func readReferences(_ contents: FileExtent) throws(ThumbnailError) {
    guard contents.size >= 4, contents.size <= Self.longestTable else {
      throw .damaged("its list of references (box “iref”) has \(contents.size) bytes")
    }
    var head = try reader.fields(FileExtent(offset: contents.offset, size: 4), atMost: 4)
    let idSize = try head.versionAndFlags().version == 0 ? 2 : 4
    var rest = FileExtent(offset: contents.offset + 4, size: contents.size - 4)
    while let box = try reader.next(in: &rest) {
      guard ["dimg", "thmb", "auxl", "cdsc", "prem"].contains(box.type) else { continue }
      var fields = try fields(box)
      let from = UInt32(try fields.number(idSize))
      var to: [UInt32] = []
      for _ in 0..<(try fields.u16()) { to.append(UInt32(try fields.number(idSize))) }
      let referrer = Referrer(type: box.type, id: from)
      // The first counts.
      guard references[referrer] == nil else { continue }
      references[referrer] = to
      referrers.append(referrer)
    }
  }

  private mutating func readProperties(_ contents: FileExtent) throws(ThumbnailError) {
    var rest = contents
    while let box = try reader.next(in: &rest) {
      if box.type == "ipco", properties.isEmpty {
        var container = box.contents
        while let property = try reader.next(in: &container) { properties.append(property) }
      } else if box.type == "ipma" {
        try readAssociations(fields(box))
      }
    }
  }

  private mutating func readAssociations(_ fields: BoxFields) throws(ThumbnailError) {
    var fields = fields
    let (version, flags) = try fields.versionAndFlags()
    for _ in 0..<(try fields.u32()) {
      let id = UInt32(try fields.number(version == 0 ? 2 : 4))
      var associations: [Association] = []
      for _ in 0..<(try fields.u8()) {
        let isLong = flags & 1 != 0
        let value = isLong ? try fields.u16() : try fields.u8()
        let index = value & (isLong ? 0x7FFF : 0x7F)
        if index != 0 { associations.append(Association(index: index, isEssential: value != index)) }
      }
      let all = associations
      try change(id) { $0.properties = all }
    }
  }

  // MARK: Questions

  /// The items to which an item refers: the pictures that a derived one is made of.
  func references(_ type: FourCC, from id: UInt32) -> [UInt32] {
    references[Referrer(type: type, id: id)] ?? []
  }

  /// The items that refer to an item: its thumbnails, for example.
  func references(_ type: FourCC, to id: UInt32) -> [UInt32] {
    referrers.filter { $0.type == type && references[$0]?.contains(id) == true }.map(\.id)
  }

  /// Where the data of an item are in the file; parts that follow each other are one.
  func data(of id: UInt32) throws(ThumbnailError) -> [FileExtent] {
    guard let item = items[id], let location = item.location, !location.extents.isEmpty else {
      throw .damaged("a picture or block that its header refers to is missing (item \(id))")
    }
    guard !item.isProtected else { throw .unsupported("a picture that is encrypted") }
    guard !location.isInOtherFile else { throw .unsupported("a picture whose data are in another file") }
    var extents: [FileExtent] = []
    for extent in location.extents {
      let found = try place(extent, location.constructionMethod)
      if let last = extents.last, last.offset + last.size == found.offset {
        extents[extents.count - 1].size += found.size
      } else {
        extents.append(found)
      }
    }
    return extents
  }

  private func place(_ extent: FileExtent, _ constructionMethod: Int) throws(ThumbnailError) -> FileExtent {
    guard extent.size > 0 else { throw .unsupported("a picture or block without a length") }
    switch constructionMethod {
    case 0:
      guard reader.isInFile(extent) else { throw FileWindow.endsTooEarly }
      return extent
    case 1:
      guard let itemData, extent.offset <= itemData.size, extent.size <= itemData.size - extent.offset else {
        throw .damaged("a block is outside the part that it should be in (box “idat”)")
      }
      return FileExtent(offset: itemData.offset + extent.offset, size: extent.size)
    default: throw .unsupported("a picture or block that is a part of another")
    }
  }
}
