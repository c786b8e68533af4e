import CLcms2
import Foundation

/// Colour profiles made with Little CMS.
enum TestProfile {
  /// RGB with primaries far outside sRGB, and gamma 1.8.
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

  /// Four inks with colours that no real inks have, so that a conversion without the profile gives other colours.
  static func inks() -> [UInt8] {
    // CIE Lab of paper and of full cyan, magenta, yellow and black ink.
    let paper = [100.0, 0, 0]
    let full = [[60.0, 50, 40], [55, -50, 45], [45, 20, -60], [15, 10, 0]]
    var nodes: [UInt16] = []
    for node in 0..<16 {
      // The last ink varies fastest. Mixed inks have the mean of their colours.
      let present = (0..<4).filter { node >> (3 - $0) & 1 == 1 }
      for axis in 0..<3 {
        let mixed = present.map { full[$0][axis] }.reduce(0, +) / Double(max(present.count, 1))
        let value = present.isEmpty ? paper[axis] : mixed
        nodes.append(UInt16(axis == 0 ? value / 100 * 65_535 : (value + 128) * 257))
      }
    }
    let profile = cmsCreateProfilePlaceholder(nil)
    cmsSetProfileVersion(profile, 4.3)
    cmsSetDeviceClass(profile, cmsSigOutputClass)
    cmsSetColorSpace(profile, cmsSigCmykData)
    cmsSetPCS(profile, cmsSigLabData)
    let pipeline = cmsPipelineAlloc(nil, 4, 3)
    defer { cmsPipelineFree(pipeline) }
    for stage in [
      cmsStageAllocToneCurves(nil, 4, nil), cmsStageAllocCLut16bit(nil, 2, 4, 3, nodes),
      cmsStageAllocToneCurves(nil, 3, nil),
    ] { cmsPipelineInsertStage(pipeline, cmsAT_END, stage) }
    cmsWriteTag(profile, cmsSigAToB0Tag, UnsafeRawPointer(pipeline))
    return saved(profile)
  }

  /// A profile with additional tags, which may begin and end anywhere in the appended `data`.
  static func adding(_ tags: [(name: String, offset: Int, size: Int)], _ data: [UInt8], to profile: [UInt8]) -> [UInt8]
  {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    func read(_ offset: Int) -> Int { profile[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    let (count, shift) = (read(128), 12 * tags.count)
    var table: [UInt8] = []
    for index in 0..<count {
      let entry = 132 + 12 * index
      table += profile[entry..<entry + 4] + number(read(entry + 4) + shift) + profile[entry + 8..<entry + 12]
    }
    let start = profile.count + shift
    for tag in tags { table += Array(tag.name.utf8) + number(start + tag.offset) + number(tag.size) }
    let body = number(count + tags.count) + table + profile[(132 + 12 * count)...] + data
    return number(128 + body.count) + profile[4..<128] + body
  }

  /// A list of processing elements, all entries of which refer to the same identity matrix.
  static func elements(_ count: Int) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    let one: [UInt8] = [0x3F, 0x80, 0, 0]
    let matrix: [UInt8] = (0..<12).flatMap { $0 < 9 && $0 % 4 == 0 ? one : [0, 0, 0, 0] }
    let element = Array("matf".utf8) + [0, 0, 0, 0, 0, 3, 0, 3] + matrix
    let entry = number(16 + 8 * count) + number(element.count)
    return Array("mpet".utf8) + [0, 0, 0, 0, 0, 3, 0, 3] + number(count) + (0..<count).flatMap { _ in entry } + element
  }

  /// Converts a colour of a profile to sRGB. The colour is RGB, or CMYK with 255 for full ink.
  static func toSRGB(_ profile: [UInt8], _ color: [UInt8]) -> [Int] {
    let source = cmsOpenProfileFromMem(profile, UInt32(profile.count))
    let target = cmsCreate_sRGBProfile()
    defer {
      cmsCloseProfile(source)
      cmsCloseProfile(target)
    }
    // The pixel formats have channels of doubles: three of RGB from 0 to 1, or four of CMYK from 0 to 100.
    let rgb: UInt32 = 1 << 22 | 4 << 16 | 3 << 3
    let cmyk: UInt32 = 1 << 22 | 6 << 16 | 4 << 3
    let transform = cmsCreateTransform(
      source, color.count == 4 ? cmyk : rgb, target, rgb, UInt32(INTENT_RELATIVE_COLORIMETRIC),
      UInt32(cmsFLAGS_NOOPTIMIZE | cmsFLAGS_BLACKPOINTCOMPENSATION))
    defer { cmsDeleteTransform(transform) }
    let input = color.map { Double($0) / (color.count == 4 ? 2.55 : 255) }
    var output = [0.0, 0.0, 0.0]
    cmsDoTransform(transform, input, &output, 1)
    return output.map { Int((min(max($0, 0), 1) * 255).rounded()) }
  }

  /// The APP2 segments that carry a profile.
  static func segments(_ profile: [UInt8], chunkSize: Int = 65_519) -> [[UInt8]] {
    let total = (profile.count + chunkSize - 1) / chunkSize
    return (0..<total).map { index in
      let chunk = profile[index * chunkSize..<min((index + 1) * chunkSize, profile.count)]
      return TestJPEG.segment(.app2, Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(total)] + chunk)
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
