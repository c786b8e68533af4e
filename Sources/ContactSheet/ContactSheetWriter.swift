import Files
import Foundation

/// Writes a contact sheet: a PDF file whose pages (A4, upright) show thumbnails in columns and rows, each with its name
/// below. The bytes of the JPEG files are copied unchanged; nothing is decoded.
///
/// Each page is written when it is added. In between, the writer holds 8 bytes for each picture and two times 8 for
/// each page: 9 MB for a million pictures. The same pages give the same bytes, as long as the system has the same fonts.
///
/// Texts of the languages of western Europe are in Helvetica, which every reader has. Others are in fonts of the system
/// (``SystemFonts``), which the file gets at its end with the glyphs that it shows.
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
package struct ContactSheetWriter: Sendable {
  package let grid: SheetGrid
  package let title: String

  /// How each file begins, by which a program recognises those that this library has written.
  package static let signature = ObjectWriter.signature

  private var objects: ObjectWriter
  private var tree: PageTree
  private let catalogue: Int
  private let information: Int
  /// The object number of the dictionary of fonts, which all pages share.
  private let fontResources: Int
  /// Nil until a text needs it, and always if the fonts of the system are not to be used.
  private var fonts: SystemFonts?
  private let usesSystemFonts: Bool
  private var isFinished = false

  /// Writes nothing yet.
  ///
  /// - Parameters:
  ///   - file: an empty regular file that was opened to write. The caller closes it after ``finish()``.
  ///   - title: what readers show as the title of the window, and each page in its footer.
  ///   - usesSystemFonts: whether fonts of the system show what Helvetica lacks; otherwise that is a `?`.
  package init(to file: CInt, grid: SheetGrid = SheetGrid(), title: String, usesSystemFonts: Bool = true) {
    (self.grid, self.title, self.usesSystemFonts) = (grid, title, usesSystemFonts)
    objects = ObjectWriter(to: file)
    catalogue = objects.reserveNumber()
    tree = PageTree(root: objects.reserveNumber())
    information = objects.reserveNumber()
    fontResources = objects.reserveNumber()
  }

  /// The most memory that ``addPage(_:)`` and ``finish()`` hold while they run, in bytes: the buffer, the content of the
  /// page, 16 KiB for the texts of one cell, and the fonts. It does not depend on the size of the thumbnails.
  package static func bytesNeeded(for grid: SheetGrid, usesSystemFonts: Bool = true) -> Int {
    ObjectWriter.bufferSize + PageContent.sizeLimit(grid) + 64 * grid.count + 16 << 10
      + (usesSystemFonts ? SystemFonts.bytesNeeded : 0)
  }

  /// The texts of which something is shown as `?`; nil if there are none.
  package var unshown: UnshownTexts? { fonts?.unshown }

  /// How many pages have been added.
  package var pageCount: Int { tree.pageCount }

  /// Appends a page to the file. If that fails, the sheet is as before, and the page can be added again.
  ///
  /// - Parameter page: its cells; places after the last of a row stay empty. The first heading is in the upper margin.
  /// - Returns: the JPEG files that could not be shown, which are marked as missing.
  /// - Throws: the error of the system if the page cannot be written; `EFBIG` if the file would exceed 10 GB, the most
  ///   that a PDF file may have.
  @discardableResult
  package mutating func addPage(_ page: SheetPage) throws(Errno) -> [UnusablePicture] {
    precondition(!isFinished, "the sheet is finished")
    precondition(page.grid == grid, "the page has another grid")
    let checkpoint = objects.checkpoint
    let unshown = fonts?.unshown
    var newTree = tree
    do throws(Errno) {
      let unusable = try write(page, in: &newTree)
      try objects.release()
      tree = newTree
      return unusable
    } catch {
      objects.rollBack(to: checkpoint)
      fonts?.unshown = unshown
      throw error
    }
  }

  /// Writes what belongs at the end of the file. A sheet without pictures gets an empty page, because a PDF file must
  /// have one.
  ///
  /// If that fails, it can be tried again.
  ///
  /// - Throws: the error of the system.
  package mutating func finish() throws(Errno) {
    if pageCount == 0 { try addPage(SheetPage(grid)) }
    precondition(!isFinished, "the sheet is finished")
    let checkpoint = objects.checkpoint
    var newTree = tree
    do throws(Errno) {
      let paper = SheetLayout.paper
      let mediaBox = [paper.x, paper.y, paper.width, paper.height].map(PDFSyntax.number).joined(separator: " ")
      try newTree.finish(&objects, attributes: "/MediaBox [\(mediaBox)]")
      try writeFonts()
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

  private mutating func write(_ page: SheetPage, in tree: inout PageTree) throws(Errno) -> [UnusablePicture] {
    let layout = SheetLayout(grid, headings: max(page.sections.count - 1, 0))
    var content = PageContent(capacity: PageContent.sizeLimit(grid))
    var images: [Int] = []
    var unusable: [UnusablePicture] = []
    var (place, added) = (0, 0)
    for (headings, section) in page.sections.enumerated() {
      if let heading = section.heading {
        let baseline =
          headings == 0 ? SheetLayout.headerBaseline : layout.headingBaseline(place, below: headings)
        draw(heading, baseline: baseline, size: layout.headingSize, in: &content)
      }
      for cell in section.cells {
        let box = layout.pictureBox(place, below: headings)
        switch try writeImage(cell.picture) {
        case .success(let image):
          images.append(image.object)
          content.drawImage(
            "I\(image.object)", in: box.fitting(width: image.frame.width, height: image.frame.height))
        case .failure(let error):
          content.drawMissing(error.reason, in: box, size: min(6.5, layout.captionSize))
          if case .jpeg = cell.picture {
            unusable.append(UnusablePicture(cell: added, caption: cell.caption, reason: error.reason))
          }
        }
        draw(
          cell.caption, x: box.x + box.width / 2, baseline: layout.captionBaseline(place, below: headings),
          width: box.width, size: layout.captionSize, grey: PageContent.Grey.caption, align: .centre, in: &content)
        (place, added) = (place + 1, added + 1)
      }
      // The next section begins on a row of its own.
      place += (grid.columns - place % grid.columns) % grid.columns
    }
    drawFooter(page: tree.pageCount + 1, in: &content)

    let parent = tree.parent(&objects)
    let (stream, page) = (objects.reserveNumber(), objects.reserveNumber())
    try objects.write(stream, stream: content.bytes)
    try objects.begin(page)
    try objects.append("<< /Type /Page /Parent \(parent) 0 R /Contents \(stream) 0 R\n")
    try objects.append("/Resources << /Font \(fontResources) 0 R /XObject <<")
    for image in images { try objects.append(" /I\(image) \(image) 0 R") }
    try objects.append(" >> >> >>\nendobj\n")
    try tree.add(page, to: &objects)
    return unusable
  }

  private mutating func draw(_ heading: String, baseline: Double, size: Double, in content: inout PageContent) {
    let area = SheetLayout.area
    draw(
      heading, x: area.x, baseline: baseline, width: area.width, size: size, grey: PageContent.Grey.heading,
      align: .left, in: &content)
  }

  private mutating func drawFooter(page: Int, in content: inout PageContent) {
    let (area, size, grey) = (SheetLayout.area, SheetLayout.marginTextSize, PageContent.Grey.margin)
    let baseline = SheetLayout.footerBaseline
    draw(
      title, x: area.x, baseline: baseline, width: area.width - 80, size: size, grey: grey, align: .left, in: &content)
    draw(
      "page \(page)", x: area.x + area.width, baseline: baseline, width: 80, size: size, grey: grey, align: .right,
      in: &content)
  }

  /// Draws a line of text, with fonts of the system if Helvetica lacks characters of it.
  private mutating func draw(
    _ text: String, x: Double, baseline: Double, width: Double, size: Double, grey: Double,
    align: PageContent.Alignment, in content: inout PageContent
  ) {
    let place = PageContent.TextPlace(x: x, baseline: baseline, width: width, size: size, grey: grey, align: align)
    if usesSystemFonts, WinAnsi.needsOtherFont(text) {
      let fonts = self.fonts ?? SystemFonts()
      self.fonts = fonts
      if let line = fonts.line(PDFSyntax.clipped(text), limit: width * 1000 / size),
        content.drawText(text, as: line, of: fonts, at: place)
      {
        return
      }
    }
    content.drawText(text, at: place)
  }

  /// Writes the fonts, and the dictionary of them.
  private mutating func writeFonts() throws(Errno) {
    let helvetica = objects.reserveNumber()
    try objects.write(helvetica, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    var entries = "/F1 \(helvetica) 0 R"
    for (index, font) in (fonts?.fonts ?? []).enumerated() {
      entries += " /\(font.name) \(try font.write(to: &objects, index: index)) 0 R"
    }
    try objects.write(fontResources, "<< \(entries) >>")
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
