#if Endpoint
@testable import PreviewEndpoint
import Previews
import Testing
@testable import thumbjob

/// What a server prints about requests that get no preview.
@Suite struct RefusalLogTests {
  private let log = RefusalLog()
  private let start = ContinuousClock.now

  private func request(_ reason: PreviewError.Reason?, message: String = "the key is wrong") -> AnsweredRequest {
    AnsweredRequest(
      id: "1", method: "POST", path: "/fit", dialect: nil, client: "10.0.0.5", status: 401,
      error: reason.map { PreviewError(401, $0, message) }, bytesReceived: 0, bytesSent: 0, time: .zero,
      isAbandoned: false)
  }

  @Test func eachReasonHasALineInAMinute() {
    #expect(log.line(for: request(.key), at: start) == "thumbjob: 401 for 10.0.0.5: the key is wrong")
    #expect(log.line(for: request(.key), at: start + .seconds(59)) == nil)
    #expect(log.line(for: request(.held), at: start + .seconds(59)) != nil)
    #expect(
      log.line(for: request(.key), at: start + .seconds(61))
        == "thumbjob: 401 for 10.0.0.5: the key is wrong (1 more request since the last such line)")
    #expect(log.line(for: request(nil), at: start + .seconds(62)) == nil)
  }

  @Test func aMessageStaysOnOneLine() {
    let line = log.line(for: request(.picture, message: "no\nsuch\u{1B}[2J"), at: start)
    #expect(line?.contains { $0.isNewline || $0 == "\u{1B}" } == false)
  }
}
#endif
