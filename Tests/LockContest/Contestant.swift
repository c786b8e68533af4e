import Locking

/// A guard that takes part in contests.
public struct Contestant: Sendable {
  public let name: String
  /// Whether the thread sanitizer understands the guard.
  public let isVisible: Bool
  private let isAsync: Bool
  private let contest: @Sendable (Contest) -> Contest.Outcome

  private init(
    _ name: String, isVisible: Bool = true, isAsync: Bool = false,
    _ contest: @escaping @Sendable (Contest) -> Contest.Outcome
  ) {
    (self.name, self.isVisible, self.isAsync, self.contest) = (name, isVisible, isAsync, contest)
  }

  public func run(_ contest: Contest) -> Contest.Outcome {
    var own = contest
    own.isAsync = isAsync
    return self.contest(own)
  }

  /// The types stand here and not where contests are run: in another module, the compiler would not specialise the
  /// contest for them.
  public static let all = [
    Contestant("Locked") { $0.run(Locked<Contest.Value>.self) },
    Contestant("ReaderPreferringLocked") { $0.run(ReaderPreferringLocked<Contest.Value>.self) },
    Contestant("WriterPreferringLocked") { $0.run(WriterPreferringLocked<Contest.Value>.self) },
    Contestant("SemaphoreLocked") { $0.run(SemaphoreLocked<Contest.Value>.self) },
    Contestant("BarrierLocked") { $0.run(BarrierLocked<Contest.Value>.self) },
    Contestant("BarrierLocked, writeAsync", isAsync: true) { $0.run(BarrierLocked<Contest.Value>.self) },
    Contestant("Synchronization.Mutex", isVisible: false) { $0.run(MutexLocked<Contest.Value>.self) },
  ]

  /// For contests without writes. What it reaches, no guard can exceed.
  public static let withoutLock = Contestant("no lock") { $0.run(Unlocked<Contest.Value>.self) }
}
