/// Named sets of output options for job files: `preset: web`. What a job file says beside a preset wins over it.
enum Preset: String, CaseIterable {
  /// Three widths for the pages of a site, small and progressive.
  case web
  /// A square cut for the overview and a large picture.
  case gallery
  /// Large, fine, with profile and copyright, for looking closely.
  case archive

  var output: OutputOverlay {
    var output = OutputOverlay()
    switch self {
    case .web:
      output.sizes = ["320x", "640x", "1280x"].map { .known($0) }
      output.quality = 75
      output.progressive = true
    case .gallery:
      output.sizes = ["thumb=240x240^", "large=1600"].map { .known($0) }
      output.quality = 82
    case .archive:
      output.sizes = [.known("2048")]
      output.quality = 92
      output.subsample = .s444
      output.keep = [.icc, .copyright]
    }
    return output
  }
}
