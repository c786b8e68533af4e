import ContactSheet

/// What a job can make of all its thumbnails.
package enum JoinKind: String, Sendable, CaseIterable {
  case manifest
  case contactSheet = "contact sheet"
  case gallery

  /// The setting that asks for it.
  package var setting: String {
    switch self {
    case .manifest: "manifest"
    case .contactSheet: "contact-sheet"
    case .gallery: "html"
    }
  }

  /// How each file of this kind begins, by which thumbjob recognises those that it may replace.
  package var signature: [UInt8] {
    switch self {
    case .manifest: Array(#"{"thumbjob-manifest":1,"#.utf8)
    case .contactSheet: ContactSheetWriter.signature
    case .gallery: Array("<!doctype html>\n<!-- A gallery by thumbjob".utf8)
    }
  }
}
