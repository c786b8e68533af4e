import Files
import Sourcing

/// Which share of the sources a job makes: as it is written in its settings.
package enum ShardChoice: Sendable, Equatable {
  /// `I/N`.
  case share(Shard)
  /// `I`, of a folder of lists.
  case list(Int)
  /// `auto` or `auto/N`.
  case auto(of: Int?)

  /// - Parameter subject: the option or key that the error names.
  package init(parsing text: String, for subject: String) throws(TextError) {
    let words = text.split(separator: "/", omittingEmptySubsequences: false)
    let count = words.count == 2 ? Self.number(words[1]) : nil
    guard words.count <= 2, words.count == 1 || count != nil, words[0] == "auto" || Self.number(words[0]) != nil else {
      throw TextError("\(subject): “\(text)” is not a share; write I/N, such as 0/64, or auto")
    }
    if let count, !Shard.counts.contains(count) {
      throw TextError("\(subject): there may be \(Shard.counts.lowerBound) to \(Shard.counts.upperBound) shares")
    }
    guard let index = Self.number(words[0]) else {
      self = .auto(of: count)
      return
    }
    guard let count else {
      self = .list(index)
      return
    }
    guard index < count else {
      throw TextError("\(subject): there is no share \(text); the shares are 0/\(count) to \(count - 1)/\(count)")
    }
    self = .share(Shard(index, of: count))
  }

  /// Digits only: no sign.
  private static func number(_ text: Substring) -> Int? { text.allSatisfy(\.isASCIIDigit) ? Int(text) : nil }

  /// The share of this process.
  func resolved(in environment: [String: String]) throws(TextError) -> Shard {
    switch self {
    case .share(let shard): return shard
    case .list(let index):
      throw TextError(
        in: "shard", "\(index) of how many? Write \(index)/64; only the lists of thumbjob split have a number")
    case .auto(let count):
      let (array, task) = try Self.current(in: environment)
      guard let count else { return try array.shard(task, in: environment) }
      return try array.shard(task, of: count, isList: false)
    }
  }

  /// The list of this process.
  ///
  /// - Parameter parts: how many lists there are.
  func resolved(among parts: Int, in environment: [String: String]) throws(TextError) -> Shard {
    let index: Int
    switch self {
    case .share(let shard) where shard.count != parts: throw Self.other(shard.count, than: parts)
    case .auto(let count?) where count != parts: throw Self.other(count, than: parts)
    case .share(let shard): index = shard.index
    case .list(let given): index = given
    case .auto:
      let (array, task) = try Self.current(in: environment)
      return try array.shard(task, of: parts, isList: true)
    }
    guard index < parts else {
      throw TextError(in: "shard", "there is no list \(index); the lists are 0 to \(parts - 1)")
    }
    return Shard(index, of: parts, isList: true)
  }

  private static func other(_ count: Int, than parts: Int) -> TextError {
    TextError(in: "shard", "\(count) shares, but there are \(parts) lists")
  }

  private static func current(in environment: [String: String]) throws(TextError) -> (array: TaskArray, task: Int) {
    if let current = TaskArray.current(in: environment) { return current }
    let names = TaskArray.known.map(\.variable).joined(separator: ", ")
    throw TextError(in: "shard", "auto: none of \(names) is set; name the share, such as 0/64")
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
