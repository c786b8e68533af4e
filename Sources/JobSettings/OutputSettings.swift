import Fetching
import Files
import Thumbnails

/// The settings of one output: a folder and the thumbnails in it.
package struct OutputSettings: Sendable, Equatable, DefaultSettings {
  /// A folder, or a part of a bucket such as `s3://bucket/thumbs`.
  package var folder: Path {
    get { givenFolder ?? usualFolder }
    set { givenFolder = newValue }
  }
  /// The folder that was asked for; nil if none was.
  package private(set) var givenFolder: Path?
  /// The folder if none was asked for.
  var usualFolder: Path = "thumbs"
  /// The places of the thumbnails in the folder; nil means that they mirror the tree of the sources.
  package var name: NamePattern?
  /// Where other programs look for the thumbnails; nil if the folder is for them alone.
  package internal(set) var layout: Layout?
  /// At least one size. If there are several, each has a folder with its name in ``folder``, unless ``name`` tells them
  /// apart.
  package var sizes: [SizeSpec] {
    get { (givenSizes ?? usualSizes).map { layout?.named($0) ?? $0 } }
    set { givenSizes = newValue }
  }
  /// The sizes that were asked for; nil if none were.
  package private(set) var givenSizes: [SizeSpec]?
  /// The sizes if none were asked for.
  package internal(set) var usualSizes = [SizeSpec.standard]
  /// At least one format, in which each size is made.
  package var formats: [ThumbnailFormat] {
    get { givenFormats ?? name?.format.map { [$0] } ?? usualFormats }
    set { givenFormats = newValue }
  }
  /// The formats that were asked for; nil if none were.
  package private(set) var givenFormats: [ThumbnailFormat]?
  /// The formats if none were asked for.
  var usualFormats = [ThumbnailFormat.jpeg]
  /// 1 to 100, as JPEG's quality; other formats look alike.
  package var quality = 80
  /// Whether samples stay as they are, in WebP.
  package var lossless = false
  /// How much time is spent on smaller files, 0 to 9; nil for what is usual.
  package var effort: Int?
  package var progressive = false
  package var subsample = ChromaSubsampling.auto
  /// Which metadata to copy from the source; none by default.
  package var keep: KeptMetadata = []
  /// Resample in linear light.
  package var linear = false
  /// The colour where a picture is transparent; nil for white in JPEG, and for none in other formats.
  package var background: RGBColor?
  /// Whether smaller pictures in the files of cameras are used.
  package var previews = Previews.auto

  package init() {}

  /// All settings of an output. Those that set others come before them, so that these override them.
  package static let settings = [folderSetting, layoutSetting] + encodingSettings + pictureSettings

  /// A word that sets several settings.
  private static func setting<Word: CaseIterable & RawRepresentable & Sendable>(
    _ name: String, _ purpose: String, _ apply: @escaping @Sendable (Word, inout OutputSettings) -> Void
  ) -> Setting<OutputSettings> where Word.RawValue == String {
    Setting(
      SettingInfo(name: name, form: .word(Word.self), valueName: "name", purpose: purpose),
      change: { texts, origin, output throws(TextError) in
        apply(try Notation<Word>.word.parse(texts, origin), &output)
      },
      isChanged: { _ in false })
  }

  private static let layoutSetting = setting(
    "layout",
    "Put thumbnails where other programs look for them: freedesktop (the cache of file managers, for which --out need not "
      + "be given; sizes 128, 256, 512, 1024), shared (.sh_thumbnails beside the photos of one folder, in the same sizes) or eadir "
      + "(@eaDir beside the photos of one folder, for NAS of Synology)."
  ) { (layout: Layout, output) in layout.apply(to: &output) }

  private static let folderSetting = Setting<OutputSettings>(
    "out", letter: "o", \.folder, .output, value: "folder", "The folder for the thumbnails, or s3://bucket/folder.",
    completion: .folder)

  private static let presetSetting = setting(
    "preset",
    "Settings for a purpose, which others override: web (320x, 640x and 1280x as avif,webp,jpeg under names with the "
      + "width, quality 75, progressive), gallery "
      + "(thumb=480 and large=1600, quality 82), archive (2048, quality 92, 444, with icc and copyright)."
  ) { (preset: Preset, output) in preset.apply(to: &output) }

  /// Those that determine how much work rendering and encoding a thumbnail is.
  package static let encodingSettings: [Setting<OutputSettings>] = [
    presetSetting,
    Setting(
      "size", letter: "s", otherKeys: ["sizes"], \.sizes, .sizes, value: "spec",
      "W, WxH (a box), Wx or xH; ^ fills and crops (^top, ^left, ^0.3,0.2, ^attention say what stays in view), ! is exact, "
        + "< may enlarge; name=SPEC names it; repeatable."),
    Setting(
      "format", \.formats, .formats, value: "formats",
      "jpeg, webp, avif, png, or several separated by commas: each size is made in each of them.",
      completion: .words(ThumbnailFormat.allCases.map(\.rawValue))),
    Setting(
      "quality", letter: "q", \.quality, .number(in: 1...100), value: "n",
      "Quality, 1 to 100, as of JPEG; WebP and AVIF look alike in smaller files."),
    Setting("lossless", \.lossless, .flag, "Write WebP without loss; PNG always is."),
    Setting(
      "effort", \.effort, .number(in: 0...9), value: "n",
      "Time spent on smaller WebP, AVIF and PNG files: 0 (fast) to 9 (small)."),
    Setting(
      "progressive", \.progressive, .flag, "Write progressive JPEG where that saves bytes: from 100,000 pixels on."),
    Setting(
      "subsample", \.subsample, .word, value: "kind",
      "Chroma: 420, 444 (sharper colours, larger files), auto (444 up to 48 pixels)."),
    Setting(
      "keep", \.keep, .words, value: "kinds",
      "Metadata to keep: icc, exif (without the place), gps (exif with the place), copyright; separated by commas.",
      completion: .words(KeptMetadata.words.map(\.key))),
    Setting("linear", \.linear, .flag, "Resize in linear light: slower, right for fine bright patterns."),
  ]

  private static let pictureSettings: [Setting<OutputSettings>] = [
    Setting(
      "background", \.background,
      .text(RGBColor.init(parsing:for:)), value: "colour",
      "The colour where a picture is transparent: #f0f0f0, white, black. By default WebP, AVIF and PNG stay transparent, and "
        + "JPEG gets white."),
    Setting(
      "previews", \.previews, .word, value: "files",
      "Use the smaller pictures in the files of cameras: auto (RAW, HEIC, AVIF), prefer (JPEG too), never (RAW files then "
        + "fail, because only their previews can be shown)."),
    Setting(
      "name", \.name, .text(NamePattern.init(parsing:for:)),
      value: "pattern",
      "Names thumbnails by a pattern instead of mirroring: %s name, %e extension, %f both, %d folder, %n the size's name, %w and %h the size's box, %W "
        + "and %H the thumbnail's own size, %Y, %m and %D the date on which the photo was taken (or undated), %c digits that "
        + "change with contents and settings. '%d/%s-small' with --out FOLDER puts them beside the photos of FOLDER."),
  ]

  /// Takes the sizes of a gallery if none were asked for, unless ``name`` has room for one size only.
  mutating func useGallerySizes() {
    if name == nil || name?.tellsSizes == true { usualSizes = Preset.gallerySizes }
  }

  /// The part of a bucket for the thumbnails; nil if they go to a folder.
  package var location: StoreLocation? {
    guard folder.isURL, case .store(let location)? = try? RemoteAddress(parsing: folder.bytes) else { return nil }
    return location.asFolder
  }

  /// The folder, or the part of a bucket with a slash at its end.
  package var place: Path { location.map { RemoteAddress.store($0).path } ?? folder }

  /// A message about two sizes to which ``name`` gives one place, even of a photo that is larger than both; nil if it gives each
  /// its own.
  var clashOfPlaces: String? {
    guard let name, name.tellsSizes else { return nil }
    var sizes: [Path: SizeSpec] = [:]
    for size in self.sizes {
      if let other = sizes.updateValue(
        size, forKey: name.place(of: "photo.jpg", Rendition(size, formats[0])))
      {
        return "“\(Path(name.description).printable)” gives the sizes \(other.unnamed) and \(size.unnamed) one place; "
          + "without %w and %h each has a folder of its own"
      }
    }
    return nil
  }

  /// Measured: at quality 75 and 80, progressive files take 5 % more bytes than baseline ones at 160 pixels, as many at 256 to
  /// 320, and 2 to 3 % fewer at 1024.
  private static let leastProgressivePixels = 100_000

  /// The options that determine the bytes of a thumbnail.
  package func thumbnailOptions(failOn: FailOn, limitPixels: Int) -> ThumbnailOptions {
    var options = ThumbnailOptions(
      sizes: sizes, quality: quality, progressive: progressive, subsampling: subsample, keep: keep, linear: linear,
      failOn: failOn, background: background, previews: previews, limitPixels: limitPixels)
    (options.formats, options.lossless, options.effort) = (formats, lossless, effort)
    options.leastProgressivePixels = Self.leastProgressivePixels
    return options
  }

  /// - Throws: ``TextError`` if formats and what is said of them contradict each other.
  func validateFormats() throws(TextError) {
    try layout?.validate(self)
    if let format = name?.format, formats != [format] {
      let names = formats.map(\.rawValue).joined(separator: ",")
      throw TextError(
        in: "name", "the names end in .\(format.extensions[0]), but “format” is \(names); leave the extension out")
    }
    if lossless, let format = formats.first(where: { !$0.canBeLossless }) {
      throw TextError(in: "lossless", "\(format.type.displayName) cannot be lossless; set “format” to webp or png")
    }
    if effort != nil, !formats.contains(where: \.hasEffort) {
      throw TextError(in: "effort", "it has no effect on JPEG; set “format” to webp, avif or png")
    }
  }
}
