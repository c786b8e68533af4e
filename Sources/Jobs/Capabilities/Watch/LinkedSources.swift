import Files
import Locking
import Marks

/// Sources whose files have several names (hard links). The kernel reports a change only for the name by which it was made,
/// so these files are looked at again and again.
///
/// What is kept is bounded: if there are too many, the caller finds their changes by walks.
///
/// *Concurrency*: every member may be called from any thread. No lock is held while files are looked at.
final class LinkedSources: Sendable {
  /// The most sources. Each takes about 200 bytes.
  static let limit = 10_000

  /// What is new with a source.
  enum News {
    /// It is the first one.
    case first
    case none
    /// It is not looked at, because there are too many.
    case tooMany
  }

  private struct State {
    /// Each source with the state in which its file was seen last.
    var seen: [Path: FileState] = [:]
    var isAnyKnown = false
    var nextLook = ContinuousClock.now
  }

  private let pause: Duration
  private let state = Locked(State())

  /// - Parameter pause: the time between two looks.
  init(every pause: Duration) { self.pause = pause }

  /// Looks at a source from now on.
  ///
  /// - Parameter file: the present state of its file.
  func insert(_ source: Path, _ file: FileState) -> News {
    state.withLock { state in
      if state.seen[source] == nil, state.seen.count >= Self.limit { return .tooMany }
      state.seen[source] = file
      defer { state.isAnyKnown = true }
      return state.isAnyKnown ? .none : .first
    }
  }

  /// Looks at all sources if it is time to.
  ///
  /// - Returns: those that have changed. Those that have a single name now, or are gone, are forgotten: the kernel reports
  ///   what becomes of them.
  func takeChanged() -> [Path] {
    let seen = state.withLock { state -> [Path: FileState] in
      guard !state.seen.isEmpty, state.nextLook <= .now else { return [:] }
      state.nextLook = .now + pause
      return state.seen
    }
    var changed: [Path] = []
    for (source, before) in seen {
      let now = try? FileStatus.of(source, followingLinks: true).get()
      let file = now.map { FileState($0) }
      if let file, file != before { changed.append(source) }
      let isLinked = now.map { $0.st_nlink > 1 } ?? false
      if isLinked, file == before { continue }
      state.withLock { state in
        // The source may have been looked at meanwhile.
        if state.seen[source] == before { state.seen[source] = isLinked ? file : nil }
      }
    }
    return changed
  }
}
