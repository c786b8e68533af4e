import Files
import Sourcing
import Yams

/// Reads job files such as `jobs/gallery.yml`: YAML documents whose keys change settings.
package enum JobFile {
  /// Whether the name of a path is that of a job file.
  package static func isName(_ path: Path) -> Bool {
    let name = String(decoding: path.lastName.bytes, as: UTF8.self).lowercased()
    return !path.isURL && (name.hasSuffix(".yml") || name.hasSuffix(".yaml"))
  }

  /// Applies a job file to settings. Relative paths in the file start from its folder.
  ///
  /// - Parameters:
  ///   - keys: all valid keys.
  ///   - dash: makes the list of sources that `-` stands for.
  ///   - settings: may be changed in part when an error is thrown.
  /// - Throws: ``JobFileError`` with all invalid keys and values, or with the first fault of the text itself.
  package static func read<Settings>(
    _ file: Path, keys: [JobFileKey<Settings>], dash: @escaping @Sendable (SourceList.Separator) -> SourceList,
    into settings: inout Settings
  ) throws(JobFileError) {
    try read(JobFileText(reading: file), of: file, keys: keys, dash: dash, into: &settings)
  }

  package static func read<Settings>(
    _ text: JobFileText, of file: Path, keys: [JobFileKey<Settings>],
    dash: @escaping @Sendable (SourceList.Separator) -> SourceList, into settings: inout Settings
  ) throws(JobFileError) {
    let root: Node?
    do {
      // Without this argument, Yams reads an encoding from the environment and prints it.
      root = try Parser(yaml: text.text, resolver: .basic, encoding: .utf8).singleRoot()
    } catch {
      let mistake = (error as? YamlError).map { Self.mistake($0, in: text.text, of: file) }
      throw JobFileError([
        mistake ?? JobFileMistake(file: file, line: 0, column: 0, message: "cannot be read: \(error)")
      ])
    }
    var reader = JobFileReader(file: file, dash: dash)
    reader.read(root, keys, into: &settings)
    if !reader.mistakes.isEmpty {
      throw JobFileError(reader.mistakes.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
    }
  }

  /// The rest of the line of a mark, which begins with the character at the mark.
  private static func rest(of text: String, from mark: Mark) -> Substring.UnicodeScalarView {
    let line = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(mark.line - 1).first ?? ""
    return line.unicodeScalars.dropFirst(mark.column - 1)
  }

  private static func mistake(_ error: YamlError, in text: String, of file: Path) -> JobFileMistake {
    func at(_ mark: Mark?, _ message: String) -> JobFileMistake {
      JobFileMistake(file: file, line: mark?.line ?? 0, column: mark?.column ?? 0, message: message)
    }
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      if problem.contains("another document") {
        return at(mark, "a second document begins here; a job file has only one")
      }
      let start = context?.mark ?? mark
      if problem.contains("alias") || context?.text.contains("alias") == true {
        return at(start, "put a value that starts with * in quotes, such as \"*.jpg\"")
      }
      if problem.contains("block sequence entries are not allowed") {
        let rest = rest(of: text, from: mark).dropFirst().drop { $0 == " " || $0 == "\r" }
        return rest.isEmpty || rest.first == "#"
          ? at(mark, "put a single dash, which stands for standard input, in quotes: \"-\"")
          : at(mark, "begin the list on the next line, or write it as [a, b]")
      }
      if problem.contains("cannot start any token"), rest(of: text, from: mark).first == "%" {
        return at(mark, "put a value that starts with % in quotes, such as \"%s-small\"")
      }
      return at(mark, "not YAML: \(problem)")
    case .reader(let problem, _, _, _): return at(nil, "not YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, let context):
      let names = keys.map { "“\(printableText(of: Array($0.utf8)))”" }.joined(separator: ", ")
      return at(context.mark, "\(names) is given more than once; this is the first")
    default: return at(nil, "not YAML: \(error)")
    }
  }
}
