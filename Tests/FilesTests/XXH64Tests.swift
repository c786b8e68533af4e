import Testing

@testable import Files

@Suite struct XXH64Tests {
  private func hash(_ bytes: [UInt8], pieces: Int = .max) -> UInt64 {
    var hash = XXH64()
    var rest = bytes[...]
    while !rest.isEmpty {
      rest.prefix(pieces).withUnsafeBytes { hash.append($0) }
      rest = rest.dropFirst(pieces)
    }
    return hash.hash
  }

  /// The hashes are those of the reference implementation, python-xxhash 4.1.0.
  @Test func hashesAreThoseOfTheSpecification() {
    #expect(hash([]) == 0xEF46_DB37_51D8_E999)
    #expect(hash(Array("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
    #expect(hash((0..<100).map { UInt8($0) }) == 0x6AC1_E580_3216_6597)
    #expect(hash((0..<32).map { UInt8($0) }) == 0xCBF5_9C51_16FF_32B4)
  }

  @Test(arguments: [1, 3, 31, 32, 33, 64, 200]) func piecesDoNotMatter(_ size: Int) {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* $0) }
    #expect(hash(bytes, pieces: size) == hash(bytes))
  }
}
