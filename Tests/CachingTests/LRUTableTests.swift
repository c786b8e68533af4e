import Foundation
import TestSupport
import Testing

@testable import Caching

@Suite(.timeLimit(.minutes(5))) struct LRUTableTests {
  private typealias Table = LRUTable<Int, Int>

  private func keys(_ table: Table) -> [Int] { table.latest().map(\.key) }

  @Test func whatWasNotUsedForTheLongestTimeGoesFirst() {
    var table = Table(CacheLimits(count: 3))
    for key in 1...3 { #expect(table.insert(key * 10, for: key, at: .now).isEmpty) }
    #expect(table.use(1) == 10)
    #expect(table.insert(40, for: 4, at: .now).map(\.key) == [2])
    #expect(keys(table) == [4, 1, 3])
    #expect(table.use(2) == nil)
    #expect(table.counters.hits == 1 && table.counters.misses == 1 && table.counters.evictions == 1)
  }

  @Test func aPeekIsNoUse() {
    var table = Table(CacheLimits(count: 2))
    for key in 1...2 { _ = table.insert(key, for: key, at: .now) }
    #expect(table.peek(1) == 1 && table.peek(3) == nil)
    #expect(table.insert(3, for: 3, at: .now).map(\.key) == [1])
    #expect(table.counters.hits == 0 && table.counters.misses == 0)
  }

  @Test func severalEntriesGoForAnExpensiveOne() {
    var table = Table(CacheLimits(count: 10, cost: 100))
    for key in 1...5 { _ = table.insert(key, for: key, cost: 20, at: .now) }
    #expect(table.insert(6, for: 6, cost: 50, at: .now).map(\.key) == [1, 2, 3])
    #expect(table.cost == 90 && keys(table) == [6, 5, 4])
  }

  @Test func whatCostsMoreThanTheLimitIsNotKeptAndReplacesNothingElse() {
    var table = Table(CacheLimits(count: 10, cost: 100))
    for key in 1...2 { _ = table.insert(key, for: key, cost: 50, at: .now) }
    #expect(table.insert(11, for: 1, cost: 101, at: .now).map(\.value) == [1, 11], "an outdated value must not stay")
    #expect(keys(table) == [2] && table.cost == 50 && table.counters.evictions == 0)
  }

  @Test func aReplacedValueIsReturnedAndItsCostIsGivenBack() {
    var table = Table(CacheLimits(count: 2, cost: 100))
    for key in 1...2 { _ = table.insert(key, for: key, cost: 40, at: .now) }
    #expect(table.insert(11, for: 1, cost: 60, at: .now).map(\.value) == [1])
    #expect(table.cost == 100 && keys(table) == [1, 2] && table.peek(1) == 11)
    #expect(table.insert(12, for: 1, cost: 61, at: .now).map(\.value) == [11, 2])
  }

  @Test func whatIsTooOldIsAMissAndGoes() {
    var table = Table(CacheLimits(count: 2, age: .seconds(10)))
    let start = ContinuousClock.now
    _ = table.insert(1, for: 1, at: start)
    var dropped: Table.Entry?
    #expect(table.use(1, at: start + .seconds(10), dropped: &dropped) == 1 && dropped == nil)
    #expect(table.peek(1, at: start + .seconds(11)) == nil && table.count == 1)
    #expect(table.use(1, at: start + .seconds(11), dropped: &dropped) == nil && dropped?.value == 1)
    #expect(table.count == 0 && table.counters.hits == 1 && table.counters.misses == 1)
  }

  @Test func aCopyIsIndependent() {
    var table = Table(CacheLimits(count: 2))
    for key in 1...2 { _ = table.insert(key, for: key, at: .now) }
    var copy = table
    _ = copy.use(1)
    _ = copy.insert(3, for: 3, at: .now)
    #expect(keys(table) == [2, 1] && keys(copy) == [3, 1])
  }

  /// The table against a list in the order of use that is searched from one end to the other.
  private struct Model {
    let limits: CacheLimits
    /// Latest first.
    var entries: [(key: Int, value: Int, cost: Int)] = []

    var cost: Int { entries.reduce(0) { $0 + $1.cost } }

    mutating func remove(_ key: Int) -> Int? {
      entries.firstIndex { $0.key == key }.map { entries.remove(at: $0).value }
    }

    mutating func use(_ key: Int) -> Int? {
      guard let place = entries.firstIndex(where: { $0.key == key }) else { return nil }
      entries.insert(entries.remove(at: place), at: 0)
      return entries[0].value
    }

    mutating func insert(_ value: Int, _ key: Int, _ cost: Int) {
      _ = remove(key)
      guard cost <= limits.cost else { return }
      entries.insert((key, value, cost), at: 0)
      while entries.count > limits.count || self.cost > limits.cost { entries.removeLast() }
    }
  }

  @Test(arguments: [CacheLimits(count: 12), CacheLimits(count: 100, cost: 60), CacheLimits(count: 1)])
  func randomOperationsAgreeWithAModel(limits: CacheLimits) {
    var (table, model, random) = (Table(limits), Model(limits: limits), SplitMix(seed: UInt64(limits.count)))
    let time = ContinuousClock.now
    for number in 0..<RandomOperations.count / 3 {
      let bits = random.next()
      let (key, kind, cost) = (Int(bits & 31), bits >> 8 & 15, Int(bits >> 16 & 15))
      switch kind {
      case 0..<8:
        let (found, expected) = (table.use(key), model.use(key))
        guard found == expected else { return fault(number, "use of \(key)", table) }
      case 8..<14:
        _ = table.insert(number, for: key, cost: cost, at: time)
        model.insert(number, key, cost)
      case 14:
        let (removed, expected) = (table.remove(key)?.value, model.remove(key))
        guard removed == expected else { return fault(number, "removal of \(key)", table) }
      default:
        let limit = Int(bits >> 24 & 63)
        _ = table.removeOldest(toCost: limit)
        while model.cost > limit { model.entries.removeLast() }
      }
      guard table.count == model.entries.count, table.cost == model.cost else { return fault(number, "size", table) }
      // Comparing all takes longer than the operations.
      if number % 64 == 0 {
        guard keys(table) == model.entries.map(\.key) else { return fault(number, "order", table) }
      }
    }
  }

  private func fault(_ number: Int, _ what: String, _ table: Table) {
    Issue.record("operation \(number): \(what); \(table.latest())")
  }
}

/// How many operations the random tests carry out.
enum RandomOperations {
  /// A few in `make test`. `THUMBJOB_CACHE_OPERATIONS=10000000` takes minutes.
  static let count = ProcessInfo.processInfo.environment["THUMBJOB_CACHE_OPERATIONS"].flatMap { Int($0) } ?? 60_000
}
