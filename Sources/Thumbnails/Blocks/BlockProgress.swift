/// How much of a component's coefficients has been told.
struct BlockProgress {
  /// The lowest bit known of each coefficient; nothing is known of one that has `unknown` here.
  private var low = [Int](repeating: unknown, count: 64)
  /// What a step of each coefficient kept is worth, from the table in force at the component's first scan.
  private(set) var steps: [Int] = []

  private static let unknown = Int.max

  /// Takes in a scan that is to come.
  ///
  /// - throws: `irregular` where it does not go on from what is known (ITU-T T.81, G.1.1.1), or tells of detail ahead of
  ///   the means.
  mutating func take(_ scan: BlockScan, _ table: [Int]) throws(BlockError) {
    if steps.isEmpty { steps = BlockStore.places.map { table[$0] } }
    let expected = scan.high == 0 ? Self.unknown : scan.high
    guard scan.first == 0 || hasMeans else { throw .irregular }
    for place in scan.first...scan.last {
      guard low[place] == expected else { throw .irregular }
      low[place] = scan.low
    }
  }

  var hasMeans: Bool { low[0] < Self.unknown }

  /// Whether all that can come is passed over.
  func isDone(side: Int) -> Bool { low[0] == 0 && (side == 1 || low.allSatisfy { $0 <= 1 }) }
}
