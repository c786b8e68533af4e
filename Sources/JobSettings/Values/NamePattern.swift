import Files
import Sourcing
import Thumbnails

/// A pattern for the places of thumbnails below their output folder, such as `%d/%s-small.jpg`.
///
/// | text | stands for |
/// | --- | --- |
/// | `%s` | the name of the source without its extension |
/// | `%e` | the extension of the source, without the dot |
/// | `%d` | the folder of the source in the tree that thumbnails otherwise mirror; empty at the top |
/// | `%w` · `%h` | the width and the height of the size's box; empty where it has none |
/// | `%%` | a percent sign |
///
/// A `/` separates the names of folders and file. Where `%d` is only a part of a name, as in `%d-%s`, each `/` in it
/// becomes `-`. A place that does not end in `.jpg` or another extension of JPEG files gets `.jpg` appended.
package struct NamePattern: Sendable, Hashable, CustomStringConvertible {
  private enum Part: Sendable, Hashable {
    case text([UInt8])
    case stem, folder, fileExtension, width, height
  }

  /// The pattern as it was given.
  package let description: String
  /// The names between the slashes.
  private let names: [[Part]]

  /// - Parameter name: the option or key, for the message.
  /// - Throws: ``TextError``.
  package init(parsing text: String, for name: String) throws(TextError) {
    func mistake(_ reason: String) -> TextError {
      TextError("\(name): “\(printableText(of: Array(text.utf8)))” \(reason)")
    }
    if text.hasPrefix("/") { throw mistake("begins with a slash, but a place is relative to the output folder") }
    if text.utf8.contains(0) { throw mistake("has a NUL character, which no name may have") }
    // This character stands for bytes of a command line that are not UTF-8.
    if text.contains("\u{FFFD}") { throw mistake("is not valid UTF-8") }
    description = text
    var names: [[Part]] = []
    for name in text.split(separator: "/", omittingEmptySubsequences: false) {
      if [".", "..", SourceWalker.workingFolderName].contains(Path(String(name))) {
        throw mistake("has “\(name)”, which no folder of a place may be called")
      }
      var parts: [Part] = []
      var rest = name.utf8[...]
      while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
          parts.append(.text([byte]))
          continue
        }
        switch rest.popFirst().map({ Character(Unicode.Scalar($0)) }) {
        case "s": parts.append(.stem)
        case "e": parts.append(.fileExtension)
        case "d": parts.append(.folder)
        case "w": parts.append(.width)
        case "h": parts.append(.height)
        case "%": parts.append(.text([byte]))
        default: throw mistake("has a % that none of s, e, d, w, h and % follows")
        }
      }
      names.append(parts)
    }
    if names.last?.isEmpty != false { throw mistake("has no name for the file") }
    if !names.joined().contains(.stem) {
      throw mistake("has no %s, so all photos of a folder would have one place")
    }
    self.names = names.filter { !$0.isEmpty }
  }

  /// Whether each size has places of its own, so that it needs no folder.
  package var tellsSizes: Bool { names.joined().contains { $0 == .width || $0 == .height } }

  /// The place of a source's thumbnail, relative to the output folder.
  ///
  /// - Parameter relativePath: the path of the source that thumbnails mirror.
  package func place(of relativePath: Path, size: SizeSpec) -> Path {
    let file = relativePath.lastName.bytes
    let dot = file.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 == file.startIndex ? nil : $0 } ?? file.endIndex
    let folder = relativePath.parent
    let place = names.reduce(into: Path()) { place, parts in
      if parts == [.folder] {
        place = place.appending(folder)
        return
      }
      var name: [UInt8] = []
      var isAfterNothing = false  // after the folder of a source that is in none
      for part in parts {
        defer { isAfterNothing = part == .folder && folder.isEmpty }
        switch part {
        // A name that began with what separates it from a folder would be taken for an option, or be hidden.
        case .text(let text) where isAfterNothing && Self.separators.contains(text): break
        case .text(let text): name += text
        case .stem: name += file[..<dot]
        case .fileExtension: name += file[dot...].dropFirst()
        case .folder: name += folder.bytes.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "-") : $0 }
        case .width: name += (size.width.map(String.init) ?? "").utf8
        case .height: name += (size.height.map(String.init) ?? "").utf8
        }
      }
      place = place.appending(Self.safe(name))
    }
    return place.asJPEG
  }

  private static let separators = ["-", "_", "."].map { Array($0.utf8) }

  /// A name that leads neither out of the output folder nor into its working folder, whatever the source is called.
  private static func safe(_ name: [UInt8]) -> Path {
    let path = Path(bytes: name)!
    return ["", ".", "..", SourceWalker.workingFolderName].contains(path)
      ? Path(bytes: [UInt8(ascii: "_")] + name)! : path
  }
}
