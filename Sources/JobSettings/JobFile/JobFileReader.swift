import Fetching
import Files
import Sourcing
import Thumbnails
import Yams

/// Applies the values of a job file to settings and collects all mistakes.
package struct JobFileReader {
  package let file: Path
  /// The list that `-` stands for.
  private let dash: @Sendable (SourceList.Separator) -> SourceList
  private(set) var mistakes: [JobFileMistake] = []

  init(file: Path, dash: @escaping @Sendable (SourceList.Separator) -> SourceList) {
    self.file = file
    self.dash = dash
  }

  package mutating func read<Settings>(_ root: Node?, _ keys: [JobFileKey<Settings>], into settings: inout Settings) {
    guard let root, !isNothing(root) else { return note(nil, "is empty; name at least the sources") }
    read(root, keys, of: "a job", into: &settings)
  }

  /// Reads a mapping. It applies the values in the order of `keys` and not of the mapping, so that a preset comes
  /// before the keys that override it.
  private mutating func read<Settings>(
    _ node: Node, _ keys: [JobFileKey<Settings>], of subject: String, into settings: inout Settings
  ) {
    let entries = entries(node, keys: keys.flatMap(\.names), of: subject)
    for key in keys {
      let found = entries.filter { key.names.contains($0.key) }
      for (name, value) in found.dropFirst() {
        note(value, "\(name): \(key.names.joined(separator: " and ")) cannot both be given")
      }
      for (name, value) in found { key.read(value, name, &self, &settings) }
    }
  }

  package mutating func entries(_ node: Node, keys: [String], of subject: String) -> [(key: String, value: Node)] {
    guard case .mapping(let mapping) = node else {
      note(node, "expected the keys of \(subject), such as “\(keys[0]): …”, found \(kind(of: node))")
      return []
    }
    var entries: [(key: String, value: Node)] = []
    for (key, value) in mapping {
      guard case .scalar(let scalar) = key else {
        note(key, "a key must be a word, not \(kind(of: key))")
        continue
      }
      if keys.contains(scalar.string) {
        entries.append((scalar.string, value))
      } else {
        let meant = NearestWord.to(scalar.string, among: keys).map { "; did you mean “\($0)”?" }
        note(key, "unknown key “\(shown(scalar.string))”\(meant ?? "; \(subject) has \(keys.joined(separator: ", "))")")
      }
    }
    return entries
  }

  /// - Parameter common: the settings from which each output starts.
  package mutating func outputs(_ node: Node, from common: OutputSettings) -> [OutputSettings]? {
    guard case .sequence(let list) = node, !list.isEmpty else {
      note(node, "outputs: expected a list of outputs, each with a key “out”, found \(kind(of: node))")
      return nil
    }
    return list.map { node in
      var output = common
      read(node, OutputSettings.jobFileKeys, of: "an output", into: &output)
      return output
    }
  }

  /// Reads sizes such as `256`, `[small=320, 1024]` or `{small: 320}`.
  package mutating func sizes(_ node: Node, _ key: String) -> [SizeSpec]? {
    var sizes: [SizeSpec] = []
    let before = mistakes.count
    if case .mapping(let mapping) = node {
      for (name, value) in mapping {
        guard let name = text(name, key), let spec = text(value, key) else { continue }
        sizes += attempt(value) { () throws(TextError) in try SizeSpec(parsing: "\(name)=\(spec)", for: key) }
      }
    } else {
      for (item, text) in items(node, key) {
        sizes += attempt(item) { () throws(TextError) in try SizeSpec(parsing: text, for: key) }
      }
    }
    if sizes.isEmpty && mistakes.count == before { note(node, "\(key): name at least one size") }
    if let clash = OutputSettings.clash(in: sizes) { note(node, "\(key): \(clash)") }
    return sizes.isEmpty ? nil : sizes
  }

  // MARK: - Values

  package mutating func number(_ node: Node, _ key: String, _ range: ClosedRange<Int>) -> Int? {
    guard let text = text(node, key, "a number") else { return nil }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2d }), let number = Int(text) else {
      note(node, "\(key): expected a whole number, found “\(shown(text))”")
      return nil
    }
    if range.contains(number) { return number }
    note(node, "\(key): \(number) is not within \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  mutating func flag(_ node: Node, _ key: String) -> Bool? {
    guard let text = text(node, key, "yes or no") else { return nil }
    switch text.lowercased() {
    case "true", "yes", "on": return true
    case "false", "no", "off": return false
    default:
      note(node, "\(key): expected yes or no, found “\(shown(text))”")
      return nil
    }
  }

  /// - Returns: nil if a mistake was noted; a value of nil for `no`.
  mutating func pruneMode(_ node: Node, _ key: String) -> PruneMode?? {
    if let mode = node.string.flatMap({ PruneMode(rawValue: $0) }) { return .some(mode) }
    return flag(node, key).map { $0 ? .yes : nil }
  }

  mutating func word<Word: RawRepresentable & CaseIterable>(_ node: Node, _ key: String) -> Word?
  where Word.RawValue == String {
    let words = Word.allCases.map(\.rawValue)
    guard let text = text(node, key, "one of \(words.joined(separator: ", "))") else { return nil }
    return check(text, node, key, words) ? Word(rawValue: text) : nil
  }

  mutating func keptMetadata(_ node: Node, _ key: String) -> KeptMetadata? {
    var kept: KeptMetadata = []
    for item in items(node, key) where check(item.text, item.node, key, KeptMetadata.words.map(\.key)) {
      kept.formUnion(KeptMetadata.words.first { $0.key == item.text }?.value ?? [])
    }
    return kept
  }

  private mutating func check(_ text: String, _ node: Node, _ key: String, _ words: [String]) -> Bool {
    if words.contains(text) { return true }
    let meant = NearestWord.to(text, among: words).map { "; did you mean “\($0)”?" }
    note(node, "\(key): “\(shown(text))” is not one of \(words.joined(separator: ", "))\(meant ?? "")")
    return false
  }

  package mutating func globs(_ node: Node, _ key: String) -> [Glob] {
    items(node, key).flatMap { item in
      attempt(item.node) { () throws(TextError) in
        do { return try Glob(item.text) } catch { throw TextError("\(key): \(error)") }
      }
    }
  }

  mutating func parsed<Value>(
    _ node: Node, _ key: String, _ parse: (String, String) throws(TextError) -> Value
  ) -> Value? {
    guard let text = text(node, key) else { return nil }
    return attempt(node) { () throws(TextError) in try parse(text, key) }.first
  }

  /// - Returns: the value alone, or nothing after noting the error of `body`.
  private mutating func attempt<Value>(_ node: Node, _ body: () throws(TextError) -> Value) -> [Value] {
    do throws(TextError) {
      return [try body()]
    } catch {
      note(node, error.description)
      return []
    }
  }

  package mutating func note(_ node: Node?, _ message: String) {
    mistakes.append(
      JobFileMistake(file: file, line: node?.mark?.line ?? 1, column: node?.mark?.column ?? 1, message: message))
  }

  /// One source or a list of them; `-` is a list on standard input.
  package mutating func sources(_ node: Node, _ key: String) -> [SourceArgument] {
    items(node, key).compactMap { node, text in
      if text == "-" { return .list(dash(.newline)) }
      guard Path(text).isURL else { return path(text, node, key).map { .path($0) } }
      do throws(RemoteURLError) {
        return .address(try RemoteAddress(parsing: text.utf8))
      } catch {
        note(node, "\(key): \(error)")
        return nil
      }
    }
  }

  /// A list of sources with a zero byte after each path.
  package mutating func list(_ node: Node, _ key: String) -> SourceList? {
    guard let text = text(node, key) else { return nil }
    return text == "-" ? dash(.nul) : path(text, node, key).map { SourceList(file: $0, separator: .nul) }
  }

  /// The output that a text stands for: a path, or a part of a bucket.
  package mutating func output(_ node: Node, _ key: String) -> Path? {
    guard let text = text(node, key), Path(text).isURL else { return path(node, key) }
    return Path(text)
  }

  package mutating func path(_ node: Node, _ key: String) -> Path? { text(node, key).flatMap { path($0, node, key) } }

  /// The path that a text in the job file stands for. A relative one starts from the folder of the job file.
  private mutating func path(_ text: String, _ node: Node, _ key: String) -> Path? {
    // Only a shell replaces `~` by the home folder. Otherwise it is the name of a folder, which nobody wants to make.
    if text.hasPrefix("~") {
      note(node, "\(key): write the path to the home folder in full instead of ~, or ./~ for a folder of that name")
      return nil
    }
    return file.parent.appending(Path(text)).withoutNeedlessParents
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
