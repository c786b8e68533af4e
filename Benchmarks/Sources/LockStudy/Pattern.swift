/// Who wants the lock, and how often.
struct Pattern {
  let name: String
  /// What each thread does, over and over.
  let members: [Member]

  enum Member: Sendable {
    /// Looks one operation up; then works a little.
    case reader
    /// Changes where one operation stands; then works a little.
    case writer
    /// A lane of the queue: an operation starts, works, and ends.
    case worker
    /// Accepts an operation.
    case producer
    /// Copies all there is, ten times a second.
    case watcher

    var reads: Bool {
      switch self {
      case .reader, .watcher: true
      case .writer, .worker, .producer: false
      }
    }
  }

  static func contest(writers: Int, readers: Int) -> Pattern {
    Pattern(
      name: "\(writers) writing, \(readers) reading",
      members: Array(repeating: .writer, count: writers) + Array(repeating: .reader, count: readers))
  }

  static let all = [
    contest(writers: 3, readers: 10), contest(writers: 1, readers: 10), contest(writers: 5, readers: 5),
    contest(writers: 10, readers: 1),
    Pattern(name: "account, max 4", members: [.worker, .worker, .worker, .worker, .producer, .watcher]),
  ]
}
