#if Formats
import CLcms2

extension ProfileReader {
  /// The conversion from primaries and a curve.
  func make(
    _ primaries: Primaries, _ curve: TransferCurve, kind: ProfileKind, in context: ProfileContext
  ) -> ProfileConversion {
    let samples: [UInt16] = (0..<4096).map { UInt16(curve.light(Double($0) / 4095) * 65_535 + 0.5) }
    guard let table = cmsBuildTabulatedToneCurve16(context.handle, UInt32(samples.count), samples) else {
      return .unusable
    }
    defer { cmsFreeToneCurve(table) }
    let values = primaries.values
    var white = cmsCIExyY(x: values[0], y: values[1], Y: 1)
    var triple = cmsCIExyYTRIPLE(
      Red: cmsCIExyY(x: values[2], y: values[3], Y: 1), Green: cmsCIExyY(x: values[4], y: values[5], Y: 1),
      Blue: cmsCIExyY(x: values[6], y: values[7], Y: 1))
    let profile =
      kind == .grey
      ? cmsCreateGrayProfileTHR(context.handle, cmsD50_xyY(), table)
      : cmsCreateRGBProfileTHR(context.handle, &white, &triple, [table, table, table])
    guard let profile else { return .unusable }
    defer { cmsCloseProfile(profile) }
    return conversion(from: profile, kind: kind, in: context)
  }
}
#endif
