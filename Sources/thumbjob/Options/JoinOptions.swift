import ArgumentParser
import ContactSheet
import JobSettings

/// The options that make something of all thumbnails.
struct JoinOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Make a gallery of all thumbnails, a page that a browser opens from disk.", valueName: "folder"),
    completion: .directory)
  var html: String?

  @Option(
    help: ArgumentHelp(
      "Write a JSON list of all sources: their thumbnails, sizes, times, orientations and placeholders.",
      valueName: "file"),
    completion: .file(extensions: ["json"]))
  var manifest: String?

  @Option(
    help: ArgumentHelp("Write a PDF with all thumbnails and their names.", valueName: "file"),
    completion: .file(extensions: ["pdf"]))
  var contactSheet: String?

  @Option(
    help: ArgumentHelp("Columns and rows on each page of the contact sheet. (default: 4x5)", valueName: "grid"))
  var sheetGrid: String?

  func apply(to joins: inout JoinSettings) throws(TextError) {
    if let html { joins.gallery = CommandWords.path(of: html) }
    if let manifest { joins.manifest = CommandWords.path(of: manifest) }
    if let contactSheet { joins.contactSheet = CommandWords.path(of: contactSheet) }
    if let sheetGrid { joins.sheetGrid = try SheetGrid(parsing: sheetGrid, for: "--sheet-grid") }
  }
}
