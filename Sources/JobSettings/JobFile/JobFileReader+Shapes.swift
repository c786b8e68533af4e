import Files
import Yams

// Checks the shape of a node: keys and values, a list, one value, or nothing.
extension JobFileReader {
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
  mutating func items(_ node: Node, _ key: String) -> [(node: Node, text: String)] {
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
