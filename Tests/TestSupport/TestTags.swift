/// Exif tags as a camera writes them: a TIFF structure (Exif 2.32, 4.5 and 4.6).
public struct TestTags: Sendable, Hashable {
  /// 1 to 8; 0 for none.
  public var orientation = 0
  public var camera: String?
  /// DateTimeOriginal, such as `2024:07:14 18:03:12`.
  public var taken: String?
  /// OffsetTimeOriginal, such as `+02:00`.
  public var offset: String?
  /// A text in the directory for the place.
  public var place: String?

  public init(taken: String? = nil, offset: String? = nil, camera: String? = nil, place: String? = nil) {
    (self.taken, self.offset, self.camera, self.place) = (taken, offset, camera, place)
  }

  public var isEmpty: Bool { self == TestTags() }

  private enum Value {
    case text(String)
    case short(Int)
    case directory([(tag: Int, value: Value)])
  }

  /// The structure, big-endian.
  public var bytes: [UInt8] {
    func text(_ tag: Int, _ text: String?) -> [(tag: Int, value: Value)] { text.map { [(tag, .text($0))] } ?? [] }
    func directory(_ tag: Int, _ entries: [(tag: Int, value: Value)]) -> [(tag: Int, value: Value)] {
      entries.isEmpty ? [] : [(tag, .directory(entries))]
    }
    let first =
      text(0x0110, camera) + (orientation > 0 ? [(0x0112, .short(orientation))] : [])
      + directory(0x8769, text(0x9003, taken) + text(0x9011, offset)) + directory(0x8825, text(0x0012, place))
    return Array("MM\0*".utf8) + Self.number(8, 4) + Self.directory(first, at: 8)
  }

  /// A directory with its values behind it.
  private static func directory(_ entries: [(tag: Int, value: Value)], at start: Int) -> [UInt8] {
    var fields = number(entries.count, 2)
    var data: [UInt8] = []
    let end = start + 2 + 12 * entries.count + 4
    for (tag, value) in entries {
      fields += number(tag, 2)
      let place = end + data.count
      switch value {
      case .short(let short): fields += number(3, 2) + number(1, 4) + number(short, 2) + [0, 0]
      case .text(let text):
        let bytes = Array(text.utf8) + [0]
        fields += number(2, 2) + number(bytes.count, 4)
        fields += bytes.count > 4 ? number(place, 4) : bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
        if bytes.count > 4 { data += bytes }
      case .directory(let inner):
        fields += number(4, 2) + number(1, 4) + number(place, 4)
        data += directory(inner, at: place)
      }
    }
    return fields + number(0, 4) + data
  }

  private static func number(_ value: Int, _ width: Int) -> [UInt8] {
    (0..<width).reversed().map { UInt8(value >> (8 * $0) & 255) }
  }
}
