import Foundation

/// A path or a name as the system has it: bytes, of any encoding or none, without NUL.
///
/// swift-system's `FilePath` is the same idea; it checks and parses itself on every step, which a walk over a million
/// names cannot pay (measured: milliseconds for each name in a debug build). This one does what walks and plans need.
/// Separators are single and none is at the end; nothing else is normalised unasked.
public struct Path: Sendable, Hashable {
  /// With the NUL at the end, so that system calls take it as it is.
  private let storage: [UInt8]

  private init(storage: [UInt8]) {
    self.storage = storage
  }

  /// The empty path: the folder that a relative path starts from.
  public init() {
    storage = [0]
  }

  /// The path of these bytes, or nil when they hold a NUL, which no path can.
  public init?(bytes: some Collection<UInt8>) {
    if bytes.contains(0) { return nil }
    var storage: [UInt8] = []
    storage.reserveCapacity(bytes.count + 1)
    for byte in bytes where byte != Self.slash || storage.last != Self.slash { storage.append(byte) }
    if storage.count > 1 && storage.last == Self.slash { storage.removeLast() }
    storage.append(0)
    self.init(storage: storage)
  }

  /// The path of a text, up to its first NUL.
  public init(_ text: String) {
    self = Path(bytes: text.utf8.prefix { $0 != 0 })!
  }

  public init(cString: UnsafePointer<CChar>) {
    self = Path(bytes: UnsafeRawBufferPointer(start: cString, count: strlen(cString)))!
  }

  /// One name as readdir(3) gives it: copied, not looked through.
  package init(name: UnsafePointer<CChar>) {
    storage = Array(UnsafeRawBufferPointer(start: name, count: strlen(name) + 1))
  }

  private static let slash = UInt8(ascii: "/")

  /// Length in bytes.
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

  /// This path with a relative one below it; an absolute one replaces it.
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

  /// The names from the top down, without the leading slash.
  public var names: [Path] {
    bytes.split(separator: Self.slash).map { Path(storage: Array($0) + [0]) }
  }

  /// The last name; empty for `/` and the empty path.
  public var lastName: Path {
    guard let cut = bytes.lastIndex(of: Self.slash) else { return self }
    return Path(storage: Array(storage[(cut + 1)...]))
  }

  /// Without the last name: empty for one relative name, `/` for one absolute.
  public var parent: Path {
    guard let cut = bytes.lastIndex(of: Self.slash) else { return Path() }
    return Path(storage: Array(storage[..<max(cut, isAbsolute ? 1 : 0)]) + [0])
  }

  /// The relative path of these names.
  public init(names: some Sequence<Path>) {
    self = names.reduce(Path()) { $0.appending($1) }
  }

  /// The path with `.` left out and `name/..` taken back, by the text alone; nil when `..` leaves the folder that a
  /// relative path starts in. At the root `..` stays at the root, as the kernel has it.
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

  /// The same place without the leading slash.
  package var withoutRoot: Path { isAbsolute ? Path(storage: Array(storage.dropFirst())) : self }
}

extension Path: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral text: String) { self.init(text) }

  /// The printable form, never the raw one: what reaches a message by accident is harmless too.
  public var description: String { printable }
}
