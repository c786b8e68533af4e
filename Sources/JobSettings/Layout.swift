import Files
import Foundation
import Thumbnails

/// Where other programs look for thumbnails, and in which form.
package enum Layout: String, Sendable, CaseIterable {
  /// The cache of desktops: PNG files named by the URIs of the photos, which say of which photo they are.
  ///
  /// *Source*: freedesktop.org, Thumbnail Managing Standard.
  case freedesktop
  /// The folders `.sh_thumbnails` beside the photos, which several users share. The files have the texts of those in the cache,
  /// without the URI. Their names depend only on the names of the photos, so the folder may be moved.
  ///
  /// *Source*: the same, "Shared Thumbnail Repositories".
  case shared
  /// The folders `@eaDir` beside the photos, where NAS of Synology have their thumbnails.
  case eadir

  /// The names of the sizes that the cache of desktops has.
  private static let cacheSizes = ["normal=128", "large=256", "x-large=512", "xx-large=1024"].map { SizeSpec.known($0) }

  func apply(to output: inout OutputSettings) {
    output.layout = self
    output.name = name
    switch self {
    case .freedesktop, .shared:
      if self == .freedesktop { output.usualFolder = Self.cache }
      output.usualFormats = [.png]
      output.usualSizes = Array(Self.cacheSizes.prefix(2))
    case .eadir:
      output.usualSizes = ["SM=240", "M=320", "XL=1280"].map { .known($0) }
    }
  }

  /// The names by which other programs find the thumbnails. No photo has such a name: what is there may be replaced.
  private var name: NamePattern {
    switch self {
    case .freedesktop: .known("%u")
    case .shared: .known("%d/.sh_thumbnails/%n/%U")
    case .eadir: .known("%d/@eaDir/%f/SYNOPHOTO_THUMB_%n")
    }
  }

  /// The user's cache of thumbnails.
  ///
  /// *Source*: XDG Base Directory Specification.
  private static var cache: Path {
    let environment = ProcessInfo.processInfo.environment
    let given = environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return Path(given ?? "\(environment["HOME"] ?? "/nonexistent")/.cache").appending("thumbnails")
  }

  /// Whether a size has a folder of its own, also if it is the only one.
  package var hasSizeFolders: Bool { self == .freedesktop }

  /// Whether the thumbnails are in folders beside the photos, which go along with them.
  package var isBesidePhotos: Bool { self != .freedesktop }

  /// Whether the thumbnails are entries of desktops: PNG files with texts about their photo.
  package var hasEntries: Bool { self != .eadir }

  /// A size under the name that this layout has for it.
  func named(_ size: SizeSpec) -> SizeSpec {
    guard hasEntries else { return size }
    return Self.cacheSizes.first { $0.unnamed == size.unnamed } ?? size
  }

  /// - Throws: ``TextError`` if an output is not as other programs expect it.
  func validate(_ output: OutputSettings) throws(TextError) {
    if output.name != name { throw TextError(in: "name", "“layout” names the thumbnails; leave one of the two out") }
    switch self {
    case .freedesktop, .shared:
      if let other = output.sizes.first(where: { !Self.cacheSizes.contains($0) }) {
        throw TextError(
          in: "size", "\(other.unnamed) is none of the sizes of desktops, which are 128, 256, 512 and 1024")
      }
      if output.formats != [.png] { throw TextError(in: "format", "desktops have thumbnails in PNG files only") }
    case .eadir:
      if output.formats != [.jpeg] { throw TextError(in: "format", "@eaDir has JPEG files only") }
    }
  }
}
