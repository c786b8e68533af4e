/// Splits a stream of bytes into entries. Whatever the input, it holds no more than the longest entry and one byte.
package struct EntrySplitter {
  private let separator: UInt8
  private let maximumLength: Int
  private var pending: [UInt8] = []

  /// - Parameters:
  ///   - separator: the byte that ends an entry.
  ///   - maximumLength: the most bytes of an entry. A longer one is passed on with one byte more, and its rest is dropped.
  package init(separator: UInt8, maximumLength: Int) {
    (self.separator, self.maximumLength) = (separator, maximumLength)
  }

  /// Adds bytes, and passes each entry that is now complete to `body`, except empty ones.
  package mutating func append(_ bytes: ArraySlice<UInt8>, _ body: ([UInt8]) throws -> Void) rethrows {
    var rest = bytes
    while let end = rest.firstIndex(of: separator) {
      keep(rest[..<end])
      rest = rest[(end + 1)...]
      try finish(body)
    }
    keep(rest)
  }

  /// Passes the last entry to `body`, if it has no separator and is not empty.
  package mutating func finish(_ body: ([UInt8]) throws -> Void) rethrows {
    if pending.isEmpty { return }
    let entry = pending
    pending.removeAll(keepingCapacity: true)
    try body(entry)
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>) { pending += bytes.prefix(maximumLength + 1 - pending.count) }
}
