/// Methods, with the threads that they ran on. A method that runs on several threads shares the state it uses; one that
/// always runs on the same thread may use state without a lock.
public struct ThreadReport: Sendable, Equatable {
  /// One method.
  public struct Method: Sendable, Equatable {
    /// The class and the method, such as "Job.take".
    public let name: String
    /// The number of times it ran.
    public let calls: Int
    /// The time it ran in all, in microseconds.
    public let microseconds: Int
    /// The numbers of the threads it ran on, ascending; at most ``ThreadReport/mostThreads``.
    public let threads: [Int]

    public var isSingleThreaded: Bool { threads.count == 1 }
  }

  /// The methods of one class.
  public struct Class: Sendable, Equatable {
    public let name: String
    /// Sorted by name.
    public let methods: [Method]
  }

  /// The most threads that are remembered for one method. A method may run on a new thread each time, and must not take more
  /// memory with every call.
  public static let mostThreads = 256

  /// Sorted by name, so that the methods of a class are together.
  public let methods: [Method]
  /// The names of threads, by number.
  public let threadNames: [Int: String]

  /// By class, sorted by name.
  public var classes: [Class] {
    Dictionary(grouping: methods) { String($0.name.prefix { $0 != "." }) }
      .map { Class(name: $0.key, methods: $0.value) }.sorted { $0.name < $1.name }
  }

  /// Adds up calls. Calls of the same name are one method.
  package struct Tally: Sendable {
    private struct Entry {
      var (calls, microseconds, threads): (Int, Int, Set<Int>) = (0, 0, [])
    }

    private var entries: [String: Entry] = [:]
    package var threadNames: [Int: String] = [:]

    package init() {}

    package mutating func add(_ name: String, calls: Int = 1, microseconds: Int, threads: some Sequence<Int>) {
      entries[name, default: Entry()].calls += calls
      entries[name, default: Entry()].microseconds &+= microseconds
      for thread in threads where entries[name, default: Entry()].threads.count < mostThreads {
        entries[name, default: Entry()].threads.insert(thread)
      }
    }

    package var report: ThreadReport {
      let methods = entries.sorted { $0.key < $1.key }.map { name, entry in
        Method(
          name: name, calls: entry.calls, microseconds: entry.microseconds, threads: entry.threads.sorted())
      }
      return ThreadReport(methods: methods, threadNames: threadNames)
    }
  }
}
