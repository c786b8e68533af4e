import Files
import StatusEndpoint

/// Values of a status as text. The answer may come from any program.
enum StatusFields {
  static func done(_ job: RunStatus) -> String {
    "\(job.counters.done) of \(job.counters.total.map { "\($0)" } ?? "\(job.counters.found)+")"
  }

  static func rate(_ job: RunStatus) -> String { "\(Units.decimal(job.rates.sourcesPerSecond))/s" }

  static func eta(_ job: RunStatus) -> String? { job.etaSeconds.map(time) }

  /// Limits the number to what can be formatted.
  static func time(_ seconds: Double) -> String { Units.time(.seconds(min(max(seconds, 0), 1e9))) }

  static func percent(_ fraction: Double) -> Int { Int(min(max(fraction, 0), 1) * 100) }

  static func sources(_ job: RunStatus) -> String { oneLine(job.sources.joined(separator: " ")) }

  static func outputs(_ job: RunStatus) -> String {
    job.outputs.isEmpty ? "standard output" : oneLine(job.outputs.map { PlaceText.text($0) }.joined(separator: " "))
  }

  /// The source of an operation, or else its description.
  static func name(_ operation: OperationStatus) -> String {
    operation.source?.path.printable ?? oneLine(operation.description)
  }

  /// Escapes line feeds: the text must not look like further lines.
  static func oneLine(_ text: String) -> String { text.replacing("\n", with: "\\n") }
}
