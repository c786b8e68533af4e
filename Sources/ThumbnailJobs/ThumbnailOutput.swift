import Foundation
import Thumbnails

/// One set of thumbnails that a job makes: where they go, how they are made, and which are there already.
struct ThumbnailOutput: Sendable {
  let path: Path
  /// Nil in a dry run, which makes no folder.
  let folder: OutputFolder?
  let options: ThumbnailOptions
  /// In the order of the sizes.
  private let stamps: [SettingsStamp]

  /// Makes the folder, and notes the settings in it.
  ///
  /// - Throws: `OutputError`.
  init(path: Path, options: ThumbnailOptions, isDryRun: Bool) throws(OutputError) {
    self.path = path
    self.options = options
    let folder = isDryRun ? nil : try OutputFolder(path)
    self.folder = folder
    var stamps: [SettingsStamp] = []
    for size in options.sizes {
      let settings = Self.settings(options, size)
      let name = options.sizes.count == 1 ? nil : Path(size.name)
      if let folder {
        stamps.append(try SettingsStamp(renewing: settings, size: name, in: folder))
      } else {
        stamps.append(SettingsStamp(reading: settings, size: name, in: path))
      }
    }
    self.stamps = stamps
  }

  /// What it writes below: one folder, or one for each size.
  var folders: [Path] {
    options.sizes.count == 1 ? [path] : options.sizes.map { path.appending(Path($0.name)) }
  }

  /// Where in the folder a size's thumbnail of a source goes, which has `place` for its thumbnails.
  func place(_ place: Path, size: SizeSpec) -> Path {
    options.sizes.count == 1 ? place : Path(size.name).appending(place)
  }

  /// How the thumbnails of a source stand: up to date only when all are.
  ///
  /// - Parameter source: `stat` of the source.
  func state(of place: Path, source: stat) -> SettingsStamp.State {
    for (size, stamp) in zip(options.sizes, stamps) {
      let state = stamp.state(of: self.place(place, size: size), source: source)
      if state != .upToDate { return state }
    }
    return .upToDate
  }

  /// All that decides the bytes of a thumbnail but its source.
  private static func settings(_ options: ThumbnailOptions, _ size: SizeSpec) -> String {
    """
    size \(size.description)
    quality \(options.quality)
    progressive \(options.progressive)
    subsample \(options.subsampling.rawValue)
    keep \(options.keep.rawValue)
    linear \(options.linear)
    fail-on \(options.failOn.rawValue)

    """
  }
}
