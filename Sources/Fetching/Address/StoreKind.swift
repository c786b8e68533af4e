/// A kind of store. The raw value is the beginning of its addresses, in small letters.
enum StoreKind: String, Sendable, CaseIterable {
  case s3 = "s3://"

  /// The kind of store that an address is in; nil if it is in none.
  init?(ofAddress bytes: some Collection<UInt8>) {
    let kind = Self.allCases.first { kind in
      bytes.prefix(kind.rawValue.utf8.count).map(\.lowercasedASCII).elementsEqual(kind.rawValue.utf8)
    }
    guard let kind else { return nil }
    self = kind
  }
}
