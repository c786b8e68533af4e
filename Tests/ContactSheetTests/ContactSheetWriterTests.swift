import Files
import Foundation
import TestSupport
import Testing

@testable import ContactSheet

@Suite(.timeLimit(.minutes(5))) struct ContactSheetWriterTests {
  private let pictures = Pictures()

  @Test func eachPictureIsInTheFileUnchanged() throws {
    let files = [
      Pictures.jpeg(width: 256, height: 171), Pictures.jpeg(width: 100, height: 256, isProgressive: true),
      Pictures.jpeg(width: 64, height: 64, isGrey: true),
    ]
    let images = try SheetFile.of(files.map { try pictures.cell($0) }).images(0)
    #expect(images.map(\.object.stream) == files)
    #expect(images.map { $0.object.number("Width") } == [256, 100, 64])
    #expect(images.map { $0.object.number("Height") } == [171, 256, 64])
    #expect(images.map { $0.object.value.contains("/ColorSpace /DeviceRGB ") } == [true, true, false])
    #expect(images[2].object.value.contains("/ColorSpace /DeviceGray "))
    #expect(images.allSatisfy { $0.object.value.contains("/Filter /DCTDecode ") })
  }

  @Test func thePictureOfEachCellIsDrawnInItsBox() throws {
    let grid = SheetGrid(columns: 3, rows: 4)
    let cells = try (0..<grid.count).map { index in
      try pictures.cell(Pictures.jpeg(width: 20 + 9 * index, height: 80 - 5 * index))
    }
    let images = try SheetFile.of(cells, grid: grid).images(0)
    #expect(images.count == grid.count)
    for (index, image) in images.enumerated() {
      let place = SheetLayout(grid).pictureBox(index).fitting(width: 20 + 9 * index, height: 80 - 5 * index)
      let expected = [place.x, place.y, place.width, place.height]
      #expect(zip(image.box, expected).allSatisfy { abs($0 - $1) < 1e-4 }, "\(index)")
    }
  }

  @Test func hundredsOfPagesAreInOrder() throws {
    let file = try SheetFile()
    var writer = ContactSheetWriter(to: file.number, grid: SheetGrid(columns: 1, rows: 1), title: "Many")
    for page in 1...200 {
      try writer.addPage([SheetCell(caption: "name \(page)", picture: .missing(reason: "none"))])
      #expect(writer.pageCount == page)
    }
    try writer.finish()
    let document = try file.document()
    #expect(document.pages.count == 200)
    for page in 1...200 {
      #expect(try document.shownTexts(page - 1) == ["none", "name \(page)", "Many", "page \(page)"])
    }
  }

  @Test func headerAndTitleAreText() throws {
    let file = try SheetFile()
    var writer = ContactSheetWriter(to: file.number, title: "Été (写真)", usesSystemFonts: false)
    try writer.addPage([SheetCell(caption: "", picture: .missing(reason: ""))], header: "2024/mai")
    try writer.finish()
    let document = try file.document()
    #expect(try document.texts(0) == ["2024/mai", "Été (写真)", "page 1"])
    #expect(try document.shownTexts(0) == ["2024/mai", "Été (??)", "page 1"])
    let information = document.trailer.references("Info").first.flatMap { document.objects[$0] }
    #expect(information?.value.contains("/Title \(PDFSyntax.text("Été (写真)")) ") == true)
    #expect(information?.value.contains("Date") == false)
  }

  @Test func aSheetWithoutPicturesHasAnEmptyPage() throws {
    let file = try SheetFile()
    var writer = ContactSheetWriter(to: file.number, title: "")
    try writer.finish()
    let document = try file.document()
    #expect(document.pages.count == 1)
    #expect(try document.shownTexts(0) == ["page 1"])
  }

  @Test(arguments: [
    #")\("#, "a\nb\r\nc", "🏖️ Strand 👩‍👩‍👧‍👦.jpg", "\u{202E}gpj.מבחן", "endstream endobj", ") Tj ET Q (", "%PDF <</A>>",
    String(repeating: "ü", count: 127) + ".", String(repeating: "w", count: 251) + ".jpg", "\u{1}\u{7F}\u{AD}\u{FEFF}",
  ])
  func aNameIsShownOnItsLineAndCopiedAsItIs(name: String) throws {
    let cell = SheetCell(caption: name, picture: .missing(reason: name))
    let document = try SheetFile.of([cell], title: name)
    #expect(try document.texts(0) == [name, name, name, "page 1"])
    let shown = try document.shownTexts(0).map { $0.unicodeScalars.map { UInt8($0.value) } }
    let layout = SheetLayout(SheetGrid())
    let caption = shown[shown.count - 3]
    #expect(Helvetica.width(caption, size: layout.captionSize) <= layout.pictureBox(0).width)
    #expect(caption == WinAnsi.codes(name) || caption.contains(WinAnsi.ellipsis))
  }

  @Test func aFileThatCannotBeShownIsAMarkedPlace() throws {
    let good = Pictures.jpeg(width: 40, height: 30)
    let cells = [
      try pictures.cell(Array(good.dropLast(5)), name: "cut.jpg"), try pictures.cell(good),
      try pictures.cell(Array("garbage".utf8), name: "garbage.jpg"),
      SheetCell(caption: "gone.jpg", picture: .jpeg { () throws(Errno) in throw .noSuchFileOrDirectory }),
      SheetCell(caption: "failed.jpg", picture: .missing(reason: "samples are missing")),
    ]
    let file = try SheetFile()
    var writer = ContactSheetWriter(to: file.number, title: "Photos")
    let unusable = try writer.addPage(cells)
    try writer.finish()
    #expect(
      unusable.map(\.description) == [
        "cut.jpg: JPEG file is cut off", "garbage.jpg: not a JPEG file", "gone.jpg: No such file or directory",
      ])
    #expect(unusable.map(\.cell) == [0, 2, 3])
    let document = try file.document()
    #expect(try document.images(0).map(\.object.stream) == [good])
    let texts = try document.texts(0)
    #expect(
      texts.prefix(9) == [
        "JPEG file is cut off", "cut.jpg", "picture.jpg", "not a JPEG file", "garbage.jpg", "No such file or directory",
        "gone.jpg", "samples are missing", "failed.jpg",
      ])
  }

  @Test func theSamePicturesGiveTheSameBytes() throws {
    let cells = try (1...7).map { try pictures.cell(Pictures.jpeg(width: 30 * $0, height: 50), name: "\($0).jpg") }
    func sheet() throws -> [UInt8] {
      let file = try SheetFile()
      var writer = ContactSheetWriter(to: file.number, grid: SheetGrid(columns: 2, rows: 2), title: "Photos")
      for start in [0, 4] { try writer.addPage(Array(cells[start..<min(start + 4, cells.count)])) }
      try writer.finish()
      return try file.bytes()
    }
    #expect(try sheet() == sheet())
  }

  // MARK: Failures

  @Test func aFullDiskIsThrownAndThePageCanBeAddedAgain() throws {
    let full = try Descriptor.open("/dev/full", O_WRONLY)
    var writer = ContactSheetWriter(to: full.number, title: "Photos")
    let cell = try pictures.cell(Pictures.jpeg(width: 40, height: 30))
    for _ in 1...2 { #expect(throws: Errno.noSpace) { try writer.addPage([cell]) } }
    #expect(writer.pageCount == 0)
    #expect(throws: Errno.noSpace) { try writer.finish() }
  }

  /// A limit on the size of files would apply to all tests of this process. A descriptor that changes does not.
  @Test func aPageThatFailedLeavesNothingBehind() throws {
    let file = try SheetFile()
    var writer = ContactSheetWriter(to: file.number, grid: SheetGrid(columns: 1, rows: 2), title: "Photos")
    let small = try pictures.cell(Pictures.jpeg(width: 40, height: 30))
    // Larger than the buffer, so that a part of the page is in the file when it fails.
    let large = try pictures.cell(largeFile(size: 300_000))
    let full = try Descriptor.open("/dev/full", O_WRONLY)
    let kept = dup(file.number)
    try #require(kept >= 0)
    defer { close(kept) }
    let breaking = SheetCell(
      caption: "",
      picture: .jpeg { [number = file.number, full] () throws(Errno) in
        dup2(full.number, number)
        throw .ioError
      })
    for page in 1...130 {
      if page % 60 == 0 || page == 64 {
        #expect(throws: Errno.noSpace) { try writer.addPage([large, breaking]) }
        try #require(dup2(kept, file.number) >= 0)
      }
      try writer.addPage([small])
    }
    #expect(throws: Errno.noSpace) { try writer.addPage([large, breaking]) }
    try #require(dup2(kept, file.number) >= 0)
    try writer.finish()
    let document = try file.document()
    #expect(document.pages.count == 130)
    #expect(try (0..<130).allSatisfy { try document.images($0).count == 1 })
    // Catalogue, root, information and the list of fonts; then pages, nodes of the tree and Helvetica.
    #expect(document.objects.count == 4 + 130 * 3 + 3 + 1)
  }

  /// A JPEG file of any size: only its headers and its end are looked at.
  private func largeFile(size: Int) -> [UInt8] {
    let bytes = Pictures.jpeg(width: 40, height: 30)
    return bytes.prefix(bytes.count - 2) + [UInt8](repeating: 0x55, count: size) + [0xFF, 0xD9]
  }

  @Test func aThumbnailThatBecomesShorterIsAMarkedPlace() throws {
    let file = try SheetFile()
    var objects = ObjectWriter(to: file.number)
    let source = try pictures.cell([1, 2, 3])
    guard case .jpeg(let open) = source.picture else { return }
    let descriptor = Descriptor(try open())
    let result = try objects.write(objects.reserveNumber(), "", copying: descriptor.number, size: 4)
    #expect(throws: UnreadableFileError.becameShorter) { try result.get() }
  }

  @Test func anObjectBehindTheLastOffsetIsRefused() throws {
    let file = try SheetFile()
    var objects = ObjectWriter(to: file.number, lastOffset: 100)
    try objects.write(objects.reserveNumber(), stream: [UInt8](repeating: 0, count: 100))
    #expect(throws: Errno.fileTooLarge) { try objects.write(objects.reserveNumber(), "") }
  }

  // MARK: Memory

  @Test func aPageHasOneFileOpenAtATime() throws {
    let folder = pictures.folder
    try folder.write(Pictures.jpeg(width: 40, height: 30), to: "locked")
    try folder.write(Array("garbage".utf8), to: "garbage")
    let path = Path(folder("locked"))
    let overlaps = LockedBox(0)
    let cell = SheetCell(
      caption: "locked",
      picture: .jpeg { () throws(Errno) in
        let file = try openToRead(path)
        // The lock belongs to the open file, and ends when the writer closes it.
        if flock(file, LOCK_EX | LOCK_NB) != 0 { overlaps.change { $0 += 1 } }
        return file
      })
    let document = try SheetFile.of([cell, cell, cell])
    #expect(overlaps.value == 0)
    #expect(try document.images(0).count == 3)
  }

  @Test func theContentOfAPageIsWithinItsBound() throws {
    for grid in [
      SheetGrid(columns: 1, rows: 1), SheetGrid(), SheetGrid(columns: 20, rows: 20), SheetGrid(columns: 1, rows: 20),
    ] {
      for name in [String(repeating: "í ", count: 2000), String(repeating: "((((\\", count: 500)] {
        let cell = SheetCell(caption: name, picture: .missing(reason: name))
        let file = try SheetFile()
        var writer = ContactSheetWriter(to: file.number, grid: grid, title: name)
        try writer.addPage([SheetCell](repeating: cell, count: grid.count), header: name)
        try writer.finish()
        let size = try file.document().content(0).unicodeScalars.count
        #expect(size <= PageContent.sizeLimit(grid), "\(grid)")
        #expect(size < ContactSheetWriter.bytesNeeded(for: grid))
      }
    }
  }

  /// In a process of its own, because other tests need memory too.
  @Test(.enabled(if: ProcessStatus()?.peakResident != nil, "the kernel does not measure memory here"))
  func aLargeThumbnailIsNeverInMemoryAsAWhole() async {
    await #expect(processExitsWith: .success) {
      func peak() -> Int { ProcessStatus()?.peakResident ?? 0 }
      let folder = TemporaryFolder()
      let bytes = Pictures.jpeg(width: 40, height: 30)
      try folder.write(bytes.dropLast(2), to: "large")
      let large = try Descriptor.open(folder("large"), O_WRONLY)
      try writeAll([0xFF, 0xD9], to: large.number, at: 64 << 20)
      let path = Path(folder("large"))
      let cell = SheetCell(caption: "large", picture: .jpeg { () throws(Errno) in try openToRead(path) })

      let file = try SheetFile()
      var writer = ContactSheetWriter(to: file.number, title: "Photos")
      let before = peak()
      try writer.addPage([cell])
      #expect(peak() - before < 8 << 20)
      var status = stat()
      fstat(file.number, &status)
      #expect(status.st_size > 64 << 20)
    }
  }
}
