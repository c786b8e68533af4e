import ContactSheet
import Files
import Foundation

@testable import JobSettings
@testable import Marks
@testable import Sourcing
@testable import Thumbnails

extension FuzzTarget {
  /// Targets of the rooms Jobs, JobSettings, Marks, Places, Sourcing and Files.
  static let jobs = [
    FuzzTarget(name: "job-file", run: jobFile), FuzzTarget(name: "list", run: list),
    FuzzTarget(name: "glob", run: glob), FuzzTarget(name: "mark", run: mark), FuzzTarget(name: "words", run: words),
    FuzzTarget(name: "sheet", run: sheet),
  ]

  private static func jobFile(_ input: UnsafeRawBufferPointer) {
    let file: Path = "jobs/x.yml"
    var settings = JobSettings()
    do throws(JobFileError) {
      try JobFile.read(
        JobFileText(Array(input), of: file), of: file, keys: JobFileKey.job(\.self),
        dash: { SourceList(descriptor: 0, name: "-", separator: $0) }, into: &settings)
    } catch {
      // Each line of a message is shown in a terminal, so no byte of the file may control it.
      let isPrintable = "\(error)".unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value != 0x7f) }
      precondition(isPrintable, "a message has a control character")
    }
  }

  /// A list gives the same entries however it arrives.
  private static func list(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    let piece = 1 + choice(input) % 7
    for separator in [SourceList.Separator.newline, .nul] {
      let pieces = stride(from: 0, to: bytes.count, by: piece).map { bytes[$0..<min($0 + piece, bytes.count)] }
      let entries = entries([bytes[...]], separator)
      precondition(entries == self.entries(pieces, separator), "the pieces of a list change its entries")
      for entry in entries {
        precondition(!entry.isEmpty && entry.count <= 33)
        guard let path = Path(bytes: entry), let place = SourceList.relativePath(of: path) else { continue }
        precondition(!place.isAbsolute && place.normalized != nil, "an entry has a place outside the output folder")
      }
    }
  }

  private static func entries(_ pieces: [ArraySlice<UInt8>], _ separator: SourceList.Separator) -> [[UInt8]] {
    var splitter = EntrySplitter(separator: separator.rawValue, maximumLength: 32)
    var entries: [[UInt8]] = []
    for piece in pieces { splitter.append(piece) { entries.append($0) } }
    splitter.finish { entries.append($0) }
    return entries
  }

  /// A pattern, a zero byte, and a path.
  private static func glob(_ input: UnsafeRawBufferPointer) {
    let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].count <= 512, let pattern = try? Glob(bytes: Array(parts[0])) else { return }
    let names = parts[1].split(separator: UInt8(ascii: "/")).compactMap { Path(bytes: Array($0)) }
    guard !names.isEmpty else { return }
    _ = pattern.matches(names, isFolder: choice(input) & 1 == 0)
  }

  /// A mark that is read is written in the same way, and so is the description that follows it.
  private static func mark(_ input: UnsafeRawBufferPointer) {
    if let description = DescriptionComment(text: Array(input)[...]) {
      precondition(description.text.count <= DescriptionComment.longest)
      precondition(DescriptionComment(text: description.text[...]) == description)
    }
    _ = ThumbnailMark.description(head: Array(input)[...])
    guard let mark = ThumbnailMark(head: Array(input)[...]) else { return }
    let bare: [UInt8] =
      [0xff, 0xd8, 0xff, 0xe0, 0, 16] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0, 0xff, 0xd9]
    let marked = bare.withUnsafeBytes { mark.inserted(into: $0) }
    precondition(ThumbnailMark(head: (marked + [UInt8](repeating: 0, count: 8))[...]) == mark)
  }

  /// The values of options and keys.
  private static func words(_ input: UnsafeRawBufferPointer) {
    let text = String(decoding: input, as: UTF8.self)
    if let size = try? SizeSpec(parsing: text) {
      precondition((try? SizeSpec(parsing: "\(size)")) == size, "a size is written differently than it is read")
    }
    if let duration = try? DurationText.parse(text, for: "--timeout") { precondition(duration > .zero) }
    if let pixels = try? PixelCount.parse(text, for: "--limit-pixels") { precondition(pixels > 0) }
    _ = try? MemorySize(parsing: text, for: "--memory")
    if let limit = try? HaltLimit(parsing: text, for: "--halt") { _ = limit.isReached(failed: 3, ended: 20) }
    _ = try? NamePattern(parsing: text, for: "--name")
    _ = try? SheetGrid(parsing: text)
    _ = printableText(of: Array(input))
  }

  /// A contact sheet takes any file for a picture.
  private static func sheet(_ input: UnsafeRawBufferPointer) {
    guard let (file, picture) = try? (createUnnamedFile(in: AT_FDCWD), createUnnamedFile(in: AT_FDCWD)) else { return }
    defer { close(file) }
    do throws(Errno) {
      try writeAll(input, to: picture, at: 0)
      var writer = ContactSheetWriter(
        to: file, title: String(decoding: input.prefix(20), as: UTF8.self),
        usesSystemFonts: false)
      let caption = String(decoding: input.suffix(40), as: UTF8.self)
      var page = SheetPage()
      _ = page.add(SheetCell(caption: caption, picture: .jpeg { () throws(Errno) in picture }))
      try writer.addPage(page)
      try writer.finish()
      var status = stat()
      precondition(
        fstat(file, &status) == 0 && Int(status.st_size) < input.count + 8192, "a page of one picture is short")
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
