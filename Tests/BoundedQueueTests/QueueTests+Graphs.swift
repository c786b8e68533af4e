import BoundedQueue
import Foundation
import TestSupport
import Testing

extension QueueTests {
  /// Random graphs of operations over two queues, from several producers, while others cancel, pause and change limits.
  @Suite struct Graphs {
    @Test(arguments: 0..<6) func everyOperationEndsOnceAfterItsDependenciesAndWithinTheBounds(round: Int) async throws {
      let graph = Graph(seed: UInt64(round))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for producer in 0..<3 { group.addTask { try await onThread { try graph.produce(300, producer) } } }
        group.addTask { try await onThread { graph.disturb(200) } }
        try await group.waitForAll()
      }
      for queue in graph.queues {
        queue.resume()
        try await queue.drain()
      }
      graph.check()
      let nodes = graph.forget()
      #expect(try await eventually { nodes.allSatisfy { $0.node == nil } }, "nothing that has ended is kept alive")
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
private final class Graph: Sendable {
  let queues: [BoundedOperationQueue]
  private let seed: UInt64
  /// In a hundred.
  private let failures: Int
  /// The operations that the queues have accepted.
  private let nodes = LockedBox<[Node]>([])
  private let ends = LockedBox<[Int: Int]>([:])

  init(seed: UInt64, max: Int = 3, backlogs: [Int] = [4, 9], failures: Int = 6) {
    (self.seed, self.failures) = (seed, failures)
    queues = backlogs.map { BoundedOperationQueue(name: "graph \($0)", maxConcurrentOperations: max, backlog: $0) }
    for queue in queues {
      queue.observe { [ends] event in
        if case .ended = event.change { ends.change { $0[event.operation.id, default: 0] += 1 } }
      }
    }
  }

  func produce(_ count: Int, _ producer: Int) throws {
    var generator = Generator(state: seed << 8 | UInt64(producer))
    for _ in 0..<count {
      let known = nodes.value
      let fails = Int.random(in: 0..<100, using: &generator) < failures
      let node = Node(fails: fails, spins: Int.random(in: 0..<400, using: &generator))
      for _ in 0..<Int.random(in: 0..<5, using: &generator) {
        // Mostly recent ones, which have not ended yet.
        let recent = known.suffix(Bool.random(using: &generator) ? 8 : 200)
        guard let dependency = recent.randomElement(using: &generator) else { continue }
        node.wait(for: dependency, allowsFailure: Int.random(in: 0..<4, using: &generator) == 0)
      }
      guard let queue = queues.randomElement(using: &generator) else { return }
      if try submit(node, to: queue) { nodes.change { $0.append(node) } }
    }
  }

  /// - Returns: false if the queue was cancelled while the producer waited.
  private func submit(_ node: Node, to queue: BoundedOperationQueue) throws -> Bool {
    do {
      try queue.submitBlocking(node)
      return true
    } catch {
      guard case .cancelled = error else { throw error }
      #expect(node.outcome == nil && node.snapshot().neededBy == 0)
      return false
    }
  }

  func disturb(_ count: Int) {
    var generator = Generator(state: ~seed)
    for step in 0..<count {
      guard let queue = queues.randomElement(using: &generator) else { return }
      let snapshot = queue.snapshot()
      #expect(snapshot.counters.addUp && snapshot.waiting.count == snapshot.counters.waiting)
      #expect(snapshot.counters.waitingForDependencies <= snapshot.counters.waiting)
      if let one = (snapshot.running + snapshot.waiting).randomElement(using: &generator), step % 3 == 0 {
        queue.cancel(id: one.id, reason: .user)
      }
      if step % 10 == 0 { queue.pause() }
      if step % 17 == 0 {
        queue.changeLimits { $0 = QueueLimits(maxConcurrentOperations: 1 + step % 4, backlog: step % 7) }
      }
      if step % 60 == 0 { queue.cancelAll(reason: .pressure) }
      queue.resume()
    }
  }

  /// What holds for every graph once both queues have drained.
  func check() {
    let counts = ends.value
    for node in nodes.value {
      guard let outcome = node.outcome else {
        Issue.record("\(node) has no outcome")
        continue
      }
      #expect(counts[node.id] == 1, "\(node) ends \(counts[node.id] ?? 0) times")
      #expect(node.violation == nil)
      let hasAllItNeeds = node.needed.allSatisfy { $0.hasSucceeded }
      if case .cancelledWhileWaiting(.dependency) = outcome {
        #expect(!hasAllItNeeds, "\(node) was cancelled for a dependency, but all succeeded")
      }
      #expect(!node.hasRun || hasAllItNeeds, "\(node) ran without what it needs")
    }
    for queue in queues {
      let (counters, widest) = (queue.counters, queue.widestLimits)
      #expect(counters.addUp && counters.ended == counters.submitted && counters.waitingForDependencies == 0)
      #expect(counters.peakRunning <= widest.maxConcurrentOperations && counters.peakWaiting <= widest.backlog)
    }
  }

  struct Weak: Sendable {
    weak var node: Node?
  }

  func forget() -> [Weak] {
    let weak = nodes.value.map { Weak(node: $0) }
    for node in nodes.value { node.forget() }
    nodes.change { $0 = [] }
    return weak
  }
}

private final class Node: BoundedOperation, @unchecked Sendable {  // changed before its submission, and in its work
  private let fails: Bool
  private let spins: Int
  private(set) var needed: [Node] = []
  private var others: [Node] = []
  private(set) var hasRun = false
  private(set) var violation: String?

  init(fails: Bool, spins: Int) {
    (self.fails, self.spins) = (fails, spins)
    super.init(title: "node")
  }

  func wait(for node: Node, allowsFailure: Bool) {
    guard !needed.contains(where: { $0 === node }), !others.contains(where: { $0 === node }) else { return }
    addDependency(node, allowsFailure: allowsFailure)
    if allowsFailure { others.append(node) } else { needed.append(node) }
  }

  func forget() { (needed, others) = ([], []) }

  var hasSucceeded: Bool {
    if case .succeeded = outcome { true } else { false }
  }

  override func execute() throws {
    hasRun = true
    if let early = (needed + others).first(where: { $0.outcome == nil }) { violation = "it ran before \(early)" }
    for _ in 0..<spins { try checkCancelled() }
    if fails { throw Deliberate() }
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
