import Foundation

/// One axis of a resize: the first input sample and the weights of every output sample. Samples are centre sited: input
/// sample `i` spans `i ..< i + 1`.
struct AxisFilter {
  /// The number of output samples.
  let count: Int
  /// The first input sample of each output sample.
  private(set) var starts: [Int32]
  /// The index in `weights` of each output sample's first weight, followed by the count of all weights.
  private(set) var offsets: [Int32]
  /// The weights of all output samples. Those of one output sample add up to 1.
  private(set) var weights: [Float]

  /// Lanczos with three lobes, stretched by the reduction so that all input samples contribute. Weights outside the
  /// input are added to the weight of its edge sample, as if the edge were repeated.
  ///
  /// - parameters:
  ///   - samples: the count of input samples, at least one.
  ///   - start: the start of the part shown, in input samples; may be outside the input.
  ///   - length: the length of the part shown, in input samples, above 0.
  ///   - count: the number of output samples, at least one.
  init(samples: Int, start: Double, length: Double, count: Int) {
    self.count = count
    let step = length / Double(count)
    let stretch = max(step, 1)
    let support = Lanczos.lobes * stretch
    starts = []
    offsets = [0]
    weights = []
    starts.reserveCapacity(count)
    offsets.reserveCapacity(count + 1)
    weights.reserveCapacity(count * min(samples, Int(support * 2) + 2))

    for output in 0..<count {
      let center = start + (Double(output) + 0.5) * step
      let low = Int((center - support - 0.5).rounded(.up))
      let high = Int((center + support - 0.5).rounded(.down))
      let first = min(max(low, 0), samples - 1)
      let last = min(max(high, first), samples - 1)
      let base = weights.count
      weights.append(contentsOf: repeatElement(0, count: last - first + 1))
      var sum = 0.0
      for input in low...max(low, high) {
        let weight = Lanczos.weight((Double(input) + 0.5 - center) / stretch)
        sum += weight
        weights[base + min(max(input, first), last) - first] += Float(weight)
      }
      finish(from: base, first: first, sum: sum)
    }
  }

  /// The mean of the part that each output sample covers. Input samples at its ends count in part.
  ///
  /// - parameters:
  ///   - samples: the count of input samples, at least one.
  ///   - length: the length of all output samples together, in input samples from the first on, above 0.
  ///   - count: the number of output samples, at least one.
  init(averaging samples: Int, length: Double, count: Int) {
    self.count = count
    let step = length / Double(count)
    starts = []
    offsets = [0]
    weights = []
    for output in 0..<count {
      let (low, high) = (Double(output) * step, Double(output + 1) * step)
      let first = min(Int(low), samples - 1)
      let last = min(max(Int(high.rounded(.up)) - 1, first), samples - 1)
      let base = weights.count
      var sum = 0.0
      for input in first...last {
        let weight = max(min(high, Double(input + 1)) - max(low, Double(input)), 0)
        sum += weight
        weights.append(Float(weight))
      }
      finish(from: base, first: first, sum: sum)
    }
  }

  /// Scales the weights from `base` on to a sum of 1, and drops negligible ones at both ends.
  private mutating func finish(from base: Int, first: Int, sum: Double) {
    let negligible: Float = 1e-6
    var skipped = 0
    if sum > 0 {
      let scale = Float(1 / sum)
      for index in base..<weights.count { weights[index] *= scale }
      while weights.count - base > 1, let last = weights.last, abs(last) < negligible { weights.removeLast() }
      while weights.count - base - skipped > 1, abs(weights[base + skipped]) < negligible { skipped += 1 }
      weights.removeSubrange(base..<base + skipped)
    } else {
      weights.replaceSubrange(base..., with: [1])
    }
    starts.append(Int32(first + skipped))
    offsets.append(Int32(weights.count))
  }
}

/// The Lanczos kernel with three lobes, as a table.
private enum Lanczos {
  static let lobes = 3.0
  private static let stepsPerUnit = 2048.0
  private static let table: [Double] = (0...Int(lobes * stepsPerUnit) + 1).map { index in
    let x = Double(index) / stepsPerUnit
    if x == 0 { return 1 }
    // The kernel is set to 0 at whole numbers, where rounding would leave about 1e-17, so that a resize to the same
    // size copies.
    if x >= lobes || x == x.rounded() { return 0 }
    let angle = Double.pi * x
    return lobes * sin(angle) * sin(angle / lobes) / (angle * angle)
  }

  /// The kernel at a distance. It is interpolated linearly between entries of the table; the error is below 1e-6.
  static func weight(_ distance: Double) -> Double {
    let position = abs(distance) * stepsPerUnit
    guard position < lobes * stepsPerUnit else { return 0 }
    let index = Int(position)
    let fraction = position - Double(index)
    return table[index] + (table[index + 1] - table[index]) * fraction
  }
}
