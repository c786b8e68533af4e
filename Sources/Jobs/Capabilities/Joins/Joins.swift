import BoundedQueue
import Files
import Foundation
import JobSettings
import PictureMaking
import Places
import Sourcing

/// The manifest, the contact sheet and the gallery of one job: what they need is collected while the job runs.
///
/// *Concurrency*: every method may be called from any thread. What is collected is on the disk, so a million sources take no
/// more memory than a thousand.
final class Joins: Sendable {
  private struct Manifest {
    let path: Path
    /// The paths in the manifest lead from this folder.
    let folder: Path
    /// What it tells besides.
    let fields: ManifestFields
    let entries: EntryList
  }

  private struct Gallery {
    let plan: GalleryPlan
    let pictures: EntryList
    let missing: EntryList
    /// The thumbnails of each picture, of which a standalone gallery has copies (``GalleryCopies``).
    let thumbnails: EntryList?
  }

  private struct Sheet {
    let design: SheetOperation.Design
    let entries: EntryList
  }

  private let outputs: [ThumbnailOutput]
  private let isDurable: Bool
  private let manifest: Manifest?
  private let gallery: Gallery?
  private let sheet: Sheet?

  /// Checks that everything can be made.
  ///
  /// - Parameters:
  ///   - outputs: at least one, whose folder exists: the entries are stored on its file system.
  ///   - tree: the folder whose tree the thumbnails mirror; nil if it is not known.
  ///   - isDurable: whether each file must outlive a crash of the system once it is in place.
  ///   - isFollowed: whether sources come and go, as in a watch.
  /// - Throws: ``OutputError``.
  init(
    _ settings: JoinSettings, outputs: [ThumbnailOutput], tree: Path?, isDurable: Bool, isFollowed: Bool
  ) throws(OutputError) {
    (self.outputs, self.isDurable) = (outputs, isDurable)
    if let path = settings.manifest {
      _ = try JoinFile(path, kind: .manifest)
      let folder: Path
      do throws(Errno) { folder = try (path.parent.isEmpty ? "." : path.parent).real() } catch {
        throw OutputError(writing: path, error)
      }
      manifest = Manifest(
        path: path, folder: folder, fields: settings.manifestFields,
        entries: try EntryList(in: outputs[0], isFollowed: isFollowed))
    } else {
      manifest = nil
    }
    if let folder = settings.gallery {
      gallery = Gallery(
        plan: try GalleryPlan(
          folder, title: settings.title, isStandalone: settings.isGalleryStandalone, outputs: outputs, tree: tree),
        pictures: try EntryList(in: outputs[0], isFollowed: isFollowed),
        missing: try EntryList(in: outputs[0], isFollowed: isFollowed),
        thumbnails: settings.isGalleryStandalone ? try EntryList(in: outputs[0], isFollowed: isFollowed) : nil)
    } else {
      gallery = nil
    }
    sheet = try settings.contactSheet.map { path throws(OutputError) in
      _ = try JoinFile(path, kind: .contactSheet)
      let title = settings.title ?? (tree ?? Path.workingFolder ?? path).lastName.jsonText.text
      let design = SheetOperation.Design(path: path, grid: settings.sheetGrid, title: title, isDurable: isDurable)
      return Sheet(design: design, entries: try EntryList(in: outputs[0], isFollowed: isFollowed))
    }
  }

  /// Stores what is made of a source that is not up to date.
  ///
  /// - Parameters:
  ///   - findings: of its operation; nil if it had none.
  ///   - place: the place of its thumbnails; nil if it has none.
  func store(_ report: SourceReport, _ findings: SourceFindings? = nil, place: Path? = nil) {
    guard let entry = SourceEntry(report, findings, place: place, outputs: outputs) else {
      return remove(report.source, andBelow: false)
    }
    store(entry)
  }

  /// Removes what was stored of a source that has none any more.
  ///
  /// - Parameter below: whether that of all sources below its path goes, too.
  func remove(_ source: Source, andBelow below: Bool) {
    for list in [sheet?.entries, manifest?.entries, gallery?.pictures, gallery?.missing] {
      list?.remove(source, andBelow: below)
    }
  }

  /// Stores what is made of a source.
  func store(_ entry: SourceEntry) {
    let source = entry.source
    // Of a source that had a picture, or had none.
    gallery?.pictures.remove(source, andBelow: false)
    gallery?.missing.remove(source, andBelow: false)
    if let sheet, let entry = SheetEntry(entry) { sheet.entries.store(entry.bytes, of: source) }
    if let manifest { manifest.entries.store(ManifestEntry(entry, from: manifest.folder, manifest.fields), of: source) }
    guard let gallery else { return }
    switch entry.result {
    case .pictures(let description, let pictures):
      if let picture = GalleryPicture(entry, description, pictures, folders: gallery.plan.sizeFolders) {
        gallery.pictures.store(picture, of: source)
        gallery.thumbnails?.store(GalleryCopies.entry(pictures, folders: gallery.plan.sizeFolders), of: source)
      }
    // Who is given a standalone gallery does not miss what failed.
    case .missing where gallery.thumbnails != nil: break
    case .missing(_, let reason):
      gallery.missing.store(MissingPicture(source: JSONPath(entry.source.relativePath), reason: reason), of: source)
    }
  }

  /// The operation that makes one of the joins, which the settings have.
  func operation(_ kind: JoinKind, memory: MemoryPlan) -> JoinOperation {
    switch kind {
    case .manifest:
      if let manifest { return ManifestOperation(manifest.path, manifest.entries, isDurable: isDurable) }
    case .contactSheet: if let sheet { return SheetOperation(sheet.design, sheet.entries, memory: memory) }
    case .gallery:
      if let gallery {
        return GalleryOperation(
          gallery.plan, pictures: gallery.pictures, missing: gallery.missing, thumbnails: gallery.thumbnails,
          isDurable: isDurable)
      }
    case .checksums: break
    }
    preconditionFailure("the job makes no \(kind.rawValue)")
  }
}
