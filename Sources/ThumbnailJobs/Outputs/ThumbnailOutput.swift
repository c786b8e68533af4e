import Files
import Foundation
import Thumbnails

/// One output of a job: its folder, its options, and the state of the thumbnails that are already there.
struct ThumbnailOutput: Sendable {
  let path: Path
  /// Nil in a dry run.
  let folder: OutputFolder?
  let options: ThumbnailOptions
  /// One for each size, in the order of the sizes.
  private let stamps: [SettingsStamp]

  /// Makes the folder and writes the settings there, unless this is a dry run.
  ///
  /// - Throws: ``OutputError``.
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

  /// The folders for thumbnails: one for each size, or only one if there is one size.
  var folders: [Path] {
    options.sizes.count == 1 ? [path] : options.sizes.map { path.appending(Path($0.name)) }
  }

  /// The place of one size's thumbnail.
  ///
  /// - Parameter place: the place of the source's thumbnails, from ``OutputPlan``.
  func place(_ place: Path, size: SizeSpec) -> Path {
    options.sizes.count == 1 ? place : Path(size.name).appending(place)
  }

  /// Puts a thumbnail in place.
  ///
  /// - Parameter place: the place of the source's thumbnails, from ``OutputPlan``.
  /// - Throws: ``OutputError``.
  func publish(_ thumbnail: Thumbnail, to place: Path, modified: timespec) throws(OutputError) -> MadeThumbnail {
    guard let folder, let index = options.sizes.firstIndex(of: thumbnail.size) else {
      preconditionFailure("only a real run publishes, and only sizes of its options")
    }
    let place = self.place(place, size: thumbnail.size)
    let bytes = try folder.publish(
      thumbnail: thumbnail.bytes, marked: stamps[index].mark, to: place, modified: modified)
    return MadeThumbnail(
      path: path.appending(place), size: thumbnail.size.name, pixels: thumbnail.pixels, bytes: bytes)
  }

  /// The state of a source's thumbnails together: `isSource` if one of the places is the source, otherwise the state of
  /// the first thumbnail that is not up to date.
  ///
  /// - Parameter source: the status of the source.
  func state(of place: Path, source: stat) -> SettingsStamp.State {
    let states = zip(options.sizes, stamps).map { size, stamp in
      stamp.state(of: self.place(place, size: size), source: source)
    }
    return states.contains(.isSource) ? .isSource : states.first { $0 != .upToDate } ?? .upToDate
  }

  /// Everything except the source that determines the bytes of a thumbnail.
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
