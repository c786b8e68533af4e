import Files
import Yams

// Checks the shape of a node: keys and values, a list, one value, or nothing.
extension JobFileReader {
  package typealias Text = (node: Node, text: String)

  /// The texts of a value. Nothing for a value that is not in the form of the setting, after noting the mistake.
  package mutating func texts(_ info: SettingInfo, _ node: Node, _ key: String) -> [Text] {
    func one(_ text: String?) -> [Text] { text.map { [(node, $0)] } ?? [] }
    switch info.form {
    case .flag: return one(flag(node, key))
    case .wholeNumber: return one(wholeNumber(node, key))
    case .word(let type): return one(word(node, key, type))
    case .wordOrFlag(let type):
      return one(node.string.flatMap { SettingInfo.words(of: type).contains($0) ? $0 : nil } ?? flag(node, key))
    case .words(let words):
      return items(node, key).filter { item in check(item.text, item.node, key, words) }
    case .text: return one(text(node, key))
    case .texts: return items(node, key)
    case .namedTexts:
      // Such as `256`, `[small=320, 1024]` or `{small: 320}`.
      guard case .mapping(let mapping) = node else { return items(node, key) }
      if mapping.isEmpty { note(node, "\(key): name at least one \(info.name)") }
      return mapping.compactMap { name, value in
        guard let name = text(name, key), let text = text(value, key) else { return nil }
        return (value, "\(name)=\(text)")
      }
    }
  }

  private mutating func wholeNumber(_ node: Node, _ key: String) -> String? {
    guard let text = text(node, key, "a number") else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2d }), Int(text) != nil { return text }
    note(node, "\(key): expected a whole number, found “\(shown(text))”")
    return nil
  }

  private mutating func flag(_ node: Node, _ key: String) -> String? {
    guard let text = text(node, key, "yes or no") else { return nil }
    switch text.lowercased() {
    case "true", "yes", "on": return "yes"
    case "false", "no", "off": return "no"
    default:
      note(node, "\(key): expected yes or no, found “\(shown(text))”")
      return nil
    }
  }

  mutating func word(_ node: Node, _ key: String, _ type: SettingInfo.WordType) -> String? {
    let words = SettingInfo.words(of: type)
    guard let text = text(node, key, "one of \(words.joined(separator: ", "))") else { return nil }
    return check(text, node, key, words) ? text : nil
  }

  private mutating func check(_ text: String, _ node: Node, _ key: String, _ words: [String]) -> Bool {
    if words.contains(text) { return true }
    let meant = NearestWord.to(text, among: words).map { "; did you mean “\($0)”?" }
    note(node, "\(key): “\(shown(text))” is not one of \(words.joined(separator: ", "))\(meant ?? "")")
    return false
  }

  package mutating func text(_ node: Node, _ key: String, _ expected: String = "one value") -> String? {
    guard case .scalar(let scalar) = node, !isNothing(node) else {
      note(node, "\(key): expected \(expected), found \(kind(of: node))")
      return nil
    }
    guard !scalar.string.isEmpty else {
      note(node, "\(key): is empty")
      return nil
    }
    guard !scalar.string.utf8.contains(0) else {
      note(node, "\(key): contains a NUL character")
      return nil
    }
    return scalar.string
  }

  /// One value or a list of them.
  mutating func items(_ node: Node, _ key: String) -> [Text] {
    let nodes = if case .sequence(let list) = node { Array(list) } else { [node] }
    if nodes.isEmpty { note(node, "\(key): expected a value or a list of values, found \(kind(of: node))") }
    return nodes.compactMap { node in text(node, key, "a value or a list of values").map { (node, $0) } }
  }

  func isNothing(_ node: Node) -> Bool {
    guard case .scalar(let scalar) = node, scalar.style == .plain else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  package func kind(of node: Node) -> String {
    switch node {
    case .mapping: "keys and values"
    case .sequence(let list): list.isEmpty ? "an empty list" : "a list"
    case .scalar(let scalar): isNothing(node) ? "nothing" : "“\(shown(scalar.string))”"
    case .alias: "an alias"
    }
  }

  package func shown(_ text: String) -> String {
    let line = printableText(of: Array(text.utf8))
    return line.count > 60 ? line.prefix(60) + "…" : line
  }
}
