import ContactSheet
import Files

/// What a job makes of all its thumbnails, besides them.
public struct JoinSettings: Sendable, Equatable {
  /// The file for a JSON list of all sources and their thumbnails; nil means none.
  public var manifest: Path?
  /// The file for a PDF with all thumbnails and their names; nil means none.
  public var contactSheet: Path?
  /// How many thumbnails a page of the contact sheet has.
  public var sheetGrid = SheetGrid()
  /// The folder for a gallery that a browser opens from disk; nil means none.
  public var gallery: Path?

  public init() {}

  public var isEmpty: Bool { manifest == nil && contactSheet == nil && gallery == nil }

  /// The files and folders that the job makes, by kind.
  public var paths: [(kind: JoinKind, path: Path)] {
    [(.manifest, manifest), (.contactSheet, contactSheet), (.gallery, gallery)].compactMap { kind, path in
      path.map { (kind, $0) }
    }
  }
}
