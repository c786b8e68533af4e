#if Formats
import CLcms2

/// A Little CMS transform from a source's colours to sRGB, with 8 bits for each channel.
final class ProfileTransform {
  private let handle: cmsHTRANSFORM
  /// The context that holds the transform's memory.
  fileprivate let context: ProfileContext

  fileprivate init(_ handle: cmsHTRANSFORM, _ context: ProfileContext) {
    self.handle = handle
    self.context = context
  }

  deinit { cmsDeleteTransform(handle) }

  /// Converts consecutive pixels. In CMYK, 255 is full ink.
  func convert(_ pixels: UnsafePointer<UInt8>, into rgb: UnsafeMutablePointer<UInt8>, count: Int) {
    cmsDoTransform(handle, pixels, rgb, UInt32(count))
  }
}

/// Reads profiles and caches the last few, because the photos of a folder mostly share one.
///
/// Profiles come from untrusted files. It is no error if Little CMS rejects one: the profile is not used. Little CMS
/// cannot be interrupted, so its work is bounded by limits on the profile's size (4 MiB, checked by CLibJPEG), on its
/// memory (`ProfileContext`), and on how often the same bytes can be processed (`isTame`). The slowest profile found
/// within these bounds takes 0.1 s; a usual CMYK profile takes half of that.
final class ProfileReader {
  private var known: [(encoding: ColorEncoding, kind: ProfileKind, conversion: ProfileConversion)] = []
  /// The bytes that Little CMS may allocate, for the size of a profile.
  private let allowance: (Int) -> Int

  /// The most bytes cached, including transforms: enough for one of the largest CMYK profiles, or for many smaller
  /// ones.
  static let bytesKept = 3 << 20

  init(allowance: @escaping (Int) -> Int = ProfileContext.allowance) { self.allowance = allowance }

  /// The most bytes that Little CMS has allocated for one profile.
  private(set) var peak = 0

  /// The conversion for a profile's bytes and a picture of this kind.
  func conversion(for bytes: UnsafeBufferPointer<UInt8>, kind: ProfileKind) -> ProfileConversion {
    let index = known.firstIndex { entry in
      guard entry.kind == kind, case .profile(let known) = entry.encoding else { return false }
      return known.elementsEqual(bytes)
    }
    if let index { return reuse(index) }
    let context = ProfileContext(limit: allowance(bytes.count))
    let conversion = read(bytes, kind: kind, in: context)
    remember(.profile(Array(bytes)), kind, conversion, context)
    return conversion
  }

  /// The conversion for an encoding and a picture of this kind.
  func conversion(for encoding: ColorEncoding, kind: ProfileKind) -> ProfileConversion {
    let primaries: Primaries
    let curve: TransferCurve
    switch encoding {
    case .sRGB: return .identity
    case .profile(let bytes): return bytes.withUnsafeBufferPointer { self.conversion(for: $0, kind: kind) }
    case .numbered(let number, let transfer):
      (primaries, curve) = (Primaries(number: number), TransferCurve(number: transfer))
    case .power(let exponent, let chromaticities):
      primaries = chromaticities.flatMap { Primaries(given: $0) } ?? .bt709
      curve = TransferCurve(exponent: exponent)
    }
    if kind == .cmyk || primaries == .bt709 && curve == .sRGB { return .identity }
    if let index = known.firstIndex(where: { $0.kind == kind && $0.encoding == encoding }) { return reuse(index) }
    let context = ProfileContext(limit: allowance(0))
    let conversion = make(primaries, curve, kind: kind, in: context)
    remember(encoding, kind, conversion, context)
    return conversion
  }

  private func reuse(_ index: Int) -> ProfileConversion {
    let entry = known.remove(at: index)
    known.append(entry)
    return entry.conversion
  }

  private func remember(
    _ encoding: ColorEncoding, _ kind: ProfileKind, _ conversion: ProfileConversion, _ context: ProfileContext
  ) {
    peak = max(peak, context.peak)
    known.append((encoding, kind, conversion))
    while !known.isEmpty, bytesRemembered > Self.bytesKept { known.removeFirst() }
  }

  /// Bytes cached.
  var bytesRemembered: Int {
    known.reduce(0) { sum, entry in
      var bytes = 0
      if case .profile(let profile) = entry.encoding { bytes = profile.count }
      guard case .pixels(let transform) = entry.conversion else { return sum + bytes }
      return sum + bytes + transform.context.held
    }
  }

  /// Empties the cache.
  func trim() { known = [] }

  private func read(
    _ bytes: UnsafeBufferPointer<UInt8>, kind: ProfileKind, in context: ProfileContext
  ) -> ProfileConversion {
    guard let profile = cmsOpenProfileFromMemTHR(context.handle, bytes.baseAddress, UInt32(bytes.count)) else {
      return .unusable
    }
    defer { cmsCloseProfile(profile) }
    let space: cmsColorSpaceSignature =
      switch kind {
      case .grey: cmsSigGrayData
      case .rgb: cmsSigRgbData
      case .cmyk: cmsSigCmykData
      }
    guard cmsGetColorSpace(profile) == space, Self.isTame(profile, bytes) else { return .unusable }
    return conversion(from: profile, kind: kind, in: context)
  }

  /// The conversion from the colours of a profile that is known to be harmless.
  func conversion(
    from profile: cmsHPROFILE, kind: ProfileKind, in context: ProfileContext
  ) -> ProfileConversion {
    guard let transform = transform(from: profile, kind: kind, in: context) else { return .unusable }
    switch kind {
    case .grey: return greyConversion(transform)
    case .rgb: return Self.isIdentity(transform) ? .identity : .pixels(transform)
    case .cmyk: return .pixels(transform)
    }
  }

  /// Whether a profile describes a device, and cannot cause far more work than its size suggests.
  ///
  /// Tags with lists of processing elements are rejected, because such a list may have any length, and all of its
  /// entries may refer to one table. They are optional beside the usual tags (ICC.1:2010, 9.2), and profiles of
  /// cameras, screens and presses do not have them. Tags may share the same data, but different extents must together
  /// fit into the profile (`overlaps`).
  private static func isTame(_ profile: cmsHPROFILE, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let classes = [cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass]
    let lists = [
      cmsSigDToB0Tag, cmsSigDToB1Tag, cmsSigDToB2Tag, cmsSigDToB3Tag, cmsSigBToD0Tag, cmsSigBToD1Tag, cmsSigBToD2Tag,
      cmsSigBToD3Tag,
    ]
    guard classes.contains(cmsGetDeviceClass(profile)) else { return false }
    return !lists.contains { cmsIsTag(profile, $0) != 0 } && !overlaps(bytes)
  }

  /// Whether the distinct extents of the tags' data add up to more than the profile's size.
  ///
  /// Source: ICC.1:2010, 7.3. Byte 128 begins the count of tags, followed by signature, offset and size of each.
  private static func overlaps(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    guard bytes.count >= 132 else { return true }
    let (first, size) = (132, 12)
    let count = min(number(at: 128), (bytes.count - first) / size)
    var extents: Set<[Int]> = []
    for index in 0..<count {
      let entry = first + index * size
      extents.insert([number(at: entry + 4), number(at: entry + 8)])
    }
    return extents.reduce(0) { $0 + $1[1] } > bytes.count
  }

  /// The transform from a profile to sRGB: relative colorimetric with black point compensation, as image editors do by
  /// default.
  private func transform(
    from profile: cmsHPROFILE, kind: ProfileKind, in context: ProfileContext
  ) -> ProfileTransform? {
    guard let target = kind == .grey ? Self.makeGreyProfile(context.handle) : cmsCreate_sRGBProfileTHR(context.handle)
    else {
      return nil
    }
    defer { cmsCloseProfile(target) }
    let sourceFormat: UInt32 =
      switch kind {
      case .grey: Self.format(PT_GRAY, channels: 1)
      case .rgb: Self.format(PT_RGB, channels: 3)
      case .cmyk: Self.format(PT_CMYK, channels: 4)
      }
    let targetFormat = kind == .grey ? Self.format(PT_GRAY, channels: 1) : Self.format(PT_RGB, channels: 3)
    // Little CMS replaces the curve of grey by straight lines between 33 points, which is far off where it is dark. Only
    // 256 values are converted, so that nothing is gained by that.
    let exactness = kind == .grey ? cmsFLAGS_NOOPTIMIZE : 0
    let handle = cmsCreateTransformTHR(
      context.handle, profile, sourceFormat, target, targetFormat, UInt32(INTENT_RELATIVE_COLORIMETRIC),
      UInt32(cmsFLAGS_BLACKPOINTCOMPENSATION | exactness))
    return handle.map { ProfileTransform($0, context) }
  }

  /// A grey profile with sRGB's curve, which viewers assume for a grey JPEG without a profile.
  private static func makeGreyProfile(_ context: cmsContext?) -> cmsHPROFILE? {
    // IEC 61966-2-1: linear below 0.04045, a power of 2.4 above.
    let parameters: [Double] = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
    guard let curve = cmsBuildParametricToneCurve(context, 4, parameters) else { return nil }
    defer { cmsFreeToneCurve(curve) }
    return cmsCreateGrayProfileTHR(context, cmsD50_xyY(), curve)
  }

  /// A pixel format, composed like the TYPE_… macros of lcms2.h: colour space, channels, one byte for each channel.
  private static func format(_ space: Int32, channels: UInt32) -> UInt32 { UInt32(space) << 16 | channels << 3 | 1 }

  /// The largest difference of a value that is ignored, because many profiles are sRGB with slightly different numbers.
  private static let tolerance = 2

  private func greyConversion(_ transform: ProfileTransform) -> ProfileConversion {
    let values = [UInt8](0...255)
    var table = values
    transform.convert(values, into: &table, count: 256)
    let isIdentity = zip(values, table).allSatisfy { abs(Int($0) - Int($1)) <= Self.tolerance }
    return isIdentity ? .identity : .grey(table)
  }

  /// Whether the transform leaves every colour of a 16 × 16 × 16 grid as it is.
  private static func isIdentity(_ transform: ProfileTransform) -> Bool {
    var colors: [UInt8] = []
    for index in 0..<4096 {
      colors += [UInt8((index >> 8) * 17), UInt8((index >> 4 & 15) * 17), UInt8((index & 15) * 17)]
    }
    var converted = colors
    transform.convert(colors, into: &converted, count: 4096)
    return zip(colors, converted).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
  }
}
#endif
