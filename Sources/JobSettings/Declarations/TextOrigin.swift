import Files
import Sourcing

/// Where the text of a setting was written. This determines what its paths and a single dash stand for.
package struct TextOrigin: Sendable {
  /// The option or key that errors name.
  package let subject: String
  /// The folder from which relative paths start; nil for the working folder.
  private let folder: Path?
  /// The bytes that a text stands for.
  package let bytes: @Sendable (_ text: String) -> [UInt8]
  /// The list that `-` stands for.
  let dash: @Sendable (SourceList.Separator) -> SourceList

  package init(
    subject: String, folder: Path? = nil, bytes: @escaping @Sendable (String) -> [UInt8] = { Array($0.utf8) },
    dash: @escaping @Sendable (SourceList.Separator) -> SourceList
  ) {
    (self.subject, self.folder, self.bytes, self.dash) = (subject, folder, bytes, dash)
  }

  /// The path that a text stands for.
  package func path(_ text: String) throws(TextError) -> Path {
    let path = Path(bytes: bytes(text)) ?? Path(text)
    guard let folder else { return path }
    // Only a shell replaces `~` and `$HOME`. Here they would be names of folders, by mistake.
    if text.hasPrefix("~") {
      throw TextError(
        "\(subject): write the path to the home folder in full instead of ~, or ./~ for a folder of that name")
    }
    if let variable = text.prefixMatch(of: /\$\w+|\${\w+}/)?.output {
      throw TextError("\(subject): write the path in full instead of \(variable), or ./\(variable) for that name")
    }
    return folder.appending(path).withoutNeedlessParents
  }

  /// The output that a text stands for: a path, or a part of a bucket.
  package func output(_ text: String) throws(TextError) -> Path {
    Path(text).isURL ? Path(bytes: bytes(text)) ?? Path(text) : try path(text)
  }

  /// The list of sources that a text stands for, with a zero byte after each path.
  package func list(_ text: String) throws(TextError) -> SourceList {
    text == "-" ? dash(.nul) : SourceList(file: try path(text), separator: .nul)
  }
}

extension Path {
  /// The same path without needless `name/..`: `jobs/../images` becomes `images`. A `name` that is a link stays,
  /// because `..` would then lead to the parent of its target.
  fileprivate var withoutNeedlessParents: Path {
    let root: Path = isAbsolute ? "/" : ""
    var kept: [Path] = []
    for name in names where name != "." {
      if name == "..", let last = kept.last, last != "..",
        let status = try? FileStatus.of(root.appending(Path(names: kept)), followingLinks: false).get(),
        status.kind == .folder
      {
        kept.removeLast()
      } else {
        kept.append(name)
      }
    }
    let path = root.appending(Path(names: kept))
    return path.isEmpty ? "." : path
  }
}
