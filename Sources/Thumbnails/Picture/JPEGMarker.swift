/// The second byte of a JPEG marker, after `prefix`.
///
/// *Source*: ITU-T T.81, B.1.1.3, table B.1.
package struct JPEGMarker: RawRepresentable, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The first byte of every marker. Any number of them (fill bytes) may precede the second byte.
  static let prefix: UInt8 = 0xFF
  /// The byte after a `prefix` that belongs to entropy-coded data and begins no marker.
  static let stuffing: UInt8 = 0x00

  /// Start of frame: baseline, extended sequential and progressive.
  static let sof0 = JPEGMarker(rawValue: 0xC0)
  static let sof1 = JPEGMarker(rawValue: 0xC1)
  static let sof2 = JPEGMarker(rawValue: 0xC2)
  /// Huffman tables.
  static let dht = JPEGMarker(rawValue: 0xC4)
  /// The first of eight restart markers, which are used in turn.
  static let rst0 = JPEGMarker(rawValue: 0xD0)
  /// Start of image.
  package static let soi = JPEGMarker(rawValue: 0xD8)
  /// End of image.
  static let eoi = JPEGMarker(rawValue: 0xD9)
  /// Start of scan.
  static let sos = JPEGMarker(rawValue: 0xDA)
  /// Quantization tables.
  static let dqt = JPEGMarker(rawValue: 0xDB)
  /// Restart interval.
  static let dri = JPEGMarker(rawValue: 0xDD)
  /// The first of sixteen application segments.
  package static let app0 = JPEGMarker(rawValue: 0xE0)
  /// Comment.
  package static let com = JPEGMarker(rawValue: 0xFE)

  /// The restart marker that comes after `count` others.
  static func rst(after count: Int) -> JPEGMarker { JPEGMarker(rawValue: rst0.rawValue + UInt8(count % 8)) }

  var isRestart: Bool { rawValue & 0xF8 == Self.rst0.rawValue }
  var isApplication: Bool { rawValue & 0xF0 == Self.app0.rawValue }

  /// Both bytes.
  package var bytes: [UInt8] { [Self.prefix, rawValue] }
}
