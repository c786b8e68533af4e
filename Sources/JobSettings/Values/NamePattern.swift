import Files
import Marks
import Sourcing
import Thumbnails

/// A pattern for the places of thumbnails below their output folder, such as `%d/%s-small.jpg`.
///
/// | text | stands for |
/// | --- | --- |
/// | `%s` | the name of the source without its extension |
/// | `%e` | the extension of the source, without the dot |
/// | `%d` | the folder of the source in the tree that thumbnails otherwise mirror; empty at the top |
/// | `%f` | the name of the source with its extension |
/// | `%n` | the name of the size |
/// | `%u` | the MD5 digest of the photo's URI, as the thumbnail cache of desktops has it |
/// | `%U` | that of the last part of the URI, as desktops have it for thumbnails beside the photos |
/// | `%w` · `%h` | the width and the height of the size's box; empty where it has none |
/// | `%W` · `%H` | the width and the height of the thumbnail itself |
/// | `%Y` · `%m` · `%D` | the year, the month and the day on which the photo was taken: four, two and two digits |
/// | `%c` | eight digits that change with the contents of the photo and with the settings |
/// | `%%` | a percent sign |
///
/// A `/` separates the names of folders and file. Where `%d` is only a part of a name, as in `%d-%s`, each `/` in it
/// becomes `-`. A place that does not end in an extension of its format, such as `.jpg`, gets it appended.
///
/// Sizes above that of a photo give the same thumbnail, which has one place if `%W` or `%H` tells the sizes apart. Where the
/// header of a photo cannot be read, these letters stand for the box.
///
/// A photo that does not say when it was taken has one word, `undated`, for all letters of the date. Its modification time would
/// give it another place in each copy of the folder.
package struct NamePattern: Sendable, Hashable, CustomStringConvertible {
  private enum Part: Sendable, Hashable {
    case text([UInt8])
    case stem, folder, fileExtension, fileName, sizeName, uriDigest, nameDigest, width, height, trueWidth, trueHeight,
      contents
    /// The letters of a date that are side by side, with what separates them.
    case date([DatePart])

    var isText: Bool { if case .text = self { true } else { false } }
  }

  private enum DatePart: Sendable, Hashable {
    case year, month, day
    case separator([UInt8])

    func text(_ date: CaptureDate) -> [UInt8] {
      switch self {
      case .year: Array(CaptureDate.padded(date.year, 4).utf8)
      case .month: Array(CaptureDate.padded(date.month).utf8)
      case .day: Array(CaptureDate.padded(date.day).utf8)
      case .separator(let text): text
      }
    }
  }

  /// The pattern as it was given.
  package let description: String
  /// The names between the slashes.
  private let names: [[Part]]
  /// The format whose extension the pattern ends in; nil if it has none.
  package let format: ThumbnailFormat?

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
    var lastLetter: Character?
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
        let letter = rest.popFirst().map { Character(Unicode.Scalar($0)) }
        if lastLetter == "m", letter == "d" {
          throw mistake("has %d, which is the folder of the photo, after %m; the day is %D")
        }
        lastLetter = letter
        switch letter {
        case "s": parts.append(.stem)
        case "e": parts.append(.fileExtension)
        case "d": parts.append(.folder)
        case "f": parts.append(.fileName)
        case "n": parts.append(.sizeName)
        case "u": parts.append(.uriDigest)
        case "U": parts.append(.nameDigest)
        case "w": parts.append(.width)
        case "h": parts.append(.height)
        case "W": parts.append(.trueWidth)
        case "H": parts.append(.trueHeight)
        case "Y": Self.append(.year, to: &parts)
        case "m": Self.append(.month, to: &parts)
        case "D": Self.append(.day, to: &parts)
        case "c": parts.append(.contents)
        case "%": parts.append(.text([byte]))
        default: throw mistake("has a % that none of s, e, f, d, n, u, U, w, h, W, H, Y, m, D, c and % follows")
        }
      }
      names.append(parts)
    }
    if names.last?.isEmpty != false { throw mistake("has no name for the file") }
    if !names.joined().contains(where: { [.stem, .fileName, .uriDigest, .nameDigest].contains($0) }) {
      throw mistake("has none of %s, %f, %u and %U, so all photos of a folder would have one place")
    }
    self.names = names.filter { !$0.isEmpty }
    // Only what the pattern itself says counts, and not the extension of a source.
    var literal: [UInt8] = []
    for case .text(let text) in names.last?.reversed().prefix(while: \.isText) ?? [] { literal = text + literal }
    let ending = Path(bytes: Array("_".utf8) + literal)
    format = ThumbnailFormat.allCases.first { ending?.hasName(of: $0) == true }
  }

  /// Reads a pattern that is a constant of this program.
  static func known(_ text: String) -> NamePattern {
    do { return try NamePattern(parsing: text, for: "name") } catch { preconditionFailure(error.description) }
  }

  /// Adds a letter of a date to those right before it.
  private static func append(_ part: DatePart, to parts: inout [Part]) {
    if case .date(let date)? = parts.last {
      parts[parts.count - 1] = .date(date + [part])
    } else if parts.count > 1, case .text(let text) = parts[parts.count - 1], separators.contains(text),
      case .date(let date) = parts[parts.count - 2]
    {
      parts.removeLast()
      parts[parts.count - 1] = .date(date + [.separator(text), part])
    } else {
      parts.append(.date([part]))
    }
  }

  /// What has to be known of a photo before its thumbnails have a place.
  package var factKinds: NameFacts.Kinds {
    names.joined().reduce(into: []) { kinds, part in
      switch part {
      case .date: kinds.insert(.date)
      case .contents: kinds.insert(.contents)
      case .trueWidth, .trueHeight: kinds.insert(.pixels)
      case .uriDigest: kinds.insert(.uri)
      case .text, .stem, .folder, .fileExtension, .fileName, .sizeName, .nameDigest, .width, .height: break
      }
    }
  }

  /// Whether it needs digests of URIs.
  package var hasDigest: Bool { names.joined().contains { [.uriDigest, .nameDigest].contains($0) } }

  /// Whether each size has places of its own, so that it needs no folder.
  package var tellsSizes: Bool {
    names.joined().contains { [.sizeName, .width, .height, .trueWidth, .trueHeight].contains($0) }
  }

  /// The place of a source's thumbnail, relative to the output folder.
  ///
  /// - Parameters:
  ///   - relativePath: the path of the source that thumbnails mirror.
  ///   - facts: of the kinds that the pattern has letters for.
  ///   - settings: everything except the source that determines the bytes of a thumbnail, as one text.
  package func place(
    of relativePath: Path, _ rendition: Rendition, _ facts: NameFacts = NameFacts(), settings: String = ""
  ) -> Path {
    let size = rendition.size
    let file = relativePath.lastName.bytes
    let dot = file.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 == file.startIndex ? nil : $0 } ?? file.endIndex
    let folder = relativePath.parent
    let pixels = facts.pixels.map { size.placement(for: $0).pixels }
    var isUndatedTold = false
    let place = names.reduce(into: Path()) { place, parts in
      if parts == [.folder] {
        place = place.appending(folder)
        return
      }
      var name: [UInt8] = []
      // After the folder of a source that is in none, or after a date of which nothing is told.
      var isAfterNothing = false
      for part in parts {
        let before = name.count
        defer {
          switch part {
          case .folder, .date: isAfterNothing = name.count == before
          default: isAfterNothing = false
          }
        }
        switch part {
        // A name that began with what separates it from a folder would be taken for an option, or be hidden.
        case .text(let text) where isAfterNothing && Self.separators.contains(text): break
        case .text(let text): name += text
        case .stem: name += file[..<dot]
        case .fileExtension: name += file[dot...].dropFirst()
        case .folder: name += folder.bytes.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "-") : $0 }
        case .contents: name += Self.digits(facts.contents, settings).utf8
        case .date(let date):
          if let taken = facts.taken {
            name += date.flatMap { $0.text(taken) }
          } else if !isUndatedTold {
            name += "undated".utf8
            isUndatedTold = true
          }
        case .fileName: name += file
        case .sizeName: name += size.name.utf8
        case .uriDigest: name += (facts.uri?.digest ?? "").utf8
        case .nameDigest: name += FileURI(ofName: relativePath.lastName).digest.utf8
        case .width: name += Self.digits(size.width)
        case .height: name += Self.digits(size.height)
        case .trueWidth: name += Self.digits(pixels?.width ?? size.width)
        case .trueHeight: name += Self.digits(pixels?.height ?? size.height)
        }
      }
      if case .date? = parts.first, parts.count == 1, name.isEmpty { return }
      place = place.appending(Self.safe(name))
    }
    return place.named(as: rendition.format)
  }

  /// Eight digits for contents that are made with these settings. The bytes of a thumbnail follow from both.
  private static func digits(_ contents: SourceContents?, _ settings: String) -> String {
    String(
      decoding: Fingerprint(of: Array(settings.utf8) + (contents?.digits ?? [])).foldedDigits, as: UTF8.self)
  }

  /// A length in pixels; nothing if there is none.
  private static func digits(_ length: Int?) -> String.UTF8View { (length.map(String.init) ?? "").utf8 }

  private static let separators = ["-", "_", "."].map { Array($0.utf8) }

  /// A name that leads neither out of the output folder nor into its working folder, whatever the source is called.
  private static func safe(_ name: [UInt8]) -> Path {
    let path = Path(bytes: name)!
    return ["", ".", "..", SourceWalker.workingFolderName].contains(path)
      ? Path(bytes: [UInt8(ascii: "_")] + name)! : path
  }
}
