import Files

/// A place in a store, such as S3: a bucket, and the key of an object or the beginning of the keys of several.
///
/// *Source*: Amazon Simple Storage Service, User Guide (names of buckets, keys of objects).
package struct StoreLocation: Sendable, Hashable {
  /// The most bytes of a key.
  package static let longestKey = 1024

  let kind: StoreKind
  package let bucket: String
  /// Any bytes but NUL; empty for the whole bucket. A slash separates folders only by custom.
  package let key: [UInt8]

  init(_ kind: StoreKind, bucket: String, key: [UInt8]) {
    (self.kind, self.bucket, self.key) = (kind, bucket, key)
  }

  /// Reads a text such as `s3://bucket/dir/photo.jpg`. The key stands there as it is, without percent encoding.
  ///
  /// - Throws: ``RemoteURLError``
  package init(parsing bytes: some Collection<UInt8>) throws(RemoteURLError) {
    guard let kind = StoreKind(ofAddress: bytes) else { preconditionFailure("it is the address of no store") }
    let parts = bytes.dropFirst(kind.rawValue.utf8.count).split(
      separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
    let shown = Path(bytes: bytes.prefix(200).filter { $0 != 0 })?.printable ?? ""
    func error(_ reason: String) -> RemoteURLError { RemoteURLError(url: shown, reason: reason) }
    let bucket = parts.first.map { Array($0) } ?? []
    guard bucket.contains(where: { $0 != UInt8(ascii: ".") }), bucket.count <= 255, bucket.allSatisfy(Self.isOfBucket)
    else { throw error("has no valid name of a bucket; write \(kind.rawValue)bucket/key") }
    let key = parts.count > 1 ? Array(parts[1]) : []
    guard key.count <= Self.longestKey else { throw error("its key is longer than \(Self.longestKey) bytes") }
    guard !key.contains(0) else { throw error("its key has a NUL") }
    self.init(kind, bucket: String(decoding: bucket, as: UTF8.self), key: key)
  }

  /// Whether a text is to be read as a location.
  static func isLocation(_ bytes: some Collection<UInt8>) -> Bool {
    StoreKind(ofAddress: bytes) != nil
  }

  private static func isOfBucket(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte.lowercasedASCII) || Array(".-_".utf8).contains(byte)
  }

  /// Another object of the bucket.
  package func with(key: [UInt8]) -> StoreLocation { StoreLocation(kind, bucket: bucket, key: key) }

  /// The bucket with the kind of store.
  package var host: String { kind.rawValue + bucket }

  /// Whether the key names no object but everything whose key begins with it, as a folder does.
  package var isFolder: Bool { key.isEmpty || key.last == UInt8(ascii: "/") }

  /// Whether the key of another location begins with this one, in the same bucket.
  package func contains(_ other: StoreLocation) -> Bool {
    host == other.host && other.key.starts(with: key)
  }

  /// Everything whose keys begin with this one and a slash.
  package var asFolder: StoreLocation { isFolder ? self : with(key: key + [UInt8(ascii: "/")]) }

  /// Everything beside the object, and below it: that whose keys begin with this one up to its last slash. A folder is in the
  /// folder above it.
  package var folder: StoreLocation {
    let name = isFolder ? key.dropLast() : key[...]
    return with(key: name.lastIndex(of: UInt8(ascii: "/")).map { Array(name[...$0]) } ?? [])
  }

  /// The deepest folder of the bucket that contains this one and another.
  package func commonFolder(with other: StoreLocation) -> StoreLocation {
    let common = zip(key, other.key).prefix { $0 == $1 }.map(\.0)
    return with(key: common.lastIndex(of: UInt8(ascii: "/")).map { Array(common[...$0]) } ?? [])
  }

  /// The place with its scheme. The key stands there as it is.
  var text: [UInt8] { Array(kind.rawValue.utf8) + bucket.utf8 + "/".utf8 + key }

  /// The path that the thumbnails of an object mirror.
  ///
  /// - Parameter folder: the beginning of the key that is left out, up to a slash; nil to begin with the bucket.
  package func mirrored(below folder: Int?) -> Path {
    var names = folder == nil ? [Path(bucket)] : []
    let segments = key[(folder ?? 0)...].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    // Empty names are left out, so they count in the hash of the last one.
    let isRegular = segments.dropLast().allSatisfy { !$0.isEmpty }
    for segment in segments.dropLast() where !segment.isEmpty {
      names.append(MirroredName.legal(Self.encoded(segment)))
    }
    let last = segments.last.map { Self.encoded($0) } ?? []
    names.append(
      MirroredName.legal(
        last.isEmpty ? Array("index".utf8) : last, told: isRegular ? "" : String(decoding: key, as: UTF8.self)))
    return Path(names: names)
  }

  /// The name with control characters encoded, and `.` and `..`.
  private static func encoded(_ name: ArraySlice<UInt8>) -> [UInt8] {
    let isDots = name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
    return name.flatMap { byte in isDots || byte < 0x20 || byte == 0x7f ? PercentEncoding.encoded(byte) : [byte] }
  }
}

extension StoreLocation: CustomStringConvertible {
  /// The place for people.
  package var description: String { Path(bytes: text)?.printable ?? host }
}
