import BoundedQueue
import Files
import Testing
import Thumbnails

@testable import JobSettings
@testable import Jobs
@testable import MemoryPressure
@testable import PictureMaking
@testable import Places
@testable import Sourcing
@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct AdviceTests {
  @Test func faultsOfASourceNameTheOptionThatAcceptsThem() throws {
    let size = try #require(PixelSize(width: 300, height: 200) as PixelSize?)
    #expect(Advice.line(ThumbnailError.corrupt("x")) == "damaged: x; --fail-on truncated may let it pass")
    #expect(Advice.line(ThumbnailError.imperfect("x")) == "not flawless: x; --fail-on error may let it pass")
    #expect(
      Advice.line(ThumbnailError.tooManyPixels(size, limit: 9))
        == "300 × 200 = 60000 pixels, over the limit of 9; --limit-pixels 60000 would let it pass")
    #expect(
      Advice.line(ThumbnailError.thumbnailTooLarge(size, limit: 9))
        == "a thumbnail of 300 × 200 = 60000 pixels is over the limit of 9; ask for a smaller size, "
        + "or --limit-pixels 60000")
    #expect(Advice.line(ThumbnailError.empty) == "the file is empty", "there is nothing to advise")
  }

  @Test(arguments: [
    (OutputError(.cannotCreate, "out", .permissionDenied), "; choose another with --out"),
    (OutputError(.foreign, "out/a.jpg"), "; move it away or choose another folder with --out"),
    (OutputError(.shared, "out"), "give each output its own folder"),
  ])
  func anOutputThatCannotBeUsedHasAdvice(error: OutputError, end: String) {
    #expect(Advice.line(error).hasPrefix("\(error)") && Advice.line(error).hasSuffix(end))
    #expect(Advice.line(SourceFailure.output(error)) == Advice.line(error))
  }

  @Test(arguments: [
    (WalkError.Kind.tooManyOpenFiles, "; raise the limit with ulimit -n or lower --max"),
    (.nulInEntry, "; give NUL-separated lists with --files0-from -"),
  ])
  func anErrorOfTheWalkHasAdvice(kind: WalkError.Kind, advice: String) {
    let error = WalkError(kind, "a", argument: 0)
    #expect(Advice.line(error) == "\(error)\(advice)")
  }

  @Test func aNeedForMemoryNamesTheOptionIfTheProcessMayUseThatMuch() {
    let limit = MemoryLimit(bytes: 256 << 20, origin: .machine)
    let plan = MemoryPlan(.bytes(4 << 20), limit: limit, usage: MemoryUsage())
    func line(_ needed: Int) -> String {
      Advice.line(SourceFailure.memory(BudgetExceededError(needed: needed, budget: plan.budget), plan: plan))
    }
    #expect(line(8 << 20).hasSuffix("; --memory 8M would allow it"))
    #expect(line(1 << 30).hasSuffix("; the process may use \(limit) in all, and needs a part of that itself"))
  }

  @Test func aBudgetThatTheProcessMayNotUseIsWarnedOfInTheWordsOfTheUser() {
    func warning(_ size: MemorySize?, limit mebibytes: Int, isRequested: Bool) -> String? {
      let limit = MemoryLimit(bytes: mebibytes << 20, origin: .machine)
      var usage = MemoryUsage()
      usage.resident = 10 << 20
      return Advice.warning(of: MemoryPlan(size, limit: limit, usage: usage), isRequested: isRequested)
    }
    let end = "more than is left of what this process may use, 16 MiB (physical memory); it may be killed"
    #expect(warning(.bytes(1 << 30), limit: 16, isRequested: true) == "--memory 1 GiB is \(end)")
    #expect(warning(nil, limit: 16, isRequested: false) == "the smallest budget, 8 MiB, is \(end)")
    #expect(warning(nil, limit: 64, isRequested: false) == nil)
  }

  @Test func aFailureHasTheAdviceOnItsCause() {
    #expect(Advice.line(SourceFailure.timeout(.seconds(2))) == "took longer than 2.0 seconds; --timeout allows more")
    #expect(
      Advice.line(SourceFailure.placeIsSource)
        == "its thumbnail would overwrite the source itself; choose another folder with --out")
    #expect(Advice.line(SourceFailure.source(.corrupt("x"))) == Advice.line(ThumbnailError.corrupt("x")))
    #expect(Advice.line(SourceFailure.other("odd")) == "odd")
  }

  @Test func anUnknownErrorIsShownUnchanged() {
    #expect(Advice.line(Errno.noSpace) == "\(Errno.noSpace)")
  }

  @Test(arguments: [
    (StopCause.startNothingNew, "by HUP"), (.cancelled(by: "USR2"), "by USR2"), (.shutdown(by: "TERM"), "by TERM"),
    (.timeIsUp, "because its time (--for) is over"),
    (.tooManyFailures, "because too many sources failed (--halt)"),
    (.pressure, "by memory pressure (--on-pressure cancel)"),
    (.outputLost, "because its standard output failed"),
  ])
  func everyCauseOfAStopHasAText(cause: StopCause, text: String) {
    #expect(cause.text == text)
  }
}
