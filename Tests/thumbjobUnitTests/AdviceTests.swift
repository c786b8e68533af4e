import BoundedQueue
import Files
import MemoryPressure
import SystemPackage
import Testing
import ThumbnailJobs
import Thumbnails

@testable import thumbjob

@Suite(.timeLimit(.minutes(1)))
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
