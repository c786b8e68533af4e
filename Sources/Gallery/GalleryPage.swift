/// The files of a gallery: a page that a browser opens from disk, without a server. docs/gallery.md describes the list of
/// pictures that it reads.
///
/// The files are in the folder `Page`, which the build embeds in the program.
public enum GalleryPage {
  /// The page itself, which is opened.
  public static let index = "index.html"
  /// The list of pictures, a script, which the program that uses the page writes.
  public static let data = "page/data.js"

  /// The contents of all files except the list of pictures, with their paths in the folder of the gallery. The page is last,
  /// because it needs the others.
  public static let files: [(path: String, contents: [UInt8])] = [
    ("page/gallery.css", PackageResources.gallery_css),
    ("page/text.js", PackageResources.text_js),
    ("page/paths.js", PackageResources.paths_js),
    ("page/thumbhash.js", PackageResources.thumbhash_js),
    ("page/pictures.js", PackageResources.pictures_js),
    ("page/folders.js", PackageResources.folders_js),
    ("page/rows.js", PackageResources.rows_js),
    ("page/grid.js", PackageResources.grid_js),
    ("page/viewer.js", PackageResources.viewer_js),
    ("page/address.js", PackageResources.address_js),
    ("page/keys.js", PackageResources.keys_js),
    ("page/swipe.js", PackageResources.swipe_js),
    ("page/start.js", PackageResources.start_js),
    (index, PackageResources.index_html),
  ]
}
