import Files
import Marks

extension GalleryPicture {
  /// Nil if there is no thumbnail.
  ///
  /// - Parameter folders: the folder of the thumbnails of each size and format.
  init?(_ entry: SourceEntry, _ description: SourceDescription?, _ pictures: [SourceEntry.Picture], folders: [Path]) {
    let source = entry.source
    let largest = pictures.map(\.thumbnail.pixels).max { $0.count < $1.count }
    // Without a description, the largest thumbnail has nearly its shape.
    guard let largest, case let pixels = description?.pixels ?? largest else { return nil }
    var thumbnails = [Thumbnail?](repeating: nil, count: folders.count)
    for picture in pictures where !picture.isShared {
      let path = picture.thumbnail.path.below(folders[picture.slot]) ?? picture.thumbnail.path
      thumbnails[picture.slot] = Thumbnail(
        pixels: picture.thumbnail.pixels, path: path == source.relativePath ? nil : JSONPath(path))
    }
    self.init(
      source: JSONPath(source.relativePath), taken: entry.facts.taken, pixels: pixels,
      placeholder: description?.placeholder,
      thumbnails: thumbnails)
  }
}

extension GalleryCopies {
  /// The stored form of the places of a picture's thumbnails.
  static func entry(_ pictures: [SourceEntry.Picture], folders: [Path]) -> [UInt8] {
    var places = [[UInt8]](repeating: [], count: folders.count)
    for picture in pictures where !picture.isShared {
      guard let place = picture.thumbnail.path.below(folders[picture.slot]) else {
        preconditionFailure("a thumbnail is in the folder of its size")
      }
      places[picture.slot] = Array(place.bytes)
    }
    return Array(places.joined(separator: [0]))
  }
}
