import Files
import Foundation

/// A small kernel file of counters that is read repeatedly. Each line has a name, blanks and a number, or the file has one
/// line of numbers. The file is opened once, and reading it does not allocate memory.
///
/// *Concurrency*: use it from one thread.
final class CounterFile {
  private let file: Descriptor
  private let buffer: UnsafeMutableRawBufferPointer
  private var length = 0

  init(_ path: String) throws(SystemError) {
    file = try Descriptor.open(path, O_RDONLY)
    buffer = .allocate(byteCount: 16384, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// Reads the file again; false if it cannot be read or is empty.
  func refresh() -> Bool {
    length = max(0, pread(file.number, buffer.baseAddress, buffer.count, 0))
    return length > 0
  }

  /// The number that follows a name at the start of a line.
  func number(after name: StaticString) -> Int? {
    let key = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    var rest = buffer[..<length]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      let line = rest[..<end]
      if line.starts(with: key), case let rest = line.dropFirst(key.count), rest.first.map(Self.isBlank) == true {
        return Self.number(rest.drop(while: Self.isBlank).prefix { !Self.isBlank($0) })
      }
      rest = rest[end...].dropFirst()
    }
    return nil
  }

  /// The number at an index, from 0, in a file that has one line of numbers.
  func number(at index: Int) -> Int? {
    let isBetween: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
    var rest = buffer[..<length]
    for _ in 0..<index {
      guard let end = rest.firstIndex(where: isBetween) else { return nil }
      rest = rest[(end + 1)...]
    }
    return Self.number(rest.prefix { !isBetween($0) })
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  private static func number(_ digits: UnsafeMutableRawBufferPointer.SubSequence) -> Int? {
    var value = 0
    for digit in digits {
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
      let (tenfold, isLarge) = value.multipliedReportingOverflow(by: 10)
      guard !isLarge else { return nil }
      value = tenfold &+ Int(digit - UInt8(ascii: "0"))
    }
    return digits.isEmpty ? nil : value
  }
}
