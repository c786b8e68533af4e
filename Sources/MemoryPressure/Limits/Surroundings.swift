import Files
import Foundation

/// The file system and the environment variables that the memory figures are read from. Tests replace them.
package struct Surroundings: Sendable {
  /// A prefix of the absolute paths of `/proc` and of cgroups; empty for the real system.
  package let root: String
  let variables: [String: String]

  package init(root: String = "", variables: [String: String] = ProcessInfo.processInfo.environment) {
    self.root = root
    self.variables = variables
  }

  /// The lines of a file; empty if it cannot be read.
  package func lines(_ path: String) -> [Substring] {
    guard let file = try? Descriptor.open(root + path, O_RDONLY), let bytes = try? readAll(from: file.number) else {
      return []
    }
    return Substring(decoding: bytes, as: UTF8.self).fields("\n")
  }

  /// The number that a file contains, or that follows a name in it; nil if there is none, for example for `max`.
  package func number(_ path: String, after name: String? = nil) -> Int? {
    for line in lines(path) {
      let words = line.fields(" ")
      if let name {
        if words.count >= 2, words[0] == name { return Int(words[1]) }
      } else {
        return words.first.flatMap { Int($0) }
      }
    }
    return nil
  }

  func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }
}
