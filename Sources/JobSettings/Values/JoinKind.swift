import ContactSheet

/// What a job can make of all its thumbnails, or of all its checksums.
package enum JoinKind: String, Sendable, CaseIterable {
  case manifest
  case contactSheet = "contact sheet"
  case gallery
  case checksums = "checksum list"

  /// The setting that asks for it.
  package var setting: String {
    switch self {
    case .manifest: "manifest"
    case .contactSheet: "contact-sheet"
    case .gallery: "html"
    case .checksums: "into"
    }
  }

  /// The event of a line of JSON that tells what became of it.
  package var event: String {
    switch self {
    case .manifest, .gallery: rawValue
    case .contactSheet: "contact-sheet"
    case .checksums: "checksum-list"
    }
  }

  /// What it consists of, such as `page`.
  package var part: String {
    switch self {
    case .manifest: "source"
    case .contactSheet: "page"
    case .gallery: "picture"
    case .checksums: "file"
    }
  }

  /// What it would lack if a folder could not be read.
  package var missing: String {
    switch self {
    case .manifest, .contactSheet, .gallery: "photos"
    case .checksums: "files"
    }
  }

  /// How each file of this kind begins. A list of checksums is nothing but its lines.
  package var signature: [UInt8] {
    switch self {
    case .manifest: Array(#"{"thumbjob-manifest":1,"#.utf8)
    case .contactSheet: ContactSheetWriter.signature
    case .checksums: []
    case .gallery: Array("<!doctype html>\n<!-- A gallery by thumbjob".utf8)
    }
  }
}
