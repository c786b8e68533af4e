import AccessRecording
import Foundation
import Locking

/// A value that one method forgets to guard.
enum UnguardedValue: Lesson {
  static let name = "unguarded-value"
  static let claim = "A method that forgets the lock passes every test in which no two threads meet."
  static let today =
    "A recorder of threads shows which methods to look at; debug builds also know which locks were held (lockset), "
    + "and name the value."
  static let file = #fileID

  /// Names by number.
  private final class Names: Recorded, Sendable {
    private let lock = Locked(())
    private let names = Shared<[Int: String]>([:])

    func add(_ name: String, for id: Int) { recorded { lock.withLock { _ in names.modify { $0[id] = name } } } }
    func nameForgettingTheLock(of id: Int) -> String? { recorded { names.read { $0[id] } } }
    func name(of id: Int) -> String? { recorded { lock.withLock { _ in names.read { $0[id] } } } }
  }

  static func wrong() -> Outcome { outcome(of: .unguardedValue) }
  static func right() -> Outcome { outcome(of: .guardedValue) }

  /// A form, in a process of its own, because all of a process is recorded. It prints the report.
  static func record(forgetting: Bool) {
    let names = Names()
    AccessRecorder.start()
    // One thread after the other: nothing goes wrong.
    names.add("a", for: 1)
    Player("reader") { _ = forgetting ? names.nameForgettingTheLock(of: 1) : names.name(of: 1) }.end.wait()
    names.add("b", for: 2)
    FileHandle.standardError.write(Data("\(AccessRecorder.stop())\n".utf8))
  }

  private static func outcome(of act: Act) -> Outcome {
    let (ending, said) = Helper.run(act)
    precondition(ending == .exited(0) && said.contains("add(_:for:)"), "no report: \(ending), \(said)")
    let isNamed = said.contains("is unguarded")
    if isNamed { return Outcome(isFaulty: true, "the value is named as unguarded") }
    return Outcome(
      isFaulty: false, Act.checksLocks ? "nothing is unguarded" : "unknown: only debug builds know the locks held")
  }
}
