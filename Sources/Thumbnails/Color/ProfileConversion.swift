/// The conversion from an embedded profile's colours to sRGB.
enum ProfileConversion {
  /// The profile is damaged, rejected, or describes other colours than the picture's. It is neither used nor kept.
  case unusable
  /// The colours are sRGB's.
  case identity
  /// Grey values, by a table.
  case grey([UInt8])
  /// RGB or CMYK to RGB, by Little CMS.
  case pixels(ProfileTransform)
}
