/// Writes HEIF files out of small coded pictures. What it writes is as right or wrong as a test wants it.
package struct TestHEIF {
  package struct Item {
    package var type: String
    package var data: [UInt8]
    /// Whole boxes.
    package var properties: [[UInt8]]
    /// Whether the data is in the box `idat`.
    package var isInItemData: Bool
    /// In how many extents the data is stored.
    package var parts: Int
    /// Whether each part is the whole data, instead of what follows the part before.
    package var hasEqualParts: Bool

    package init(
      type: String, data: [UInt8], properties: [[UInt8]] = [], isInItemData: Bool = false, parts: Int = 1,
      hasEqualParts: Bool = false
    ) {
      (self.type, self.data, self.properties) = (type, data, properties)
      (self.isInItemData, self.parts, self.hasEqualParts) = (isInItemData, parts, hasEqualParts)
    }
  }

  package var items: [Item] = []
  package var references: [(type: String, from: Int, to: [Int])] = []
  package var primary = 1
  package var brand = "heic"
  /// Follows the other boxes of `meta`.
  package var extra: [UInt8] = []
  /// Changes a box of `meta` before it is stored.
  package var change: (_ type: String, _ contents: [UInt8]) -> [UInt8] = { $1 }

  package init() {}

  /// Adds an item; its number.
  package mutating func add(_ item: Item) -> Int {
    items.append(item)
    return items.count
  }

  /// Adds a coded picture; its number.
  package mutating func add(_ picture: CodedPicture, _ properties: [[UInt8]] = [], parts: Int = 1) -> Int {
    add(
      Item(
        type: picture.type, data: picture.data,
        properties: [Self.size(picture.side, picture.side), picture.property] + properties, parts: parts))
  }

  package mutating func refer(_ type: String, from: Int, to: [Int]) { references.append((type, from, to)) }

  package var bytes: [UInt8] {
    let start = Self.box("ftyp", Array(brand.utf8) + Self.number(0, 4) + Array("mif1".utf8))
    // The offsets of the data depend on the size of what precedes it, but that does not depend on them.
    let head = start.count + meta(dataAt: 0).count + 8
    return start + meta(dataAt: head) + Self.box("mdat", items.filter { !$0.isInItemData }.flatMap(\.data))
  }

  private func meta(dataAt start: Int) -> [UInt8] {
    var properties: [[UInt8]] = []
    var associations: [UInt8] = []
    var locations: [UInt8] = []
    var entries: [UInt8] = []
    var itemData: [UInt8] = []
    var place = start
    for (index, item) in items.enumerated() {
      associations += Self.number(index + 1, 2) + [UInt8(item.properties.count)]
      for property in item.properties {
        // Items share equal properties, so that a decoder serves several tiles.
        if !properties.contains(property) { properties.append(property) }
        associations.append(UInt8((properties.firstIndex(of: property) ?? 0) + 1) | 0x80)
      }
      entries += Self.fullBox("infe", 2, Self.number(index + 1, 2) + [0, 0] + Array(item.type.utf8) + [0])
      locations += Self.number(index + 1, 2) + [0, item.isInItemData ? 1 : 0, 0, 0] + Self.number(item.parts, 2)
      let whole = item.isInItemData ? itemData.count : place
      for part in 0..<item.parts {
        var (from, to) = (item.data.count * part / item.parts, item.data.count * (part + 1) / item.parts)
        if item.hasEqualParts { (from, to) = (0, item.data.count) }
        locations += Self.number(whole + from, 4) + Self.number(to - from, 4)
      }
      if item.isInItemData { itemData += item.data } else { place += item.data.count }
    }
    var boxes: [UInt8] = []
    func add(_ type: String, version: Int? = nil, _ contents: [UInt8]) {
      let whole = (version.map { Self.number($0 << 24, 4) } ?? []) + contents
      boxes += Self.box(type, change(type, whole))
    }
    add("hdlr", version: 0, [0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
    add("pitm", version: 0, Self.number(primary, 2))
    add("iloc", version: 1, [0x44, 0x00] + Self.number(items.count, 2) + locations)
    add("iinf", version: 0, Self.number(items.count, 2) + entries)
    if !references.isEmpty {
      let all = references.flatMap { reference in
        Self.box(
          reference.type,
          Self.number(reference.from, 2) + Self.number(reference.to.count, 2)
            + reference.to.flatMap { Self.number($0, 2) })
      }
      add("iref", version: 0, all)
    }
    let container = Self.box("ipco", change("ipco", properties.flatMap { $0 }))
    let table = Self.fullBox("ipma", 0, Self.number(items.count, 4) + associations)
    add("iprp", container + table)
    if !itemData.isEmpty { add("idat", itemData) }
    return Self.box("meta", Self.number(0, 4) + boxes + extra)
  }

  // MARK: Boxes

  package static func number(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  package static func box(_ type: String, _ contents: [UInt8]) -> [UInt8] {
    number(8 + contents.count, 4) + Array(type.utf8) + contents
  }

  package static func fullBox(_ type: String, _ version: Int, _ contents: [UInt8]) -> [UInt8] {
    box(type, number(version << 24, 4) + contents)
  }

  package static func size(_ width: Int, _ height: Int) -> [UInt8] {
    fullBox("ispe", 0, number(width, 4) + number(height, 4))
  }

  package static func turn(_ quarters: UInt8) -> [UInt8] { box("irot", [quarters]) }
  package static func mirror(_ mode: UInt8) -> [UInt8] { box("imir", [mode]) }

  /// A clean aperture. Offsets are in halves of pixels.
  package static func cut(_ width: Int, _ height: Int, right: Int, down: Int) -> [UInt8] {
    box("clap", [width, 1, height, 1, right, 2, down, 2].flatMap { number($0, 4) })
  }

  package static func nclx(_ primaries: Int, _ transfer: Int, _ matrix: Int, isFullRange: Bool) -> [UInt8] {
    box(
      "colr",
      Array("nclx".utf8) + number(primaries, 2) + number(transfer, 2) + number(matrix, 2) + [isFullRange ? 0x80 : 0])
  }

  package static let alphaType = fullBox("auxC", 0, Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8))

  /// The data of a grid.
  package static func grid(rows: Int, columns: Int, _ width: Int, _ height: Int) -> [UInt8] {
    [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + number(width, 2) + number(height, 2)
  }
}
