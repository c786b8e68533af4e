import Measuring

/// Something that is measured once a round.
protocol Benchmark {
  func run(max: Int, into measured: inout Measurements)
}

/// The figures of every round, by what was measured first.
struct Measurements: Codable {
  /// What one name stands for, in every round.
  private struct Series<Figure: Codable>: Codable {
    let name: String
    var rounds: [Figure]
  }

  /// Operations per second.
  private var rates: [Series<Double>] = []
  /// The processor time of each operation in nanoseconds, of all threads; for the names of `rates`.
  private var processorTimes: [Series<Double>] = []
  private var times: [Series<Percentiles>] = []

  mutating func add(rate: Double, processor: Double, of name: String) {
    Self.add(rate, of: name, to: &rates)
    Self.add(processor, of: name, to: &processorTimes)
  }

  mutating func add(_ latencies: Latencies, of name: String) { Self.add(latencies.percentiles, of: name, to: &times) }

  private static func add<Figure>(_ figure: Figure, of name: String, to all: inout [Series<Figure>]) {
    if let index = all.firstIndex(where: { $0.name == name }) {
      all[index].rounds.append(figure)
    } else {
      all.append(Series(name: name, rounds: [figure]))
    }
  }

  var tables: String {
    let rates = zip(rates, processorTimes).map { series, processor in
      [series.name, countText(median(series.rounds)), durationText(nanoseconds: median(processor.rounds))]
        + [series.rounds.min() ?? 0, series.rounds.max() ?? 0].map { countText($0) }
    }
    let times = times.map { [$0.name] + Percentiles(medianOf: $0.rounds).cells }
    return table(["empty operations", "per second", "processor time each", "worst round", "best round"], rates) + "\n\n"
      + table(["time"] + Percentiles.headings, times)
  }
}
