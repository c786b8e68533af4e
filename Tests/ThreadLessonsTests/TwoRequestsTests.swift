import Dispatch
import Foundation
import Locking
import TestSupport
import Testing

@testable import ThreadLessons

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Two requests in each right form: both answers, a failure, and a cancellation.
@Suite(.timeLimit(.minutes(1))) struct TwoRequestsTests {
  private struct NoAnswer: Error {}

  /// The forms that are async functions.
  enum Form: CaseIterable {
    case nested, asyncLet, taskGroup

    func join(_ first: @escaping TwoRequests.Request, _ second: @escaping TwoRequests.Request) async throws -> [String]
    {
      switch self {
      case .nested: try await TwoRequests.nested(first, second)
      case .asyncLet: try await TwoRequests.asyncLet(first, second)
      case .taskGroup: try await TwoRequests.taskGroup(first, second)
      }
    }
  }

  /// A request that ends only if it is cancelled.
  @Sendable private static func unanswered() async throws -> String {
    for await _ in AsyncStream<Void>(unfolding: { try? await Task.sleep(for: .seconds(1000)) }) {}
    throw CancellationError()
  }

  @Test(arguments: Form.allCases) func theNextStepGetsBothAnswers(form: Form) async throws {
    #expect(try await form.join({ "profile" }, { "photos" }) == ["profile", "photos"])
  }

  @Test(arguments: Form.allCases) func theNextStepGetsTheErrorOfARequest(form: Form) async {
    await #expect(throws: NoAnswer.self) { try await form.join({ "profile" }, { throw NoAnswer() }) }
    await #expect(throws: NoAnswer.self) { try await form.join({ throw NoAnswer() }, { "photos" }) }
  }

  /// Otherwise the test would wait for the other one for ever.
  @Test func aFailureCancelsTheOtherRequest() async {
    await #expect(throws: NoAnswer.self) { try await TwoRequests.asyncLet({ throw NoAnswer() }, Self.unanswered) }
    await #expect(throws: NoAnswer.self) { try await TwoRequests.taskGroup(Self.unanswered, { throw NoAnswer() }) }
  }

  @Test(arguments: Form.allCases) func cancellingTheCallerCancelsTheRequests(form: Form) async {
    let (begins, begun) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await form.join(
        {
          begun.yield()
          return try await Self.unanswered()
        }, Self.unanswered)
    }
    for await _ in begins { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  // MARK: Closures

  /// A request that calls back when it is told to.
  private final class Pending: Sendable {
    private let completion = Locked<TwoRequests.CallingBack.Completion?>(nil)

    var request: TwoRequests.CallingBack {
      .init(
        start: { done in self.completion.withLock { $0 = done } },
        cancel: { self.end(.failure(CancellationError())) })
    }

    func end(_ result: Result<String, any Error>) {
      let done = completion.withLock { completion in
        defer { completion = nil }
        return completion
      }
      done?(result)
    }
  }

  private func joined(_ act: (_ first: Pending, _ second: Pending, _ cancelAll: () -> Void) -> Void) async throws
    -> [String]
  {
    let (first, second) = (Pending(), Pending())
    return try await result { end in
      let cancelAll = TwoRequests.group([first.request, second.request], on: .global(), completion: end)
      act(first, second, cancelAll)
    }
  }

  @Test func aGroupGivesTheNextStepBothAnswersInTheirOrder() async throws {
    let answers = try await joined { first, second, _ in
      second.end(.success("photos"))
      first.end(.success("profile"))
    }
    #expect(answers == ["profile", "photos"])
  }

  @Test func aFailureInAGroupCancelsTheOtherRequest() async {
    await #expect(throws: NoAnswer.self) { try await joined { first, _, _ in first.end(.failure(NoAnswer())) } }
  }

  @Test func aGroupCanBeCancelled() async {
    await #expect(throws: CancellationError.self) {
      try await joined { first, _, cancelAll in
        first.end(.success("profile"))
        cancelAll()
      }
    }
  }

  // MARK: A URL session

  private func session(_ paths: [String], _ act: (SessionRequests) -> Void = { _ in }) async throws -> [String] {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [CannedAnswers.self]
    return try await result { end in
      let requests = SessionRequests(configuration, completion: end)
      requests.start(paths.map { CannedAnswers.url($0) })
      act(requests)
    }
  }

  @Test func aSessionGivesTheNextStepBothAnswersInTheirOrder() async throws {
    #expect(try await session(["profile", "photos"]) == ["profile", "photos"])
  }

  @Test func aSessionWithoutRequestsGivesTheNextStepNoAnswers() async throws {
    #expect(try await session([]) == [])
  }

  @Test func anEmptyAnswerIsAnAnswer() async throws {
    #expect(try await session(["nothing", "photos"]) == ["", "photos"])
    #expect(try await session(["profile", "nothing"]) == ["profile", ""])
    #expect(try await session(["nothing", "nothing"]) == ["", ""])
  }

  @Test func aFailureInASessionCancelsTheOtherRequest() async {
    await #expect(throws: URLError.self) { try await session(["waits", "fails"]) }
  }

  @Test func aSessionCanBeCancelled() async {
    await #expect(throws: CancellationError.self) { try await session(["waits", "waits"]) { $0.cancel() } }
  }
}
