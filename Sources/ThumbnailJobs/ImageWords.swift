/// The words for sizes and image options, checked where a person wrote them. The target `Thumbnails` says what they
/// mean; this file is the one place that has to agree with it.
public enum ImageWords {
  /// A closed set of words, of which one holds when nothing is said.
  public struct Choice: Sendable {
    public let words: [String]
    public let `default`: String
  }

  public static let failOn = Choice(words: ["truncated", "error", "warning"], default: "error")
  public static let subsample = Choice(words: ["420", "444"], default: "420")
  public static let progress = Choice(words: ["auto", "bar", "plain", "none"], default: "auto")
  /// Of metadata any may be kept, so there is no default.
  public static let keep = ["icc", "exif", "copyright"]

  /// True for `W`, `WxH`, `Wx`, `xH` with any of the flags `^`, `!`, `>`, `<` behind. Numbers are pixels of a JPEG: 1 to
  /// 65,500.
  static func isSize(_ spec: String) -> Bool {
    let body = spec.prefix { $0 != "^" && $0 != "!" && $0 != ">" && $0 != "<" }
    let flags = spec.dropFirst(body.count)
    guard flags.allSatisfy({ "^!><".contains($0) }), Set(flags).count == flags.count else { return false }
    let sides = body.split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count <= 2, sides.contains(where: { !$0.isEmpty }) else { return false }
    return sides.allSatisfy { side in
      if side.isEmpty { return sides.count == 2 }
      guard side.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let pixels = Int(side)
      else {
        return false
      }
      return (1...65_500).contains(pixels)
    }
  }
}

/// A size of thumbnails and the name of its folder.
public struct NamedSize: Sendable, Hashable {
  public let name: String
  /// As written: `256`, `320x240^`.
  public let spec: String

  /// `SPEC` or `name=SPEC`, as on the command line.
  ///
  /// - Throws: `TextProblem` naming `subject`, the option or key.
  public init(parsing text: String, for subject: String) throws(TextProblem) {
    if let cut = text.lastIndex(of: "=") {
      try self.init(name: String(text[..<cut]), spec: String(text[text.index(after: cut)...]), for: subject)
    } else {
      try self.init(name: nil, spec: text, for: subject)
    }
  }

  /// - Parameter name: the folder's; nil makes one of the size itself.
  public init(name: String?, spec: String, for subject: String) throws(TextProblem) {
    guard ImageWords.isSize(spec) else {
      throw TextProblem(
        "\(subject): “\(printableText(of: Array(spec.utf8)))” is not a size; write 256, 320x240, 320x240^, 480x or x480 "
          + "(1 to 65500 pixels)")
    }
    guard let name else {
      self.init(unnamed: spec)
      return
    }
    guard Self.isName(name) else {
      throw TextProblem(
        "\(subject): “\(printableText(of: Array(name.utf8)))” cannot name a folder; use letters, digits, - and _")
    }
    self.init(name: name, checked: spec)
  }

  private init(name: String, checked spec: String) {
    self.name = name
    self.spec = spec
  }

  /// A size called by itself, with words for the flags: shells and other systems read `>`, `<`, `!` and `^` their way.
  init(unnamed spec: String) {
    let name = spec.replacing("^", with: "-fill").replacing("!", with: "-exact").replacing("<", with: "-enlarge")
    self.init(name: name.replacing(">", with: ""), checked: spec)
  }

  private static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 100 && name.first != "." && name.first != "-"
      && name.allSatisfy { $0.isLetter || $0.isNumber || "-_.".contains($0) }
  }
}
