import Thumbnails

/// The parameters of an operation of imaginary: from a query, where all are text, or from JSON.
struct ImaginaryParameters: Sendable {
  enum Value: Sendable, Equatable {
    case text(String)
    case number(Double)
    case bool(Bool)
    case other
  }

  private(set) var width: Int?
  private(set) var height: Int?
  /// 0 for what is usual.
  private(set) var quality = 0
  private(set) var type: String?
  private(set) var isInterlaced = false
  private(set) var isForced = false
  private(set) var keepsMetadata = false
  private(set) var background: RGBColor?
  private(set) var position = CropPosition.centre
  /// Whether `nocrop` allows cropping; nil if it is not given.
  private(set) var crops: Bool?

  /// Parameters that would change the picture in ways that are not supported.
  private static let missing: Set<String> = [
    "areaheight", "areawidth", "aspectratio", "blur", "colorspace", "embed", "extend", "factor", "flip", "flop",
    "image",
    "left", "minampl", "rotate", "sigma", "text", "top",
  ]

  /// - Throws: ``PreviewError`` for a value of a wrong type, and for parameters that are known and not supported. Others are
  ///   ignored, as by imaginary.
  init(_ values: [(name: String, value: Value)]) throws(PreviewError) {
    for (name, value) in values {
      switch name {
      case "width": width = try Self.side(name, value)
      case "height": height = try Self.side(name, value)
      case "quality":
        quality = try Self.integer(name, value)
        guard (0...100).contains(quality) else { throw .badRequest("quality must be from 0 to 100") }
      case "type": type = try Self.text(name, value).lowercased()
      case "interlace": isInterlaced = try Self.bool(name, value)
      case "force": isForced = try Self.bool(name, value)
      case "stripmeta": keepsMetadata = try !Self.bool(name, value)
      case "nocrop": crops = try !Self.bool(name, value)
      case "gravity": position = try Self.position(try Self.text(name, value))
      case "background": background = try Self.color(try Self.text(name, value))
      case _ where Self.missing.contains(name):
        // Switched off is as good as not given.
        if try Self.isSet(value) {
          throw PreviewError(501, .request, "the parameter \(name) is not supported")
        }
      default: break
      }
    }
  }

  /// The format that `type` asks for.
  ///
  /// - Parameter accept: the request's Accept field, which decides for the type `auto`.
  /// - Returns: nil for that of the picture.
  func format(accept: String?) throws(PreviewError) -> ThumbnailFormat? {
    guard let type, !type.isEmpty else { return nil }
    if type == "auto" { return Self.preferred(accept ?? "") }
    if type == "jpg" { return .jpeg }
    guard let format = ThumbnailFormat(rawValue: type) else {
      throw .badRequest("the type \(type.prefix(20)) is none of jpeg, webp, avif and png")
    }
    return format
  }

  /// The first of these types that a browser accepts.
  private static func preferred(_ accept: String) -> ThumbnailFormat? {
    for part in accept.split(separator: ",") {
      let type = part.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
      if let format = [ThumbnailFormat.webp, .png, .jpeg].first(where: { $0.mediaType == type }) { return format }
    }
    return nil
  }

  // MARK: Values

  /// A side in pixels; nil for 0, which stands for none.
  private static func side(_ name: String, _ value: Value) throws(PreviewError) -> Int? {
    let number = try integer(name, value)
    guard (0...SizeSpec.maximumSide).contains(number) else {
      throw .badRequest("\(name) must be from 1 to \(SizeSpec.maximumSide)")
    }
    return number == 0 ? nil : number
  }

  /// A whole number, which may come as text and with a fraction.
  private static func integer(_ name: String, _ value: Value) throws(PreviewError) -> Int {
    let number: Double? =
      switch value {
      case .number(let number): number
      case .text(""): 0
      case .text(let text): text.utf8.count <= 20 ? Double(text) : nil
      case .bool, .other: nil
      }
    guard let number, number.isFinite, abs(number) < 1e9 else { throw .badRequest("\(name) must be a number") }
    return Int(number.rounded())
  }

  private static func bool(_ name: String, _ value: Value) throws(PreviewError) -> Bool {
    switch value {
    case .bool(let bool): return bool
    case .text(let text):
      // Go's words.
      if ["1", "t", "T", "true", "TRUE", "True"].contains(text) { return true }
      if ["0", "f", "F", "false", "FALSE", "False", ""].contains(text) { return false }
    case .number, .other: break
    }
    throw .badRequest("\(name) must be true or false")
  }

  private static func text(_ name: String, _ value: Value) throws(PreviewError) -> String {
    guard case .text(let text) = value else { throw .badRequest("\(name) must be text") }
    return text
  }

  private static func isSet(_ value: Value) throws(PreviewError) -> Bool {
    switch value {
    case .text(let text): !["", "0", "false"].contains(text)
    case .number(let number): number != 0
    case .bool(let bool): bool
    case .other: true
    }
  }

  private static func position(_ text: String) throws(PreviewError) -> CropPosition {
    switch text.lowercased() {
    case "", "centre", "center": .centre
    case "north": .point(x: 5000, y: 0)
    case "south": .point(x: 5000, y: 10_000)
    case "west": .point(x: 0, y: 5000)
    case "east": .point(x: 10_000, y: 5000)
    case "smart": .attention
    default: throw .badRequest("gravity must be north, south, east, west, centre or smart")
    }
  }

  /// Three numbers from 0 to 255, with commas between.
  private static func color(_ text: String) throws(PreviewError) -> RGBColor? {
    if text.isEmpty { return nil }
    let parts = text.split(separator: ",").map { UInt8($0.filter { $0 != " " }) }
    guard parts.count == 3, let red = parts[0], let green = parts[1], let blue = parts[2] else {
      throw .badRequest("background must be three numbers from 0 to 255, such as 255,200,50")
    }
    return RGBColor(red: red, green: green, blue: blue)
  }
}
