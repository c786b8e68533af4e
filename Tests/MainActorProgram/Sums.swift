import BoundedQueue

/// A part of a program with a user interface. This target is compiled as such programs are: what says nothing else belongs to the
/// main actor. Operations do not, without saying so.
public final class Sums {
  public private(set) var shown: [Int] = []

  public init() {}

  public func load() async throws {
    shown = try await withBoundedQueue(maxConcurrentOperations: 2) { queue in
      let task = ResultOperation(title: "task") { () async throws -> Int in 8 }
      let sum = try await queue.result(of: Sum([1, 2]))
      let again = try await queue.result(retrying: RetryPolicy(attempts: 2)) { attempt in
        ResultOperation(title: "attempt \(attempt)") { attempt }
      }
      return [sum, try await queue.result(of: task), again]
    }
  }
}

private final class Sum: ResultOperation<Int>, @unchecked Sendable {  // adds a constant
  private let numbers: [Int]

  init(_ numbers: [Int]) {
    self.numbers = numbers
    super.init(title: "sum")
  }

  override func makeResult() throws -> Int {
    report(stage: "adding")
    return numbers.reduce(0, +)
  }
}
