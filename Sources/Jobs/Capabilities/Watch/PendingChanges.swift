import Files

/// The paths at which something has changed, until it is time to look at them.
///
/// A path that changes again and again is looked at once: after a quiet time, or after some seconds if it does not get
/// quiet. What is kept is bounded: if there are too many paths, all are dropped, and a walk over everything replaces them.
struct PendingChanges {
  /// How long a path must be left alone.
  static let quietTime = Duration.milliseconds(300)
  /// After this time it is looked at even if it still changes.
  static let longestWait = Duration.seconds(3)
  /// The most paths. Each takes about 200 bytes.
  static let limit = 20_000

  private struct Times {
    let first: ContinuousClock.Instant
    var due: ContinuousClock.Instant
  }

  private var times: [Path: Times] = [:]
  /// No path is due before this; nil if there is none.
  private(set) var nextDue: ContinuousClock.Instant?
  /// Whether paths were lost, so that everything must be walked.
  private(set) var needsWalk = false

  var count: Int { times.count }

  /// Notes a change.
  ///
  /// - Parameter quiet: how long the path must be left alone.
  mutating func note(_ path: Path, at now: ContinuousClock.Instant, quiet: Duration = quietTime) {
    if needsWalk { return }
    let first = times[path]?.first ?? now
    let due = min(now + quiet, max(now, first + Self.longestWait))
    times[path] = Times(first: first, due: due)
    nextDue = nextDue.map { min($0, due) } ?? due
    if times.count > Self.limit { loseAll() }
  }

  /// Everything must be walked.
  mutating func loseAll() {
    needsWalk = true
    times = [:]
    nextDue = nil
  }

  /// Takes the need for a walk; changes are noted again from now on.
  mutating func takeWalk() -> Bool {
    defer { needsWalk = false }
    return needsWalk
  }

  /// Takes the paths that are due.
  mutating func takeDue(at now: ContinuousClock.Instant) -> [Path] {
    guard let nextDue, nextDue <= now else { return [] }
    let due = times.filter { $0.value.due <= now }.map(\.key)
    for path in due { times[path] = nil }
    self.nextDue = times.values.map(\.due).min()
    return due
  }
}
