#if Formats
import CLibExif
import Foundation

/// A source's EXIF block, which libexif parses. It is made only if the options keep EXIF or copyright.
///
/// A block that libexif cannot parse is left out of the thumbnail; faulty EXIF is never an error.
final class ExifBlock {
  private let data: UnsafeMutablePointer<ExifData>

  /// The most entries that are parsed. Cameras write up to about two hundred.
  private static let mostEntries = 1000

  /// - parameter block: the TIFF structure after "Exif\0\0".
  init?(_ block: UnsafeBufferPointer<UInt8>) {
    guard let reader = TIFFReader(block), reader.isPlain(limit: Self.mostEntries), let data = exif_data_new() else {
      return nil
    }
    self.data = data
    // Without this, libexif adds and removes tags to follow the specification.
    exif_data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION)
    let prefixed = Array("Exif\0\0".utf8) + block
    exif_data_load_data(data, prefixed, UInt32(prefixed.count))
  }

  deinit { exif_data_unref(data) }

  /// The whole block for a thumbnail of this size: with upright orientation, these pixel counts, and no embedded
  /// preview. Empty if there is nothing to keep.
  ///
  /// - parameter withPlace: whether to keep the GPS directory and the camera maker's notes. The notes may name the place,
  ///   too.
  func whole(for pixels: PixelSize, withPlace: Bool) -> [UInt8] {
    free(data.pointee.data)
    data.pointee.data = nil
    data.pointee.size = 0
    removeAll(in: EXIF_IFD_1)
    if !withPlace {
      removeAll(in: EXIF_IFD_GPS)
      if let directory = content(EXIF_IFD_EXIF), let notes = exif_content_get_entry(directory, EXIF_TAG_MAKER_NOTE) {
        exif_content_remove_entry(directory, notes)
      }
    }
    set(EXIF_TAG_ORIENTATION, in: EXIF_IFD_0, to: 1)
    set(EXIF_TAG_PIXEL_X_DIMENSION, in: EXIF_IFD_EXIF, to: pixels.width)
    set(EXIF_TAG_PIXEL_Y_DIMENSION, in: EXIF_IFD_EXIF, to: pixels.height)
    return Self.serialized(data)
  }

  /// Moves the tags Artist and Copyright from this block to a new one, and returns that in serialized form. Empty if
  /// there are none.
  func extractCopyright() -> [UInt8] {
    guard let directory = content(EXIF_IFD_0), let kept = exif_data_new() else { return [] }
    defer { exif_data_unref(kept) }
    exif_data_set_byte_order(kept, exif_data_get_byte_order(data))
    guard let target = Self.content(of: kept, EXIF_IFD_0) else { return [] }
    var found = false
    for tag in [EXIF_TAG_ARTIST, EXIF_TAG_COPYRIGHT] {
      guard let entry = exif_content_get_entry(directory, tag) else { continue }
      // An entry has one owner, so it must be removed from one block before it is added to the other.
      exif_entry_ref(entry)
      exif_content_remove_entry(directory, entry)
      exif_content_add_entry(target, entry)
      exif_entry_unref(entry)
      found = true
    }
    return found ? Self.serialized(kept) : []
  }

  private func removeAll(in directory: ExifIfd) {
    guard let content = content(directory) else { return }
    while content.pointee.count > 0 {
      let count = content.pointee.count
      exif_content_remove_entry(content, content.pointee.entries[0])
      if content.pointee.count == count { break }
    }
  }

  private func content(_ directory: ExifIfd) -> UnsafeMutablePointer<ExifContent>? {
    Self.content(of: data, directory)
  }

  private static func content(
    of data: UnsafeMutablePointer<ExifData>, _ directory: ExifIfd
  ) -> UnsafeMutablePointer<ExifContent>? {
    withUnsafePointer(to: &data.pointee.ifd) { tuple in
      tuple.withMemoryRebound(to: UnsafeMutablePointer<ExifContent>?.self, capacity: Int(EXIF_IFD_COUNT.rawValue)) {
        $0[Int(directory.rawValue)]
      }
    }
  }

  /// Changes the value of an existing number, whose width does not change.
  private func set(_ tag: ExifTag, in directory: ExifIfd, to value: Int) {
    guard let content = content(directory), let entry = exif_content_get_entry(content, tag),
      let bytes = entry.pointee.data
    else { return }
    let order = exif_data_get_byte_order(data)
    switch entry.pointee.format {
    case EXIF_FORMAT_SHORT where entry.pointee.size >= 2:
      exif_set_short(bytes, order, ExifShort(truncatingIfNeeded: value))
    case EXIF_FORMAT_LONG where entry.pointee.size >= 4, EXIF_FORMAT_SLONG where entry.pointee.size >= 4:
      exif_set_long(bytes, order, ExifLong(truncatingIfNeeded: value))
    default: break
    }
  }

  /// The payload of an APP1 segment; empty if it is too large for one.
  private static func serialized(_ data: UnsafeMutablePointer<ExifData>) -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    var size: UInt32 = 0
    exif_data_save_data(data, &bytes, &size)
    defer { free(bytes) }
    let markerLimit = 65_533
    guard let bytes, size > 6, size <= markerLimit else { return [] }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
  }
}
#endif
