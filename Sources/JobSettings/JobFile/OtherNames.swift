/// What other programs call a setting, for the hint about an unknown option or key.
package enum OtherNames {
  private static let settings: [String: [String]] = [
    "out": [
      "output", "outdir", "out-dir", "output-dir", "output-folder", "dest", "destination", "target", "directory",
    ],
    "size": ["width", "height", "resize", "geometry", "dimensions", "thumbnail-size", "max-size"],
    "max": ["threads", "workers", "parallel", "procs", "processes", "concurrency", "max-procs", "max-jobs"],
    "memory": ["max-memory", "memory-limit", "mem", "cache-memory"],
    "force": ["overwrite", "clobber", "regenerate", "rebuild"],
    "html": ["gallery", "index", "page"],
    "html-standalone": ["standalone", "self-contained", "share", "sharing", "html-copies", "embed-resources"],
    "contact-sheet": ["sheet", "montage", "pdf"],
    "keep": ["metadata", "export-profile", "keep-metadata", "exif", "icc"],
    "exclude": ["ignore", "skip"],
    "format": ["type", "output-format", "formats"],
    "include": ["glob", "filter", "pattern", "ext", "extensions"],
    "prune": ["clean", "cleanup", "delete", "remove", "purge"],
    "quality": ["jpeg-quality"],
    "progressive": ["interlace"],
    "background": ["background-color", "background-colour", "bg"],
    "name": ["filename", "rename", "template", "prefix", "suffix"],
    "manifest": ["list", "json-file"],
    "follow": ["dereference", "follow-links", "follow-symlinks"],
    "halt": ["max-errors", "stop-on-error", "fail-fast"],
    "retries": ["retry"],
    "for": ["max-time", "duration", "time-limit"],
    "dry-run": ["simulate", "preview", "just-print", "no-act"],
    "files0-from": ["files-from", "from-file", "null", "from0"],
    "limit-bytes": ["max-filesize", "max-bytes"],
    "limit-pixels": ["max-pixels"],
    "status": ["listen", "port", "serve", "endpoint", "http"],
    "verbose": ["debug"],
    "quiet": ["silent"],
  ]

  private static let known: [String: String] = Dictionary(
    uniqueKeysWithValues: settings.flatMap { name, others in others.map { ($0, name) } })

  /// - Returns: the name of the setting; nil if no other program calls one of them so.
  package static func setting(for word: String) -> String? {
    known[word.lowercased().replacing("_", with: "-")]
  }
}
