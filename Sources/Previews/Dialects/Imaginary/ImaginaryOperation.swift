import Thumbnails

/// An operation of imaginary that is understood: a route of its own, or a step of a pipeline.
enum ImaginaryOperation: String, Sendable {
  case autorotate, fit, smartcrop, crop, resize, thumbnail, enlarge, convert

  /// Operations that exist there and not here.
  static let missing = ["extract", "rotate", "flip", "flop", "zoom", "watermark", "watermarkImage", "blur"]

  static func isMissing(_ name: String) -> PreviewError {
    PreviewError(
      501, .request,
      "the operation \(name) is not supported: previews differ from their pictures in size, format and quality only")
  }

  /// What it asks for.
  ///
  /// - Returns: nil if it changes nothing: every preview is turned as its picture says.
  /// - Throws: ``PreviewError``.
  func request(_ parameters: ImaginaryParameters, _ head: RequestHead) throws(PreviewError) -> PreviewRequest? {
    if self == .autorotate { return nil }
    if self == .convert, parameters.type == nil { throw .badRequest("convert needs the parameter type") }
    var request = PreviewRequest(try shape(parameters))
    request.format = try parameters.format(accept: head.accept)
    if parameters.quality > 0 { request.quality = parameters.quality }
    request.isProgressive = parameters.isInterlaced
    request.background = parameters.background
    // Metadata stays only where it is asked for in words: it may tell the place where the photo was taken.
    if parameters.keepsMetadata { request.keep = .exif }
    return request
  }

  private func shape(_ parameters: ImaginaryParameters) throws(PreviewError) -> PreviewShape {
    let (width, height) = (parameters.width, parameters.height)
    switch self {
    case .autorotate, .convert:
      return width == nil && height == nil ? .whole : try Self.box(width, height, .fit)
    case .fit:
      guard width != nil, height != nil else { throw .badRequest("fit needs the parameters width and height") }
      return try Self.box(width, height, .fit)
    case .enlarge:
      guard width != nil, height != nil else { throw .badRequest("enlarge needs the parameters width and height") }
      return try Self.box(width, height, parameters.crops == false ? .fit : .fill, parameters.position, enlarges: true)
    case .thumbnail, .resize, .crop, .smartcrop: break
    }
    guard width != nil || height != nil else { throw .badRequest("\(rawValue) needs the parameter width or height") }
    let crops = self == .crop || self == .smartcrop || self == .resize && parameters.crops == true
    if parameters.isForced, width != nil, height != nil { return try Self.box(width, height, .exact, enlarges: true) }
    guard crops else { return try Self.box(width, height, .fit) }
    let position = self == .smartcrop ? CropPosition.attention : parameters.position
    guard width != nil, height != nil else { return .strip(width: width, height: height, position) }
    return try Self.box(width, height, .fill, position)
  }

  private static func box(
    _ width: Int?, _ height: Int?, _ mode: SizeSpec.Mode, _ position: CropPosition = .centre, enlarges: Bool = false
  ) throws(PreviewError) -> PreviewShape {
    do throws(SizeSpecError) {
      return .box(
        try SizeSpec(
          width: width, height: height, mode: mode, position: mode == .fill ? position : .centre, enlarges: enlarges))
    } catch {
      throw .badRequest("\(error)")
    }
  }
}
