import Files
import Foundation
import SystemPackage

/// Writes a contact sheet: a PDF file whose pages (A4, upright) show thumbnails in columns and rows, each with its name
/// below. The bytes of the JPEG files are copied unchanged; nothing is decoded.
///
/// Each page is written when it is added. In between, the writer holds 8 bytes for each picture and two times 8 for
/// each page: 9 MB for a million pictures. The same pages give the same bytes.
///
/// From the outside in: the writer appends one page at a time to an open file. The ``SheetLayout`` of its ``SheetGrid``
/// says where each ``SheetCell`` is. It reads the ``JPEGFrame`` of a thumbnail, and copies its bytes. A file that
/// cannot be shown becomes a crossed place. The ``PageContent`` collects the drawing operators of the page. The
/// ``ObjectWriter`` remembers where each object begins, for the cross-reference table at the end, and takes a page back
/// if it cannot be written.
///
/// *Concurrency*: a value that one operation uses after the other; only one copy of it may write. Move it out of where
/// it is kept while a page is added (set that to nil): if there is a second copy, Swift copies the list of objects.
///
/// *Source*: ISO 32000-1 (PDF 1.7).
public struct ContactSheetWriter: Sendable {
  public let grid: SheetGrid
  public let title: String

  /// How each file begins, by which a program recognises those that this library has written.
  public static let signature = ObjectWriter.signature

  private var objects: ObjectWriter
  private var tree: PageTree
  private let catalogue: Int
  private let information: Int
  private let font: Int
  private var isFinished = false

  /// Writes nothing yet.
  ///
  /// - Parameters:
  ///   - file: an empty regular file that was opened to write. The caller closes it after ``finish()``.
  ///   - title: what readers show as the title of the window, and each page in its footer.
  public init(to file: CInt, grid: SheetGrid = SheetGrid(), title: String) {
    (self.grid, self.title) = (grid, title)
    objects = ObjectWriter(to: file)
    catalogue = objects.reserveNumber()
    tree = PageTree(root: objects.reserveNumber())
    information = objects.reserveNumber()
    font = objects.reserveNumber()
  }

  /// The most memory that ``addPage(_:header:)`` holds while it runs, in bytes: its buffer, the content of the page, and
  /// 16 KiB for the texts of one cell. It does not depend on the size of the thumbnails.
  public static func bytesNeeded(for grid: SheetGrid) -> Int {
    ObjectWriter.bufferSize + PageContent.sizeLimit(grid) + 64 * grid.count + 16 << 10
  }

  /// How many pages have been added.
  public var pageCount: Int { tree.pageCount }

  /// Appends a page to the file. If that fails, the sheet is as before, and the page can be added again.
  ///
  /// - Parameters:
  ///   - cells: at most as many as the grid has. The places after the last stay empty.
  ///   - header: a line above the pictures, such as the path of their folder.
  /// - Returns: the JPEG files that could not be shown, which are marked as missing.
  /// - Throws: the error of the system if the page cannot be written; `EFBIG` if the file would exceed 10 GB, the most
  ///   that a PDF file may have.
  @discardableResult
  public mutating func addPage(_ cells: [SheetCell], header: String? = nil) throws(Errno) -> [UnusablePicture] {
    precondition(!isFinished, "the sheet is finished")
    precondition(cells.count <= grid.count, "a page has \(grid.count) cells")
    let checkpoint = objects.checkpoint
    var newTree = tree
    do throws(Errno) {
      let unusable = try write(cells, header: header, in: &newTree)
      try objects.release()
      tree = newTree
      return unusable
    } catch {
      objects.rollBack(to: checkpoint)
      throw error
    }
  }

  /// Writes what belongs at the end of the file. A sheet without pictures gets an empty page, because a PDF file must
  /// have one.
  ///
  /// If that fails, it can be tried again.
  ///
  /// - Throws: the error of the system.
  public mutating func finish() throws(Errno) {
    if pageCount == 0 { try addPage([]) }
    precondition(!isFinished, "the sheet is finished")
    let checkpoint = objects.checkpoint
    var newTree = tree
    do throws(Errno) {
      let paper = SheetLayout.paper
      let mediaBox = [paper.x, paper.y, paper.width, paper.height].map(PDFSyntax.number).joined(separator: " ")
      try newTree.finish(&objects, attributes: "/MediaBox [\(mediaBox)]")
      try objects.write(font, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
      try objects.write(information, "<< /Title \(PDFSyntax.text(title)) /Producer (thumbjob) >>")
      try objects.write(
        catalogue, "<< /Type /Catalog /Pages \(newTree.root) 0 R /ViewerPreferences << /DisplayDocTitle true >> >>")
      try objects.finish(catalogue: catalogue, information: information)
      isFinished = true
    } catch {
      objects.rollBack(to: checkpoint)
      throw error
    }
  }

  // MARK: A page

  private mutating func write(
    _ cells: [SheetCell], header: String?, in tree: inout PageTree
  ) throws(Errno) -> [UnusablePicture] {
    let layout = SheetLayout(grid)
    var content = PageContent(capacity: PageContent.sizeLimit(grid))
    var images: [Int] = []
    var unusable: [UnusablePicture] = []
    for (index, cell) in cells.enumerated() {
      let box = layout.pictureBox(index)
      switch try writeImage(cell.picture) {
      case .success(let image):
        images.append(image.object)
        content.drawImage(
          "I\(image.object)", in: box.fitting(width: image.frame.width, height: image.frame.height))
      case .failure(let error):
        content.drawMissing(error.reason, in: box, size: min(6.5, layout.captionSize))
        if case .jpeg = cell.picture {
          unusable.append(UnusablePicture(cell: index, caption: cell.caption, reason: error.reason))
        }
      }
      content.drawText(
        cell.caption, x: box.x + box.width / 2, baseline: layout.captionBaseline(index), width: box.width,
        size: layout.captionSize, grey: PageContent.Grey.caption, align: .centre)
    }
    drawMargins(header: header, page: tree.pageCount + 1, in: &content)

    let parent = tree.parent(&objects)
    let (stream, page) = (objects.reserveNumber(), objects.reserveNumber())
    try objects.write(stream, stream: content.bytes)
    try objects.begin(page)
    try objects.append("<< /Type /Page /Parent \(parent) 0 R /Contents \(stream) 0 R\n")
    try objects.append("/Resources << /Font << /F1 \(font) 0 R >> /XObject <<")
    for image in images { try objects.append(" /I\(image) \(image) 0 R") }
    try objects.append(" >> >> >>\nendobj\n")
    try tree.add(page, to: &objects)
    return unusable
  }

  private func drawMargins(header: String?, page: Int, in content: inout PageContent) {
    let (area, size, grey) = (SheetLayout.area, SheetLayout.marginTextSize, PageContent.Grey.margin)
    if let header {
      content.drawText(
        header, x: area.x, baseline: SheetLayout.headerBaseline, width: area.width, size: size, grey: grey, align: .left
      )
    }
    let footer = SheetLayout.footerBaseline
    content.drawText(
      title, x: area.x, baseline: footer, width: area.width - 80, size: size, grey: grey, align: .left)
    content.drawText(
      "page \(page)", x: area.x + area.width, baseline: footer, width: 80, size: size, grey: grey, align: .right)
  }

  /// Writes a picture's file as an image object.
  ///
  /// - Returns: the object's number, or the reason why there is none.
  private mutating func writeImage(
    _ picture: SheetCell.Picture
  ) throws(Errno) -> Result<(object: Int, frame: JPEGFrame), UnusableJPEGError> {
    let file: CInt
    let frame: JPEGFrame
    switch picture {
    case .missing(let reason): return .failure(UnusableJPEGError(reason))
    case .jpeg(let open):
      do throws(Errno) { file = try open() } catch { return .failure(UnusableJPEGError(error)) }
    }
    defer { close(file) }
    do throws(UnusableJPEGError) { frame = try JPEGFrame(reading: file) } catch { return .failure(error) }

    let checkpoint = objects.checkpoint
    let object = objects.reserveNumber()
    let dictionary =
      "/Type /XObject /Subtype /Image /Width \(frame.width) /Height \(frame.height) /BitsPerComponent 8 "
      + "/ColorSpace /\(frame.components == 1 ? "DeviceGray" : "DeviceRGB") /Interpolate true /Filter /DCTDecode "
    switch try objects.write(object, dictionary, copying: file, size: frame.size) {
    case .success: return .success((object, frame))
    case .failure(let error):
      objects.rollBack(to: checkpoint)
      switch error {
      case .becameShorter: return .failure(.cutOff)
      case .system(let error): return .failure(UnusableJPEGError(error))
      }
    }
  }
}
