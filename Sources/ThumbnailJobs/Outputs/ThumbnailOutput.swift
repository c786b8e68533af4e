import Files
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

  /// Puts a thumbnail in place.
  ///
  /// - Parameter place: of the source's thumbnails.
  /// - Returns: where it is now, and what was made.
  /// - Throws: `OutputError`.
  func publish(_ thumbnail: Thumbnail, to place: Path, modified: timespec) throws(OutputError) -> MadeThumbnail {
    guard let folder, let index = options.sizes.firstIndex(of: thumbnail.size) else {
      preconditionFailure("a dry run makes no thumbnail, nor does any run one of a size not asked for")
    }
    let place = self.place(place, size: thumbnail.size)
    let bytes = try folder.publish(
      thumbnail: thumbnail.bytes, marked: stamps[index].mark, to: place, modified: modified)
    return MadeThumbnail(
      path: path.appending(place), size: thumbnail.size.name, pixels: thumbnail.pixels, bytes: bytes)
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
