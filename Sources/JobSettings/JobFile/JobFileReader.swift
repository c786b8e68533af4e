import Fetching
import Files
import Sourcing
import Yams

/// Applies the values of a job file to settings and collects all mistakes.
package struct JobFileReader {
  package let file: Path
  /// The list that `-` stands for.
  private let dash: @Sendable (SourceList.Separator) -> SourceList
  private(set) var mistakes: [JobFileMistake] = []
  /// What a mistake has told the keys of.
  private var listed: Set<String> = []

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
        noteUnknown(key, scalar.string, keys, of: subject)
      }
    }
    return entries
  }

  /// Notes an unknown key. The keys that there are follow the first one only.
  private mutating func noteUnknown(_ node: Node, _ name: String, _ keys: [String], of subject: String) {
    let other = OtherNames.setting(for: name).flatMap { keys.contains($0) ? $0 : nil }
    var hint = (other ?? NearestWord.to(name, among: keys)).map { "; did you mean “\($0)”?" }
    if hint == nil, listed.insert(subject).inserted { hint = "; \(subject) has \(keys.joined(separator: ", "))" }
    note(node, "unknown key “\(shown(name))”\(hint ?? "")")
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

  /// Changes settings by the value of a key. Each mistake in it is noted.
  package mutating func read<Settings>(
    _ setting: Setting<Settings>, _ node: Node, _ key: String, into settings: inout Settings
  ) {
    var texts = texts(setting.info, node, key)
    if texts.count > 1 {
      // Each by itself first, for the position of a mistake.
      var scratch = settings
      texts = texts.filter { apply(setting, [$0], $0.node, key, to: &scratch) }
    }
    if let first = texts.first { _ = apply(setting, texts, texts.count > 1 ? node : first.node, key, to: &settings) }
  }

  private mutating func apply<Settings>(
    _ setting: Setting<Settings>, _ texts: [Text], _ node: Node, _ key: String, to settings: inout Settings
  ) -> Bool {
    do throws(TextError) {
      try setting.change(texts.map(\.text), origin(key), &settings)
      return true
    } catch {
      note(node, error.description)
      return false
    }
  }

  private func origin(_ key: String) -> TextOrigin { TextOrigin(subject: key, folder: file.parent, dash: dash) }

  package mutating func note(_ node: Node?, _ message: String) {
    mistakes.append(
      JobFileMistake(file: file, line: node?.mark?.line ?? 1, column: node?.mark?.column ?? 1, message: message))
  }

  /// One source or a list of them; `-` is a list on standard input.
  package mutating func sources(_ node: Node, _ key: String) -> [SourceArgument] {
    items(node, key).compactMap { node, text in
      if text == "-" { return .list(dash(.newline)) }
      do {
        if Path(text).isURL { return .address(try RemoteAddress(parsing: text.utf8)) }
        return .path(try origin(key).path(text))
      } catch let error as TextError {
        note(node, error.description)
      } catch {
        note(node, "\(key): \(error)")
      }
      return nil
    }
  }
}
