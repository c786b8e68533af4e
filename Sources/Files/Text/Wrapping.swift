/// Breaks a text into lines at its spaces. A longer word has a line of its own.
package func wrapped(_ text: String, to width: Int) -> [String] {
  text.split(separator: " ").reduce(into: [String]()) { lines, word in
    if let last = lines.last, last.count + 1 + word.count <= width {
      lines[lines.count - 1] = "\(last) \(word)"
    } else {
      lines.append(String(word))
    }
  }
}
