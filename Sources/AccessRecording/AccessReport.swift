/// What a recording has found.
public struct AccessReport: Sendable, Equatable, CustomStringConvertible {
  /// The recorded methods.
  public let threads: ThreadReport
  /// The ``Shared`` values that no lock has guarded in all accesses, in the order in which this was found. Empty in release
  /// builds, which do not know what locks a thread holds.
  public let unguarded: [UnguardedValue]

  /// For people: a class, and a line for each of its methods, those marked that ran on several threads; then the values
  /// without a guard.
  public var description: String {
    let classes = threads.classes.map { type in
      "\(type.name)\n"
        + type.methods.map { method in
          let name = method.name.dropFirst(type.name.count + 1)
          let threads =
            method.isSingleThreaded
            ? "only on \(threads.threadNames[method.threads[0]] ?? "?")" : "on \(method.threads.count) threads"
          return "\(method.isSingleThreaded ? " " : "*") \(name): \(method.calls) calls \(threads)\n"
        }.joined()
    }
    return (classes + unguarded.map { "\($0)\n" }).joined()
  }
}

/// A ``Shared`` value that several threads used and at least one of them changed, although no lock was held at every access.
public struct UnguardedValue: Sendable, Equatable, CustomStringConvertible {
  /// One access to a value.
  public struct Access: Sendable, Equatable, CustomStringConvertible {
    /// Such as "Jobs/Job.swift:12".
    public let place: String
    public let isWrite: Bool
    /// The name of the thread.
    public let thread: String
    /// The names of the locks that the thread held, in the order in which it took them.
    public let locks: [String]

    public var description: String {
      let held = locks.isEmpty ? "without a lock" : "holding " + locks.joined(separator: ", ")
      return "\(isWrite ? "changed" : "read") at \(place) by \(thread) \(held)"
    }
  }

  /// The type of the value and the place where it was made.
  public let name: String
  /// Two accesses by different threads. They have no lock in common, unless only three accesses together have none.
  public let earlier, later: Access

  public var description: String { "\(name) is unguarded:\n  \(earlier)\n  \(later)" }
}
