import ContactSheet
import Files
import Gallery

/// What a job makes of all its thumbnails, besides them.
package struct JoinSettings: Sendable, Equatable, DefaultSettings {
  /// The file for a JSON list of all sources and their thumbnails; nil means none.
  package var manifest: Path?
  /// What the manifest tells besides.
  package var manifestFields: ManifestFields = []
  /// The file for a PDF with all thumbnails and their names; nil means none.
  package var contactSheet: Path?
  /// How many thumbnails a page of the contact sheet has.
  package var sheetGrid = SheetGrid()
  /// The folder for a gallery that a browser opens from disk; nil means none.
  package var gallery: Path?
  /// Whether the gallery has copies of its thumbnails in its folder, and shows nothing that is outside.
  package var isGalleryStandalone = false
  /// The title of gallery and contact sheet; nil means the name of the folder of the sources.
  package var title: String?

  package init() {}

  package static let settings: [Setting<JoinSettings>] = [
    Setting(
      "html", \.gallery, .path, value: "folder",
      "Make a gallery of all thumbnails, a page that a browser opens from disk.",
      completion: .folder),
    Setting(
      "html-standalone", \.isGalleryStandalone, .flag,
      "Copy the thumbnails into the folder of the gallery, which can then be zipped or uploaded by itself; without links to "
        + "the sources, and without those that failed.",
      refusedByWatch: endless),
    Setting(
      "title", \.title, .text(parseTitle), value: "text",
      "The title of gallery and contact sheet, instead of the name of the sources' folder."),
    Setting(
      "manifest", \.manifest, .path, value: "file",
      "Write a JSON list of all sources: their thumbnails, sizes, dates, orientations and placeholders.",
      completion: .file(extensions: ["json"])),
    Setting(
      "manifest-fields", \.manifestFields, .words, value: "fields",
      "What the manifest tells besides: camera (its model), modified (the time of the file), sha256 (the digest of its "
        + "contents); separated by commas.",
      completion: .words(ManifestFields.words.map(\.key))),
    Setting(
      "contact-sheet", \.contactSheet, .path, value: "file", "Write a PDF with all thumbnails and their names.",
      completion: .file(extensions: ["pdf"]), refusedByWatch: endless),
    Setting(
      "sheet-grid", \.sheetGrid,
      .text(
        SheetGrid.init(parsing:for:), text: { "\($0)" }),
      value: "grid", "Columns and rows on each page of the contact sheet.", refusedByWatch: endless),
  ]

  @Sendable private static func parseTitle(_ text: String, _ subject: String) throws(TextError) -> String {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if words.isEmpty { throw TextError("\(subject): the title is empty") }
    return String(words.prefix(200))
  }

  private static let endless = "reads all thumbnails each time that it is made, and a watch has no end; use it with run"

  package var isEmpty: Bool { manifest == nil && contactSheet == nil && gallery == nil }

  /// The files and folders that the job makes, by kind.
  package var paths: [(kind: JoinKind, path: Path)] {
    [(.manifest, manifest), (.contactSheet, contactSheet), (.gallery, gallery)].compactMap { kind, path in
      path.map { (kind, $0) }
    }
  }

  /// - Throws: ``TextError`` if a path is empty or a URL, two files have the same, or the contact sheet is not named as a
  ///   PDF.
  func validate() throws(TextError) {
    if manifest == nil, !manifestFields.isEmpty {
      throw TextError(in: "manifest-fields", "there is no manifest; “manifest” names one")
    }
    if title != nil, gallery == nil, contactSheet == nil {
      throw TextError(
        in: "title", "there is neither a gallery nor a contact sheet; “html” and “contact-sheet” name them")
    }
    var owners: [Path: JoinKind] = [:]
    for (kind, path) in paths {
      if path.isEmpty { throw TextError(in: kind.setting, "the path is empty") }
      if path.isURL { throw TextError(in: kind.setting, "\(path.printable) is a URL; name a file or folder") }
      if kind == .contactSheet, !path.isPDF {
        throw TextError(
          in: kind.setting, "\(path.printable) is not named as a PDF, which it will be; write a name with .pdf")
      }
      let names = kind == .gallery ? GalleryPage.files.map(\.path) + [GalleryPage.data] : [""]
      for name in names {
        let file = path.appending(Path(name))
        if let other = owners.updateValue(kind, forKey: file.normalized ?? file), other != kind {
          throw TextError(in: kind.setting, "\(file.printable) belongs to the \(other.rawValue) already")
        }
      }
    }
  }

  /// - Parameter outputs: the output folders.
  /// - Throws: ``TextError`` if there is no gallery for copies of thumbnails, or its folder would have more than them: an output
  ///   folder also has the ledger, which names the sources.
  package func validateStandalone(besides outputs: [Path]) throws(TextError) {
    guard isGalleryStandalone else { return }
    guard let gallery else { throw TextError(in: "html-standalone", "needs “html”, the folder of the gallery") }
    for output in outputs where (output.absolute ?? output).below(gallery.absolute ?? gallery) != nil {
      throw TextError(
        in: "html-standalone",
        "the output \(output.printable) is in the folder of the gallery, \(gallery.printable), and also has the list of what "
          + "failed; name a folder outside of that with “out”"
      )
    }
  }
}

extension Path {
  /// Whether the path ends like that of a PDF file.
  fileprivate var isPDF: Bool { String(decoding: bytes.suffix(4), as: UTF8.self).lowercased() == ".pdf" }
}
