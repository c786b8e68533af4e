extension SizeSpec {
  /// Parses a size.
  ///
  /// - throws: `SizeSpecError` with the reason why the text is not a size.
  public init(parsing text: String) throws(SizeSpecError) {
    func refuse(_ reason: String, example: String = "256 or 300x200^") -> SizeSpecError {
      SizeSpecError(text: text, reason: reason, example: example)
    }
    let flagCharacters = "^!<>"
    var rest = Substring(text)
    var name: String?
    if let equals = rest.firstIndex(of: "=") {
      name = String(rest[..<equals])
      rest = rest[rest.index(after: equals)...]
      if let reason = Self.fault(inName: name ?? "") { throw refuse(reason, example: "small=\(rest)") }
    }

    // What follows “^”, up to the next flag, is the position.
    var position = CropPosition.centre
    if let caret = rest.firstIndex(of: "^") {
      let start = rest.index(after: caret)
      let end = rest[start...].firstIndex(where: flagCharacters.contains) ?? rest.endIndex
      if start < end {
        do { position = try CropPosition(parsing: rest[start..<end]) } catch {
          throw refuse(error.reason, example: error.example)
        }
        rest.removeSubrange(start..<end)
      }
    }

    var flags: Set<Character> = []
    while let last = rest.last, flagCharacters.contains(last) {
      guard flags.insert(last).inserted else { throw refuse("“\(last)” is given twice") }
      rest.removeLast()
    }
    if flags.isSuperset(of: "^!") { throw refuse("“^” crops and “!” stretches: use only one") }
    if flags.isSuperset(of: "<>") { throw refuse("“<” allows enlarging and “>” forbids it: use only one") }

    let sides = rest.split(separator: "x", omittingEmptySubsequences: false)
    guard !rest.isEmpty, sides.count <= 2, sides.contains(where: { !$0.isEmpty }) else {
      throw refuse(rest.isEmpty ? "there is no width or height" : "it is not WIDTHxHEIGHT")
    }
    var lengths: [Int?] = []
    for side in sides {
      if side.isEmpty {
        lengths.append(nil)
        continue
      }
      guard side.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        throw refuse("“\(side)” is not a whole number of pixels")
      }
      guard let length = Int(side), (1...Self.maximumSide).contains(length) else {
        throw refuse("\(side) pixels is outside 1 to \(Self.maximumSide)")
      }
      lengths.append(length)
    }
    let width = lengths[0]
    let height = lengths.count == 2 ? lengths[1] : width
    if let mode = flags.intersection("^!").first, width == nil || height == nil {
      throw refuse("“\(mode)” needs width and height", example: "300x200\(mode)")
    }
    let mode: Mode = flags.contains("^") ? .fill : flags.contains("!") ? .exact : .fit
    self.init(
      name: name, width: width, height: height, mode: mode, position: position,
      enlarges: mode == .exact ? !flags.contains(">") : flags.contains("<"))
  }

  /// The reason why a text is not allowed as a name, which must be valid for a folder; nil if it is allowed.
  private static func fault(inName name: String) -> String? {
    if name.isEmpty { return "the name before “=” is empty" }
    if name.utf8.count > 64 { return "the name is longer than 64 bytes" }
    if name.hasPrefix(".") || name.hasPrefix("-") { return "a name cannot start with “\(name.prefix(1))”" }
    let allowed = name.unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || $0.isASCIIDigit || "._-".contains(Character($0))
    }
    return allowed ? nil : "a name is letters, digits, “.”, “_” and “-”"
  }
}

extension Unicode.Scalar {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
