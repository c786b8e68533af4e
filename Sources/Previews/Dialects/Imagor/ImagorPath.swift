import Thumbnails

/// A path of imagor after `unsafe` or its signature: `fit-in/300x200/smart/filters:format(webp):quality(80)/`.
///
/// A name may follow, as in paths of thumbor, and is ignored: the picture is in the body.
struct ImagorPath: Sendable {
  private var width: Int?
  private var height: Int?
  private var fitsIn = false
  private var stretches = false
  private var isSmart = false
  private var horizontal = 5000
  private var vertical = 5000
  private var filters: [Filter] = []

  private struct Filter: Sendable {
    let name: String
    let argument: String
  }

  /// The words before a size that imagor has and that are not supported.
  private static let missing = ["meta", "trim", "adaptive-fit-in", "full-fit-in", "adaptive-full-fit-in", "params"]

  /// - Throws: ``PreviewError`` for what is not supported.
  init(_ path: Substring) throws(PreviewError) {
    var rest = path
    while !rest.isEmpty {
      if rest.hasPrefix("filters:") {
        filters = try Self.filters(&rest)
        break
      }
      let part = rest.prefix { $0 != "/" }
      let after = rest.dropFirst(part.count).dropFirst()
      guard try take(part) else { break }
      rest = after
    }
  }

  /// - Returns: false if the part is the name of a picture.
  private mutating func take(_ part: Substring) throws(PreviewError) -> Bool {
    switch part {
    case "": break
    case "fit-in": fitsIn = true
    case "stretch": stretches = true
    case "smart": isSmart = true
    case "left": horizontal = 0
    case "right": horizontal = 10_000
    case "top": vertical = 0
    case "bottom": vertical = 10_000
    case "center", "middle": break
    case _ where Self.missing.contains(String(part.prefix { $0 != ":" })):
      throw PreviewError(501, .request, "\(part.prefix(40)) is not supported in a path")
    default: return try takeSize(part)
    }
    return true
  }

  /// `300x200`, where a side may be missing or 0. A crop, `10x20:300x200`, and a second size, which is a padding, are refused.
  private mutating func takeSize(_ part: Substring) throws(PreviewError) -> Bool {
    let sides = part.split(separator: "x", maxSplits: 1, omittingEmptySubsequences: false)
    guard sides.count == 2 else { return false }
    let digits = part.utf8.allSatisfy { (0x30...0x39).contains($0) || "x-:.".utf8.contains($0) }
    guard digits else { return false }
    guard !part.contains(":"), !part.contains(".") else {
      throw PreviewError(501, .request, "a part of the picture, or a padding, is not supported in a path")
    }
    guard !part.contains("-") else { throw PreviewError(501, .request, "turning pictures over is not supported") }
    guard width == nil, height == nil else {
      throw PreviewError(501, .request, "a padding is not supported in a path")
    }
    (width, height) = (try Self.side(sides[0]), try Self.side(sides[1]))
    return true
  }

  private static func side(_ text: Substring) throws(PreviewError) -> Int? {
    if text.isEmpty { return nil }
    guard let number = Int(text), number <= SizeSpec.maximumSide else {
      throw .badRequest("a side of the preview must be at most \(SizeSpec.maximumSide)")
    }
    return number == 0 ? nil : number
  }

  /// The filters at the beginning of a text: `filters:name(argument):name(argument)`, up to a slash outside brackets.
  private static func filters(_ rest: inout Substring) throws(PreviewError) -> [Filter] {
    let text = rest.dropFirst("filters:".count)
    var filters: [Filter] = []
    var (name, argument, depth) = ("", "", 0)
    for character in text {
      switch (character, depth) {
      case ("/", 0): return filters
      case (":", 0): name = ""
      case ("(", 0): depth = 1
      case ("(", _):
        depth += 1
        argument.append(character)
      case (")", 0): throw .badRequest("a filter has a closing bracket without an opening one")
      case (")", 1):
        filters.append(Filter(name: name, argument: argument))
        (name, argument, depth) = ("", "", 0)
      case (")", _):
        depth -= 1
        argument.append(character)
      case (_, 0): name.append(character)
      default: argument.append(character)
      }
    }
    guard depth == 0 else { throw .badRequest("a filter has an opening bracket without a closing one") }
    return filters
  }

  /// What the path asks for.
  var request: PreviewRequest {
    get throws(PreviewError) {
      var enlarges = !fitsIn
      var request = PreviewRequest(.whole)
      for filter in filters {
        switch filter.name {
        case "format": request.format = try Self.format(filter.argument)
        case "autojpg": request.format = .jpeg
        case "quality":
          guard let quality = Int(filter.argument), (0...100).contains(quality) else {
            throw .badRequest("quality must be from 1 to 100")
          }
          if quality > 0 { request.quality = quality }
        case "lossless": request.isLossless = true
        case "upscale": enlarges = true
        case "no_upscale": enlarges = false
        case "stretch": break
        case "background_color":
          guard let color = RGBColor(parsing: filter.argument) else {
            throw .badRequest("background_color must be white, black or a colour such as a1b2c3")
          }
          request.background = color
        // Nothing of the metadata is kept, and previews are in sRGB.
        case "strip_exif", "strip_icc", "strip_metadata": break
        default:
          throw PreviewError(501, .request, "the filter \(filter.name.prefix(40)) is not supported")
        }
      }
      request.shape = try shape(enlarges: enlarges)
      return request
    }
  }

  private func shape(enlarges: Bool) throws(PreviewError) -> PreviewShape {
    guard width != nil || height != nil else { return .whole }
    let isBox = width != nil && height != nil
    let stretches = stretches || filters.contains { $0.name == "stretch" }
    let mode: SizeSpec.Mode = !isBox || fitsIn ? .fit : stretches ? .exact : .fill
    let position = isSmart ? CropPosition.attention : .point(x: horizontal, y: vertical)
    do throws(SizeSpecError) {
      return .box(
        try SizeSpec(
          width: width, height: height, mode: mode, position: mode == .fill ? position : .centre, enlarges: enlarges))
    } catch {
      throw .badRequest("\(error)")
    }
  }

  private static func format(_ text: String) throws(PreviewError) -> ThumbnailFormat {
    if text == "jpg" { return .jpeg }
    // OpenCloud asks for GIF where the picture is one. PNG shows the same.
    if text == "gif" { return .png }
    guard let format = ThumbnailFormat(rawValue: text) else {
      throw PreviewError(406, .request, "the format \(text.prefix(20)) is none of jpeg, webp, avif and png")
    }
    return format
  }
}
