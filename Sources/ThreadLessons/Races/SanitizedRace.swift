/// A race, and the sanitizer that sees it. It needs a program of the lessons that is built with the thread sanitizer.
enum SanitizedRace: Lesson {
  static let name = "sanitized-race"
  static let claim =
    "A race rarely shows in results; the thread sanitizer reports it by the accesses, also when all results are "
    + "right."
  static let today =
    "It works for Swift on Linux, except that `Synchronization.Mutex` is out of its sight; `Locked` is a POSIX "
    + "mutex for that reason."
  static let file = #fileID

  static func wrong() -> Outcome { report(of: [.fourThreads: "increase", .arrayWhileRead: "ArrayAddedToWhileRead"]) }

  static func right() -> Outcome { report(of: [.fourThreadsWithLock: "race"]) }

  /// Whether the sanitizer names what each act races for.
  private static func report(of acts: [Act: String]) -> Outcome {
    let named = acts.filter { act, name in
      let (ending, said) = Helper.run(act)
      // A process without a finding ends well, and one with findings says so.
      precondition(ending == .exited(0) || said.contains("ThreadSanitizer"), "no report: \(ending), \(said)")
      // A value of Swift's has an “access race”, other memory a “data race”.
      return said.contains(/ThreadSanitizer: .* race/) && said.contains(name)
    }
    let names = named.values.sorted().joined(separator: ", ")
    return Outcome(
      isFaulty: named.count == acts.count, named.isEmpty ? "no race is reported" : "races are reported: \(names)")
  }
}
