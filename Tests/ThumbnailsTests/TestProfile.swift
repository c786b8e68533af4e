import CLcms2
import Foundation

/// Colour profiles made with Little CMS.
enum TestProfile {
  /// RGB far wider than sRGB, gamma 1.8.
  static func wide() -> [UInt8] {
    var white = cmsCIExyY(x: 0.3457, y: 0.3585, Y: 1)
    var primaries = cmsCIExyYTRIPLE(
      Red: cmsCIExyY(x: 0.7347, y: 0.2653, Y: 1), Green: cmsCIExyY(x: 0.1596, y: 0.8404, Y: 1),
      Blue: cmsCIExyY(x: 0.0366, y: 0.0001, Y: 1))
    let curve = cmsBuildGamma(nil, 1.8)
    defer { cmsFreeToneCurve(curve) }
    let curves: [OpaquePointer?] = [curve, curve, curve]
    return curves.withUnsafeBufferPointer { curves in
      saved(cmsCreateRGBProfile(&white, &primaries, curves.baseAddress))
    }
  }

  static func sRGB() -> [UInt8] { saved(cmsCreate_sRGBProfile()) }

  static func grey(gamma: Double) -> [UInt8] {
    let curve = cmsBuildGamma(nil, gamma)
    defer { cmsFreeToneCurve(curve) }
    return saved(cmsCreateGrayProfile(cmsD50_xyY(), curve))
  }

  /// A colour of a profile in sRGB.
  static func toSRGB(_ profile: [UInt8], _ color: [UInt8]) -> [Int] {
    let source = cmsOpenProfileFromMem(profile, UInt32(profile.count))
    let target = cmsCreate_sRGBProfile()
    defer {
      cmsCloseProfile(source)
      cmsCloseProfile(target)
    }
    // RGB, three channels of doubles.
    let format: UInt32 = 1 << 22 | 4 << 16 | 3 << 3
    let transform = cmsCreateTransform(
      source, format, target, format, UInt32(INTENT_RELATIVE_COLORIMETRIC), UInt32(cmsFLAGS_NOOPTIMIZE))
    defer { cmsDeleteTransform(transform) }
    let input = color.map { Double($0) / 255 }
    var output = [0.0, 0.0, 0.0]
    cmsDoTransform(transform, input, &output, 1)
    return output.map { Int((min(max($0, 0), 1) * 255).rounded()) }
  }

  /// The APP2 segments that carry a profile.
  static func segments(_ profile: [UInt8], chunkSize: Int = 65_519) -> [[UInt8]] {
    let total = (profile.count + chunkSize - 1) / chunkSize
    return (0..<total).map { index in
      let chunk = profile[index * chunkSize..<min((index + 1) * chunkSize, profile.count)]
      return TestJPEG.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(total)] + chunk)
    }
  }

  private static func saved(_ profile: cmsHPROFILE?) -> [UInt8] {
    defer { cmsCloseProfile(profile) }
    var size: UInt32 = 0
    cmsSaveProfileToMem(profile, nil, &size)
    var bytes = [UInt8](repeating: 0, count: Int(size))
    cmsSaveProfileToMem(profile, &bytes, &size)
    return bytes
  }
}
