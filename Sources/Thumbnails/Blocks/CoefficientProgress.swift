/// How much of a component's coefficients has been told.
struct CoefficientProgress {
  /// The lowest bit known of each coefficient; nothing is known of one that has `unknown` here.
  private var lowestBit = [Int](repeating: unknown, count: 64)
  /// What a step of each coefficient kept is worth, from the table in force at the component's first scan.
  private(set) var steps: [Int] = []

  private static let unknown = Int.max

  /// Takes in a scan that is to come.
  ///
  /// - throws: `irregular` where it does not go on from what is known (ITU-T T.81, G.1.1.1), or tells of detail ahead of
  ///   the means.
  mutating func record(_ scan: ScanHeader, _ table: [Int]) throws(BlockDecoderError) {
    if steps.isEmpty { steps = CoefficientStore.zigzagIndices.map { table[$0] } }
    let expected = scan.approximationHigh == 0 ? Self.unknown : scan.approximationHigh
    guard scan.spectralStart == 0 || hasDC else { throw .irregular }
    for index in scan.spectralStart...scan.spectralEnd {
      guard lowestBit[index] == expected else { throw .irregular }
      lowestBit[index] = scan.approximationLow
    }
  }

  var hasDC: Bool { lowestBit[0] < Self.unknown }

  /// Whether all that can come is passed over.
  func isDone(side: Int) -> Bool { lowestBit[0] == 0 && (side == 1 || lowestBit.allSatisfy { $0 <= 1 }) }
}
