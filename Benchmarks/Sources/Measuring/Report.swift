import Foundation

/// What was measured, with when and where: figures without their machine say nothing.
public struct Report<Figures: Codable>: Codable {
  public let date: Date
  public let machine: String
  public let figures: Figures

  public init(_ figures: Figures) {
    date = .now
    machine = Self.thisMachine
    self.figures = figures
  }

  /// One line, to stand above a table.
  public var title: String {
    "\(date.formatted(.iso8601.year().month().day())), \(machine)"
  }

  public func write(to file: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    encoder.dateEncodingStrategy = .iso8601
    try encoder.encode(self).write(to: URL(fileURLWithPath: file))
  }

  private static var thisMachine: String {
    let processors = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let model = processors.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last
    let count = "\(ProcessInfo.processInfo.activeProcessorCount) processors"
    return model.map { "\(count),\($0)" } ?? count
  }
}
