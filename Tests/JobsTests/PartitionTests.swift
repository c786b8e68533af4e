import Files
import Testing

@testable import Sourcing
@testable import Splitting

@Suite(.timeLimit(.minutes(5))) struct PartitionTests {
  /// Sources with paths and costs, such as a split finds them.
  struct Sources {
    var keys: [UInt64] = []
    var costs: [UInt32] = []

    /// - Parameter cost: the cost of the source with this random number.
    init(_ count: Int, seed: Int = 0, cost: (UInt64) -> Int) {
      for number in 0..<count {
        let key = Shard.hash(Path("\(seed)/\(number).jpg"))
        keys.append(key)
        costs.append(UInt32(cost(Shard.mixed(key))))
      }
    }

    func divided(among parts: Int) -> Partition { Partition(keys: keys, costs: costs, parts: parts) }

    static func + (a: Sources, b: Sources) -> Sources {
      var both = a
      (both.keys, both.costs) = (a.keys + b.keys, a.costs + b.costs)
      return both
    }

    subscript(order: [Int]) -> Sources {
      var others = self
      (others.keys, others.costs) = (order.map { keys[$0] }, order.map { costs[$0] })
      return others
    }
  }

  /// Costs that differ by a factor of 64, the cheap ones being frequent, as of photographs.
  private static func unequal(_ random: UInt64) -> Int { 10_000 << Int(random & random >> 8 & 7) + Int(random % 997) }
  /// Costs such as those of photographs: few are far from the others.
  private static func usual(_ random: UInt64) -> Int { 10_000 + Int(random % 40_000) + Int(random >> 20 % 40_000) }
  private static func equal(_: UInt64) -> Int { 25_000 }

  private func spread(_ partition: Partition) -> Double {
    Double(partition.loads.max() ?? 0) / Double(partition.loads.min() ?? 0)
  }

  /// The sources that are in another part than before, of those that both have.
  private func moved(_ before: Partition, _ after: Partition, common: Int) -> Int {
    (0..<common).count { before.part[$0] != after.part[$0] }
  }

  @Test(arguments: [(2_000, 64), (20_000, 64), (20_000, 500), (50_000, 1_000), (200, 4), (7, 1)])
  func partsDifferByAtMostFivePercent(count: Int, parts: Int) {
    for (name, cost) in [("equal", Self.equal), ("usual", Self.usual), ("unequal", Self.unequal)] {
      let sources = Sources(count, cost: cost)
      let partition = sources.divided(among: parts)
      var loads = [Int](repeating: 0, count: parts)
      for (part, cost) in zip(partition.part, sources.costs) { loads[Int(part)] += Int(cost) }
      #expect(loads == partition.loads, "each source counts in one part")
      #expect(spread(partition) <= 1.05, "\(name): \(spread(partition))")
    }
  }

  @Test func theOrderOfTheSourcesDoesNotMatter() {
    let sources = Sources(5_000, cost: Self.unequal)
    let order = sources.keys.indices.sorted { sources.keys[$0] < sources.keys[$1] }
    let (plain, sorted) = (sources.divided(among: 100), sources[order].divided(among: 100))
    #expect(order.map { plain.part[$0] } == sorted.part)
  }

  @Test(arguments: [(20_000, 64), (20_000, 300), (50_000, 100)])
  func fewOthersMoveIfAFewSourcesComeOrGo(count: Int, parts: Int) {
    for cost in [Self.equal, Self.usual] {
      let sources = Sources(count, cost: cost)
      let before = sources.divided(among: parts)
      var total = 0
      for trial in 1...5 {
        let more = (sources + Sources(10, seed: trial, cost: cost)).divided(among: parts)
        #expect(spread(more) <= 1.05)
        let fewer = sources[Array(0..<count - 10 * trial)].divided(among: parts)
        total += moved(before, more, common: count) + moved(before, fewer, common: count - 10 * trial) / trial
      }
      #expect(total <= 20 * 100, "on average at most twenty for each that changes: \(total)")
    }
  }

  @Test func aSourceThatCostsMoreThanAShareHasAPartForItself() {
    var sources = Sources(1_000, cost: Self.equal)
    for giant in [17, 500, 999] { sources.costs[giant] = 25_000 * 400 }
    let partition = sources.divided(among: 10)
    let parts = [17, 500, 999].map { partition.part[$0] }
    #expect(Set(parts).count == 3)
    #expect(parts.allSatisfy { part in partition.part.count { $0 == part } == 1 })
    let others = partition.loads.indices.filter { !parts.contains(UInt32($0)) }.map { partition.loads[$0] }
    #expect(Double(others.max()!) / Double(others.min()!) <= 1.05)
  }

  @Test func morePartsThanSourcesLeavePartsEmpty() {
    let partition = Sources(10, cost: Self.unequal).divided(among: 64)
    #expect(Set(partition.part).count == 10 && partition.loads.count { $0 == 0 } == 54)
    #expect(Sources(0, cost: Self.equal).divided(among: 3).loads == [0, 0, 0])
  }

  @Test func whatCostsNothingIsInNoPart() {
    var sources = Sources(100, cost: Self.equal)
    for number in 0..<50 { sources.costs[number] = 0 }
    let partition = sources.divided(among: 5)
    #expect(partition.part[..<50].allSatisfy { $0 == Partition.none })
    #expect(partition.part[50...].allSatisfy { $0 < 5 })
  }
}
