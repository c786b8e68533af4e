import ContactSheet
import Files
import Foundation
import TestSupport

/// A new file for a contact sheet; removed with the object.
final class SheetFile {
  private let folder = TemporaryFolder()
  let descriptor: Descriptor

  init() throws {
    try folder.write([], to: "sheet.pdf")
    descriptor = try Descriptor.open(folder("sheet.pdf"), O_RDWR)
  }

  var number: CInt { descriptor.number }

  func bytes() throws -> [UInt8] {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw SystemError("sheet") }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    _ = try bytes.withUnsafeMutableBytes { try readAll(into: $0, from: number, at: 0) }
    return bytes
  }

  func document() throws -> PDFDocument { try PDFDocument(bytes()) }

  /// The document of one page.
  static func of(
    _ cells: [SheetCell], grid: SheetGrid = SheetGrid(), title: String = "Photos", usesSystemFonts: Bool = false
  ) throws -> PDFDocument {
    let file = try SheetFile()
    var writer = ContactSheetWriter(to: file.number, grid: grid, title: title, usesSystemFonts: usesSystemFonts)
    try writer.addPage(cells)
    try writer.finish()
    return try file.document()
  }
}

extension ContactSheetWriter {
  /// Adds a page of one folder.
  @discardableResult
  mutating func addPage(_ cells: [SheetCell], header: String? = nil) throws(Errno) -> [UnusablePicture] {
    var page = SheetPage(grid)
    for cell in cells { precondition(page.add(cell, under: header), "a page has \(grid.count) cells") }
    return try addPage(page)
  }
}

/// Files in a temporary folder, and cells with them.
final class Pictures: Sendable {
  let folder = TemporaryFolder()

  func cell(_ bytes: [UInt8], name: String = "picture.jpg") throws -> SheetCell {
    let file = "\(UUID())"
    try folder.write(bytes, to: file)
    let path = Path(folder(file))
    return SheetCell(caption: name, picture: .jpeg { () throws(Errno) in try openToRead(path) })
  }

  static func jpeg(width: Int, height: Int, isGrey: Bool = false, isProgressive: Bool = false) -> [UInt8] {
    var photo = SyntheticPhoto(seed: 1, width: width, height: height)
    photo.isBlank = true
    photo.isGrey = isGrey
    photo.isProgressive = isProgressive
    return photo.jpeg()
  }
}
