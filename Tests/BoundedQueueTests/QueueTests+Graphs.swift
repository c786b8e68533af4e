import BoundedQueue
import Foundation
import TestSupport
import Testing

extension QueueTests {
  /// Random graphs of operations over two queues, from several producers, while others cancel, pause and change limits. Some
  /// operations block a thread and some are tasks; they have keys, priorities, announced bytes and time limits.
  @Suite struct Graphs {
    /// `GRAPH_ROUNDS=800` runs a million operations.
    private static let rounds = ProcessInfo.processInfo.environment["GRAPH_ROUNDS"].flatMap { Int($0) } ?? 6

    @Test(.timeLimit(.minutes(60)), arguments: 0..<rounds)
    func everyOperationEndsOnceAfterItsDependenciesAndWithinTheBounds(round: Int) async throws {
      let graph = Graph(seed: UInt64(round))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for producer in 0..<2 { group.addTask { try await onThread { try graph.produce(300, producer) } } }
        for producer in 2..<4 { group.addTask { try await graph.produceInTasks(300, producer) } }
        group.addTask { try await onThread { graph.disturb(200) } }
        try await group.waitForAll()
      }
      for queue in graph.queues {
        queue.resume()
        try await queue.drain()
      }
      graph.check()
      let operations = graph.forget()
      #expect(
        try await eventually { operations.allSatisfy { $0.operation == nil } }, "nothing that has ended is kept alive")
    }

    /// A backlog that is mostly full of dependants, and places that are mostly taken.
    @Test func narrowQueuesDoNotDeadlock() async throws {
      let graph = Graph(seed: 99, max: 1, backlogs: [0, 1], failures: 0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for producer in 0..<3 { group.addTask { try await onThread { try graph.produce(500, producer) } } }
        try await group.waitForAll()
      }
      for queue in graph.queues { try await queue.drain() }
      graph.check()
      #expect(graph.queues.map(\.counters.succeeded).reduce(0, +) == 1_500)
    }
  }
}

/// The operations of one round, and what is known of each.
///
/// The rules: an operation ends exactly once, not before its dependencies, and without running if one that it needs has not
/// succeeded; no more run, wait, have one key or hold bytes than the widest limits allow; the counters add up; and what has
/// ended is released.
private final class Graph: Sendable {
  let queues: [BoundedOperationQueue]
  private let seed: UInt64
  /// In a hundred.
  private let failures: Int
  /// The operations that the queues have accepted.
  private let nodes = LockedBox<[Node]>([])
  private let ends = LockedBox<[Int: Int]>([:])
  private let loads: [LockedBox<Load>]

  static let perKey = 2
  static let budget = 100

  init(seed: UInt64, max: Int = 3, backlogs: [Int] = [4, 9], failures: Int = 6) {
    (self.seed, self.failures) = (seed, failures)
    queues = backlogs.map {
      BoundedOperationQueue(
        name: "graph \($0)", maxConcurrentOperations: max, backlog: $0, budget: MemoryBudget(bytes: Self.budget),
        perKey: Self.perKey)
    }
    loads = queues.map { _ in LockedBox(Load()) }
    for queue in queues {
      queue.observe { [ends] event in
        if case .ended = event.change { ends.change { $0[event.operation.id, default: 0] += 1 } }
      }
    }
  }

  func produce(_ count: Int, _ producer: Int) throws {
    var generator = Generator(state: seed << 8 | UInt64(producer))
    for _ in 0..<count {
      let (node, queue) = make(&generator)
      do throws(SubmitError) {
        try queue.submitBlocking(node.operation)
        nodes.change { $0.append(node) }
      } catch {
        try refused(node, error)
      }
    }
  }

  /// Also cancels some of its own tasks in `submit`.
  func produceInTasks(_ count: Int, _ producer: Int) async throws {
    var generator = Generator(state: seed << 8 | UInt64(producer))
    for _ in 0..<count {
      let (node, queue) = make(&generator)
      let submission = Task { try await queue.submit(node.operation) }
      if Int.random(in: 0..<20, using: &generator) == 0 { submission.cancel() }
      do {
        try await submission.value
        nodes.change { $0.append(node) }
      } catch {
        try refused(node, error)
      }
    }
  }

  private func make(_ generator: inout Generator) -> (Node, BoundedOperationQueue) {
    let known = nodes.value
    let number = queues.indices.randomElement(using: &generator) ?? 0
    let node = Node(
      fails: Int.random(in: 0..<100, using: &generator) < failures, failures > 0, loads[number], &generator)
    for _ in 0..<Int.random(in: 0..<5, using: &generator) {
      // Mostly recent ones, which have not ended yet.
      let recent = known.suffix(Bool.random(using: &generator) ? 8 : 200)
      guard let dependency = recent.randomElement(using: &generator) else { continue }
      node.wait(for: dependency, allowsFailure: Int.random(in: 0..<4, using: &generator) == 0)
    }
    return (node, queues[number])
  }

  /// A submission may only fail because the queue or the task was cancelled.
  private func refused(_ node: Node, _ error: any Error) throws {
    switch error {
    case SubmitError.cancelled, is CancellationError: break
    default: throw error
    }
    #expect(node.operation.outcome == nil && node.operation.snapshot().neededBy == 0)
    node.forget()
  }

  func disturb(_ count: Int) {
    var generator = Generator(state: ~seed)
    for step in 0..<count {
      guard let queue = queues.randomElement(using: &generator) else { return }
      let snapshot = queue.snapshot()
      #expect(snapshot.counters.addUp && snapshot.waiting.count == snapshot.counters.waiting)
      #expect(
        snapshot.counters.waitingForDependencies + snapshot.counters.waitingForKey <= snapshot.counters.waiting)
      if let one = (snapshot.running + snapshot.waiting).randomElement(using: &generator), step % 3 == 0 {
        queue.cancel(id: one.id, reason: .user)
      }
      if step % 10 == 0 { queue.pause() }
      if step % 17 == 0 {
        queue.changeLimits {
          $0 = QueueLimits(
            maxConcurrentOperations: 1 + step % 4, backlog: step % 7, budget: MemoryBudget(bytes: Self.budget),
            perKey: 1 + step % Self.perKey)
        }
      }
      if step % 60 == 0 { queue.cancelAll(reason: .pressure) }
      queue.resume()
    }
  }

  /// What holds for every graph once both queues have drained.
  func check() {
    let counts = ends.value
    for node in nodes.value {
      guard let outcome = node.operation.outcome else {
        Issue.record("\(node.operation) has no outcome")
        continue
      }
      #expect(counts[node.operation.id] == 1, "\(node.operation) ends \(counts[node.operation.id] ?? 0) times")
      #expect(node.violation == nil)
      let hasAllItNeeds = node.needed.allSatisfy { $0.hasSucceeded }
      if case .cancelledWhileWaiting(.dependency) = outcome {
        #expect(!hasAllItNeeds, "\(node.operation) was cancelled for a dependency, but all succeeded")
      }
      #expect(!node.hasRun || hasAllItNeeds, "\(node.operation) ran without what it needs")
      if node.isEndless {
        let isCancelled = outcome.cancelReason != nil
        #expect(isCancelled, "\(node.operation) has outlived its time limit")
      }
    }
    for (queue, load) in zip(queues, loads) {
      let (counters, widest, load) = (queue.counters, queue.widestLimits, load.value)
      #expect(counters.addUp && counters.ended == counters.submitted)
      #expect(counters.waitingForDependencies == 0 && counters.waitingForKey == 0 && counters.reserved == 0)
      #expect(counters.peakRunning <= widest.maxConcurrentOperations && counters.peakWaiting <= widest.backlog)
      #expect(load.peakRunning <= widest.maxConcurrentOperations && load.peakOfKey <= Self.perKey)
      #expect(counters.peakReserved <= Self.budget && load.peakBytes <= Self.budget)
      #expect(load.running == 0 && load.bytes == 0)
    }
  }

  struct Weak: Sendable {
    weak var operation: BoundedOperation?
  }

  func forget() -> [Weak] {
    let weak = nodes.value.map { Weak(operation: $0.operation) }
    for node in nodes.value { node.forget() }
    nodes.change { $0 = [] }
    return weak
  }
}

/// What the works of a queue's operations have seen of each other.
private struct Load {
  private(set) var running = 0
  private(set) var bytes = 0
  private var ofKey: [String: Int] = [:]
  private(set) var (peakRunning, peakBytes, peakOfKey) = (0, 0, 0)

  mutating func change(_ sign: Int, _ key: String?, _ bytes: Int) {
    running += sign
    self.bytes += sign * bytes
    if let key { ofKey[key, default: 0] += sign }
    peakRunning = max(peakRunning, running)
    peakBytes = max(peakBytes, self.bytes)
    peakOfKey = max(peakOfKey, ofKey.values.max() ?? 0)
  }
}

private final class Node: @unchecked Sendable {  // changed before the submission, in the work, and after the end
  private(set) var operation: BoundedOperation!
  let isEndless: Bool
  private(set) var needed: [Node] = []
  private var others: [Node] = []
  private(set) var hasRun = false
  private(set) var violation: String?

  /// - Parameter isDisturbed: whether it may be endless, so that its time limit ends it.
  init(fails: Bool, _ isDisturbed: Bool, _ load: LockedBox<Load>, _ generator: inout Generator) {
    let spins = Int.random(in: 0..<400, using: &generator)
    let key = ["a", "b", "c", nil, nil].randomElement(using: &generator) ?? nil
    let bytes = Bool.random(using: &generator) ? 0 : Int.random(in: 1...60, using: &generator)
    isEndless = isDisturbed && !fails && Int.random(in: 0..<50, using: &generator) == 0
    let limit: Duration? = isEndless ? .milliseconds(1) : Bool.random(using: &generator) ? nil : .seconds(600)
    let body: @Sendable (Node, Int) throws -> Void = { node, spins in
      load.change { $0.change(1, key, bytes) }
      defer { load.change { $0.change(-1, key, bytes) } }
      try node.run(spins)
      if fails { throw Deliberate() }
    }
    let isTask = Bool.random(using: &generator)
    if isTask {
      operation = ResultOperation(title: "task", key: key, reserving: bytes, timeLimit: limit) {
        [self] () async throws -> Void in
        for _ in 0..<spins % 3 { await Task.yield() }
        repeat {
          try body(self, spins)
          if isEndless { try await Task.sleep(for: .microseconds(100)) }
        } while isEndless
      }
    } else {
      operation = ResultOperation(title: "work", key: key, reserving: bytes, timeLimit: limit) { [self] in
        try body(self, isEndless ? .max : spins)
      }
    }
    operation.queuePriority = [.normal, .normal, .high, .veryLow].randomElement(using: &generator) ?? .normal
  }

  func wait(for node: Node, allowsFailure: Bool) {
    guard !needed.contains(where: { $0 === node }), !others.contains(where: { $0 === node }) else { return }
    operation.addDependency(node.operation, allowsFailure: allowsFailure)
    if allowsFailure { others.append(node) } else { needed.append(node) }
  }

  func forget() { (needed, others, operation) = ([], [], nil) }

  var hasSucceeded: Bool {
    if case .succeeded = operation.outcome { true } else { false }
  }

  private func run(_ spins: Int) throws {
    hasRun = true
    if let early = (needed + others).first(where: { $0.operation.outcome == nil }) {
      violation = "it ran before \(String(describing: early.operation))"
    }
    for _ in 0..<spins { try operation.checkCancelled() }
  }
}

/// SplitMix64, by Steele, Lea and Flood: a generator that can be seeded.
private struct Generator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
