import Sourcing

/// Divides sources among parts of equal cost, so that as many of them as possible stay where they are when a few others are
/// added, changed or removed.
///
/// Think of a column for each part, all of the same height: a fair share of the cost. Each source prefers one column by
/// the hash of its path. A column that is fuller than its height gives up its cheapest sources. Each of these throws
/// darts at the wall of columns, in a sequence that its hash decides, until one hits the empty upper end of a column; the
/// source stays there. So a column gets about as much as it lacks, and whether a dart hits depends on this one column
/// only: a change in one column hardly changes any other. What remains out of bounds is then balanced in pairs, and if
/// that is not enough, the worst parts are mixed with others.
///
/// What is promised:
/// - Each source is in exactly one part.
/// - The same sources give the same parts, in whatever order they are given.
/// - The most expensive part costs at most 5 % more than the cheapest, unless the sources are too few or too unequal for
///   that. A source that costs more than a fair share has a part for itself.
/// - If a source is added or removed, few others change their part: with costs such as those of photographs, on average
///   ten for parts of a hundred sources, and a hundred at worst. With fewer or very unequal sources more change, because
///   the 5 % come first.
///
/// *Complexity*: n log n; 20 bytes for each source.
struct Partition {
  /// The part of a source that is left out: its cost is 0.
  static let none = UInt32.max
  /// The highest cost of a part in relation to the lowest.
  static let tolerance = 1.05

  let parts: Int
  /// The part of each source.
  private(set) var part: [UInt32] = []
  /// The cost of each part.
  private(set) var loads: [Int]

  private let keys: [UInt64]
  private let costs: [UInt32]
  /// The fair share of the cost, without sources that cost more than that.
  private var height = 0
  private var lowest: Int { Int(Double(height) * 2 / (1 + Self.tolerance)) + 1 }
  private var highest: Int { Int(Double(height) * 2 * Self.tolerance / (1 + Self.tolerance)) }

  private static let mostRounds = 8
  private static let mostPasses = 200
  /// Darts of one source, before it stays where it is.
  private static let mostThrows = 1 << 16

  /// - Parameters:
  ///   - keys: a hash for each source, whose bits are evenly distributed.
  ///   - costs: the cost of each source; 0 for one that belongs to no part.
  init(keys: [UInt64], costs: [UInt32], parts: Int) {
    precondition(keys.count == costs.count && Shard.counts.contains(parts), "each source has a cost")
    (self.keys, self.costs, self.parts) = (keys, costs, parts)
    loads = [Int](repeating: 0, count: parts)
    part = [UInt32](unsafeUninitializedCapacity: keys.count) { buffer, count in
      for index in keys.indices {
        let isSource = costs[index] > 0
        buffer.initializeElement(
          at: index, to: isSource ? UInt32(Shard.index(of: keys[index], among: parts)) : Self.none)
      }
      count = keys.count
    }
    for index in part.indices where part[index] != Self.none { loads[Int(part[index])] += Int(costs[index]) }
    height = fairShare()
    for round in 0..<Self.mostRounds where round == 0 || !isBalanced { throwSurplus(round) }
    for _ in 0..<Self.mostPasses where !isBalanced { if !balancePairs() { break } }
    if !isBalanced { mixWorst() }
  }

  private var isBalanced: Bool { loads.allSatisfy { (lowest...max(lowest, highest)).contains($0) } }

  /// The mean cost of a part, without the sources that cost more than a part, and the parts that they fill.
  private func fairShare() -> Int {
    var (rest, others) = (loads.reduce(0, +), parts)
    var height = rest / others
    while true {
      var (giants, cost) = (0, 0)
      for single in costs where Int(single) > height { (giants, cost) = (giants + 1, cost + Int(single)) }
      (rest, others) = (loads.reduce(0, +) - cost, parts - giants)
      // Only rounding makes all parts giants: each source has a part for itself then.
      guard others > 0, rest / others < height else { return max(height, 1) }
      height = rest / others
    }
  }

  // MARK: Columns and darts

  private mutating func throwSurplus(_ round: Int) {
    let limit = round == 0 ? height : highest
    let full = loads.map { $0 > limit }
    let loose = surplus { full[$0] }
    let room = loads.map { max(0, height - $0) }
    for source in loose {
      let from = part[source]
      let to = target(of: source, round, room) ?? from
      part[source] = to
      loads[Int(to)] += Int(costs[source])
    }
  }

  /// Takes the cheapest sources out of full parts, as long as the rest fills the height. They keep their part in `part`.
  private mutating func surplus(_ isFull: (Int) -> Bool) -> [Int] {
    var loose: [Int] = []
    for (number, sources) in Grouping(part, parts, where: isFull) {
      for source in sorted(sources) {
        let rest = loads[number] - Int(costs[source])
        guard rest >= height else { break }
        loads[number] = rest
        loose.append(source)
      }
    }
    return loose
  }

  /// The part whose empty end the first dart hits; nil if none does.
  private func target(of source: Int, _ round: Int, _ room: [Int]) -> UInt32? {
    var seed = keys[source] &+ UInt64(round) &* 0xd1b5_4a32_d192_ed03
    for _ in 0..<Self.mostThrows {
      seed &+= 0x9e37_79b9_7f4a_7c15
      let dart = Shard.mixed(seed)
      let column = Shard.index(of: dart, among: parts)
      // From the low half of the bits: the column depends on the high ones.
      let distanceFromTop = Int((dart << 32).multipliedFullWidth(by: UInt64(height)).high)
      if distanceFromTop < room[column] { return UInt32(column) }
    }
    return nil
  }

  /// The cheapest first. The keys decide between equal costs, not the order in which the sources were found.
  private func sorted(_ sources: ArraySlice<UInt32>) -> [Int] {
    sources.map(Int.init).sorted { (costs[$0], keys[$0]) < (costs[$1], keys[$1]) }
  }

  // MARK: Pairs

  /// Moves or swaps sources between the fullest and the emptiest parts, one pair after the other.
  ///
  /// - Returns: false if nothing could be improved.
  private mutating func balancePairs() -> Bool {
    let order = loads.indices.sorted { (loads[$0], $0) < (loads[$1], $1) }
    var pairs: [(full: Int, empty: Int)] = []
    var (low, high) = (0, order.count - 1)
    while low < high, loads[order[high]] > highest || loads[order[low]] < lowest {
      pairs.append((order[high], order[low]))
      (low, high) = (low + 1, high - 1)
    }
    let involved = Set(pairs.flatMap { [$0.full, $0.empty] })
    var lists: [Int: [Int]] = [:]
    for (number, sources) in Grouping(part, parts, where: involved.contains) { lists[number] = sorted(sources) }
    var hasChanged = false
    var empties = pairs.map(\.empty)[...]
    for full in pairs.map(\.full) {
      guard let empty = empties.first else { break }
      guard let (given, taken) = exchange(lists[full] ?? [], lists[empty] ?? [], loads[full] - loads[empty]) else {
        continue  // a source that is a part for itself; the next part may help the empty one
      }
      move(given, from: full, to: empty)
      if let taken { move(taken, from: empty, to: full) }
      empties = empties.dropFirst()
      hasChanged = true
    }
    return hasChanged
  }

  private mutating func move(_ source: Int, from: Int, to: Int) {
    part[source] = UInt32(to)
    loads[from] -= Int(costs[source])
    loads[to] += Int(costs[source])
  }

  /// What to move from the first part to the second, and back, so that they differ as little as possible; nil if nothing
  /// makes them differ less.
  ///
  /// - Parameters:
  ///   - full, empty: the sources of the parts, the cheapest first.
  ///   - difference: that of their costs.
  private func exchange(_ full: [Int], _ empty: [Int], _ difference: Int) -> (given: Int, taken: Int?)? {
    var best: (remaining: Int, given: Int, taken: Int?)?
    func consider(_ given: Int, _ taken: Int?) {
      let remaining = abs(difference - 2 * (Int(costs[given]) - (taken.map { Int(costs[$0]) } ?? 0)))
      if remaining < best?.remaining ?? difference { best = (remaining, given, taken) }
    }
    for source in full { consider(source, nil) }
    // A single move changes the fewest.
    if let best, best.remaining <= difference / 4 { return (best.given, best.taken) }
    var other = 0
    for source in full {
      // The cheapest of the other part that leaves less than half of the difference to move.
      while other < empty.count, 2 * (Int(costs[source]) - Int(costs[empty[other]])) > difference { other += 1 }
      if other < empty.count { consider(source, empty[other]) }
      if other > 0 { consider(source, empty[other - 1]) }
    }
    return best.map { ($0.given, $0.taken) }
  }

  // MARK: Mixing

  /// Divides the sources of the parts that are out of bounds anew, together with those of some other parts: of as few as
  /// are enough.
  private mutating func mixWorst() {
    var counts = [Int](repeating: 0, count: parts)
    for number in part where number != Self.none { counts[Int(number)] += 1 }
    // A source that costs more than a part stays alone.
    let candidates = loads.indices.filter { loads[$0] <= highest || counts[$0] > 1 }
    let worst = candidates.filter { !(lowest...max(lowest, highest)).contains(loads[$0]) }
    if worst.isEmpty { return }
    let others = Set(candidates).subtracting(worst).sorted { Shard.mixed(UInt64($0)) < Shard.mixed(UInt64($1)) }
    var more = worst.count
    while true {
      more = min(2 * more, others.count)
      let members = worst + others.prefix(more)
      let (targets, result) = mixture(of: members)
      let bounds = (result.min() ?? 0, result.max() ?? 0)
      let isEnough = bounds.0 >= lowest && bounds.1 <= highest
      if isEnough || more == others.count {
        let now = members.map { loads[$0] }
        guard isEnough || bounds.1 - bounds.0 < (now.max() ?? 0) - (now.min() ?? 0) else { return }
        for (source, number) in targets { move(source, from: Int(part[source]), to: number) }
        return
      }
    }
  }

  /// Gives each source of some parts, the most expensive first, to the one that has the least so far.
  ///
  /// - Returns: the part of each source, and the cost of each part.
  private func mixture(of members: [Int]) -> (targets: [(source: Int, part: Int)], loads: [Int]) {
    let wanted = Set(members)
    var sources: [Int] = []
    for (_, some) in Grouping(part, parts, where: wanted.contains) { sources += some.map(Int.init) }
    sources.sort { (costs[$1], keys[$0]) < (costs[$0], keys[$1]) }
    var heap = members.sorted().map { (load: 0, part: $0) }
    var targets: [(source: Int, part: Int)] = []
    for source in sources {
      targets.append((source, heap[0].part))
      heap[0].load += Int(costs[source])
      var place = 0
      while let child = [2 * place + 1, 2 * place + 2].filter({ $0 < heap.count }).min(by: { heap[$0] < heap[$1] }),
        heap[child] < heap[place]
      {
        heap.swapAt(child, place)
        place = child
      }
    }
    return (targets, heap.map(\.load))
  }

  /// The sources of some of the parts, part by part.
  private struct Grouping: Sequence, IteratorProtocol {
    private var starts: [Int]
    private let sources: [UInt32]
    private var number = 0

    init(_ part: [UInt32], _ parts: Int, where isWanted: (Int) -> Bool) {
      let wanted = (0..<parts).map(isWanted)
      starts = [Int](repeating: 0, count: parts + 1)
      for number in part where number != Partition.none && wanted[Int(number)] { starts[Int(number) + 1] += 1 }
      for number in 0..<parts { starts[number + 1] += starts[number] }
      var ends = starts
      var sources = [UInt32](repeating: 0, count: starts[parts])
      for (source, number) in part.enumerated() where number != Partition.none && wanted[Int(number)] {
        sources[ends[Int(number)]] = UInt32(source)
        ends[Int(number)] += 1
      }
      self.sources = sources
    }

    mutating func next() -> (part: Int, sources: ArraySlice<UInt32>)? {
      while number + 1 < starts.count {
        defer { number += 1 }
        let range = starts[number]..<starts[number + 1]
        if !range.isEmpty { return (number, sources[range]) }
      }
      return nil
    }
  }
}
