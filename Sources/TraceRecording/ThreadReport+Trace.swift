import AccessRecording
import Foundation

extension ThreadReport {
  /// The fields of an event that are needed here.
  private struct Event: Decodable {
    struct Arguments: Decodable { let name: String? }

    let ph, name, cat: String?
    let tid, dur: Int?
    let args: Arguments?
  }

  /// Reads a trace that ``TraceRecorder`` has written, line by line. A truncated trace is read up to its last whole
  /// line.
  ///
  /// - Throws: ``TraceError`` if the file cannot be read, ``NotATraceError`` if it is not a trace.
  public init(path: String) throws {
    guard let file = fopen(path, "re") else { throw TraceError(path: path, code: errno) }
    defer { fclose(file) }
    var tally = Tally()
    var (buffer, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
    defer { free(buffer) }
    var isTrace = false
    let decoder = JSONDecoder()
    while case let count = getline(&buffer, &capacity, file), count > 0, let line = buffer {
      guard isTrace else {
        guard String(cString: line) == "[\n" else { break }
        isTrace = true
        continue
      }
      var bytes = Data(bytes: line, count: count)
      while let last = bytes.last, [UInt8(ascii: "\n"), UInt8(ascii: ","), UInt8(ascii: "]")].contains(last) {
        bytes.removeLast()
      }
      guard let event = try? decoder.decode(Event.self, from: bytes), let thread = event.tid, let name = event.name
      else { continue }
      if event.ph == "M", name == "thread_name" { tally.threadNames[thread] = event.args?.name }
      // A span with a category is a mark about an operation.
      guard event.ph == "X", event.cat == nil else { continue }
      tally.add(name, microseconds: event.dur ?? 0, threads: CollectionOfOne(thread))
    }
    guard isTrace else { throw NotATraceError(path: path) }
    self = tally.report
  }
}

/// A file is not a trace.
public struct NotATraceError: Error, Equatable, CustomStringConvertible {
  public let path: String

  public var description: String { "\(path): is not a trace of thumbjob's" }
}
