import CLcms2

/// The colours a profile is about, as its header's "data colour space" says.
enum ProfileKind: Sendable, Hashable { case grey, rgb, cmyk }

/// What an embedded profile asks for on the way to sRGB.
enum ProfileConversion {
  /// The profile is broken, or about other colours than the picture's: it is not used, and not kept.
  case unusable
  /// The colours are sRGB's already.
  case identity
  /// Grey values through a table.
  case grey([UInt8])
  /// RGB or CMYK to RGB, by Little CMS.
  case pixels(ProfileTransform)
}

/// A Little CMS transform from a source's colours to sRGB, 8 bits a channel.
final class ProfileTransform {
  private let handle: cmsHTRANSFORM
  /// Everything the transform is made of.
  fileprivate let context: ProfileContext

  fileprivate init(_ handle: cmsHTRANSFORM, _ context: ProfileContext) {
    self.handle = handle
    self.context = context
  }

  deinit { cmsDeleteTransform(handle) }

  /// Converts pixels side by side; CMYK's 255 is full ink.
  func convert(_ source: UnsafePointer<UInt8>, into rgb: UnsafeMutablePointer<UInt8>, count: Int) {
    cmsDoTransform(handle, source, rgb, UInt32(count))
  }
}

/// Reads profiles and remembers the last few: a folder's photos mostly share one.
///
/// A profile is whatever a stranger's file contains, so none is ever an error: what Little CMS refuses is not used.
/// Nobody can stop Little CMS at work, so what it is given is bounded: the profile's size where it is read (4 MiB), the
/// memory it takes (`ProfileContext`), and how often it can be led to the same bytes (`isTame`). The slowest profile
/// found under these bounds takes 0.1 s; a usual one for CMYK takes half of that.
final class ProfileReader {
  private var known: [(bytes: [UInt8], kind: ProfileKind, conversion: ProfileConversion)] = []
  /// Bytes Little CMS may take for a profile of so many.
  private let allowance: (Int) -> Int

  /// What is remembered at most, with its transforms: one of the largest CMYK profiles, or any number of others.
  static let bytesKept = 3 << 20

  init(allowance: @escaping (Int) -> Int = ProfileContext.allowance) { self.allowance = allowance }

  /// The most bytes Little CMS took for one profile.
  private(set) var peak = 0

  /// What a profile's bytes ask for, for a picture of the kind given.
  func conversion(for bytes: UnsafeBufferPointer<UInt8>, kind: ProfileKind) -> ProfileConversion {
    if let index = known.firstIndex(where: { $0.kind == kind && $0.bytes.elementsEqual(bytes) }) {
      let entry = known.remove(at: index)
      known.append(entry)
      return entry.conversion
    }
    let context = ProfileContext(limit: allowance(bytes.count))
    let conversion = read(bytes, kind: kind, in: context)
    peak = max(peak, context.peak)
    known.append((Array(bytes), kind, conversion))
    while !known.isEmpty, bytesRemembered > Self.bytesKept { known.removeFirst() }
    return conversion
  }

  /// Bytes that stay until the next profile.
  var bytesRemembered: Int {
    known.reduce(0) { sum, entry in
      guard case .pixels(let transform) = entry.conversion else { return sum + entry.bytes.count }
      return sum + entry.bytes.count + transform.context.held
    }
  }

  /// Forgets every profile.
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
    guard let transform = transform(from: profile, kind: kind, in: context) else { return .unusable }
    switch kind {
    case .grey: return greyConversion(transform)
    case .rgb: return Self.isIdentity(transform) ? .identity : .pixels(transform)
    case .cmyk: return .pixels(transform)
    }
  }

  /// Whether a profile describes a device, and no few bytes of it stand for many.
  ///
  /// The tags of processing elements are refused: such a list is as long as its writer likes, and all of its entries
  /// may lead to one table. It stands only beside the tags that everybody reads (ICC.1:2010, 9.2), and profiles of
  /// cameras, screens and presses do without. Tags may share their data as a whole, and not overlap.
  private static func isTame(_ profile: cmsHPROFILE, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let classes = [cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass]
    let lists = [
      cmsSigDToB0Tag, cmsSigDToB1Tag, cmsSigDToB2Tag, cmsSigDToB3Tag, cmsSigBToD0Tag, cmsSigBToD1Tag, cmsSigBToD2Tag,
      cmsSigBToD3Tag,
    ]
    guard classes.contains(cmsGetDeviceClass(profile)) else { return false }
    return !lists.contains { cmsIsTag(profile, $0) != 0 } && !overlaps(bytes)
  }

  /// Whether the tags' data adds up to more than there is.
  ///
  /// Source: ICC.1:2010, 7.3: at byte 128 the count of tags, then signature, offset and size of each.
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

  /// Relative colorimetric with black point compensation: what image editors do unless told otherwise.
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
    let handle = cmsCreateTransformTHR(
      context.handle, profile, sourceFormat, target, targetFormat, UInt32(INTENT_RELATIVE_COLORIMETRIC),
      UInt32(cmsFLAGS_BLACKPOINTCOMPENSATION))
    return handle.map { ProfileTransform($0, context) }
  }

  /// Grey with sRGB's curve: what a viewer takes a grey JPEG without a profile for.
  private static func makeGreyProfile(_ context: cmsContext?) -> cmsHPROFILE? {
    // IEC 61966-2-1: linear below 0.04045, a power of 2.4 above.
    let parameters: [Double] = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
    guard let curve = cmsBuildParametricToneCurve(context, 4, parameters) else { return nil }
    defer { cmsFreeToneCurve(curve) }
    return cmsCreateGrayProfileTHR(context, cmsD50_xyY(), curve)
  }

  /// lcms2.h's TYPE_… macros: colour space, channels, one byte each.
  private static func format(_ space: Int32, channels: UInt32) -> UInt32 { UInt32(space) << 16 | channels << 3 | 1 }

  /// What eight bits cannot tell apart: many profiles are sRGB written down slightly differently.
  private static let tolerance = 2

  private func greyConversion(_ transform: ProfileTransform) -> ProfileConversion {
    let values = [UInt8](0...255)
    var table = values
    transform.convert(values, into: &table, count: 256)
    let isIdentity = zip(values, table).allSatisfy { abs(Int($0) - Int($1)) <= Self.tolerance }
    return isIdentity ? .identity : .grey(table)
  }

  /// Whether every colour of a 16 × 16 × 16 grid stays where it is.
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
