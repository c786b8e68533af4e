extension UInt8 {
  var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
  var isASCIILetter: Bool { (0x61...0x7a).contains(self | 0x20) }
}

extension StringProtocol {
  /// Whether it consists of decimal digits only; `Int(_:)` also accepts a sign.
  var isDecimal: Bool { !isEmpty && utf8.allSatisfy(\.isASCIIDigit) }
}
