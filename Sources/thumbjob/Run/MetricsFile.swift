import Files
import Foundation
import Jobs

/// The file that tells Prometheus of the last run of a job, by way of node_exporter's textfile collector: the status endpoint
/// ends with the run.
///
/// *Source*: Prometheus, text format 0.0.4; node_exporter, textfile collector.
struct MetricsFile {
  let path: Path
  /// Tells the runs of several jobs apart: the place of the results.
  let job: String
  private var text = ""

  init(_ path: Path, job: String) { (self.path, self.job) = (path, job) }

  /// Writes the file, whole or not at all. It keeps the time of the last success, if this run is none.
  ///
  /// - Parameter now: in seconds since 1970.
  /// - Throws: the error of the system.
  mutating func write(_ report: JobReport, exitStatus: Int32, now: Int) throws(Errno) {
    let folder = Descriptor(try openFolder(path.parent.isEmpty ? "." : path.parent, in: AT_FDCWD))
    let success = exitStatus == 0 ? now : lastSuccess(in: folder)
    text = ""
    add("end_timestamp_seconds", "When the last run ended, in seconds since 1970.", now)
    add("exit_status", "The exit status of the last run.", Int(exitStatus))
    add("duration_seconds", "How long the last run took.", Int((report.elapsed / .seconds(1)).rounded()))
    add("peak_memory_bytes", "The most memory that the last run held at one moment.", report.peakMemory)
    for counter in JobTally.counters where counter.readers.contains(.summary) {
      add(counter.key, counter.meaning, counter.value(in: report.tally))
    }
    if let success {
      add(Self.successName, "When a run with exit status 0 ended last, in seconds since 1970.", success)
    }
    let file = try WholeFile(path.lastName, in: folder.number, temporary: Path(".thumbjob.metrics.tmp"))
    // node_exporter is another user, and nothing in the file is secret.
    if fchmod(file.contents.number, 0o644) != 0 { throw Errno(rawValue: errno) }
    try writeAll(Array(text.utf8), to: file.contents.number)
    try file.put()
  }

  private static let prefix = "thumbjob_last_run_"
  private static let successName = "success_timestamp_seconds"

  private mutating func add(_ name: String, _ help: String, _ value: Int) {
    text += "# HELP \(Self.prefix)\(name) \(help)\n# TYPE \(Self.prefix)\(name) gauge\n"
    text += "\(sample(name)) \(value)\n"
  }

  private func sample(_ name: String) -> String {
    let label = job.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    return "\(Self.prefix)\(name){out=\"\(label)\"}"
  }

  /// What the file of an earlier run says; nil if there is none, or it is of another job.
  private func lastSuccess(in folder: Descriptor) -> Int? {
    guard let bytes = readFile(path.lastName, in: folder.number, limit: 1 << 20) else { return nil }
    let start = "\(sample(Self.successName)) "
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").lazy
      .first { $0.hasPrefix(start) }.flatMap { Int($0.dropFirst(start.count)) }
  }
}
