import LockContest
import TestSupport
import Testing

/// The contest of `make bench-locks`, in small: it checks that guards guard, and that the benchmark measures what it says.
@Suite(.timeLimit(.minutes(5))) struct ContestTests {
  @Test(arguments: [50, 2_000]) func nobodyMeetsAWriterInAnyGuard(nanoseconds: Int) async throws {
    let section = Section(nanoseconds: nanoseconds, yields: true)
    let contest = Contest(threads: 6, writes: 30, section: section, measuresWaits: true, end: .accesses(150))
    try await onThread {
      for contestant in Contestant.all where contestant.isVisible {
        let outcome = contestant.run(contest)
        #expect(outcome.collisions == 0, "\(contestant.name)")
        #expect(outcome.reads + outcome.writes == 900 && outcome.writes > 150 && outcome.reads > 450)
        #expect(outcome.readWaits.count == outcome.reads && outcome.writeWaits.count == outcome.writes)
      }
    }
  }
}
