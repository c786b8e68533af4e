import Foundation

/// The methods in a trace, with the threads that they ran on. A method that runs on several threads shares the state it
/// uses; one that always runs on the same thread may use state without a lock.
public struct ThreadReport: Sendable, Equatable {
  /// One method.
  public struct Method: Sendable, Equatable {
    public let name: String
    /// The number of times it ran.
    public let calls: Int
    /// The time it ran in all, in microseconds.
    public let microseconds: Int
    /// The numbers of the threads it ran on, ascending.
    public let threads: [Int]

    public var isSingleThreaded: Bool { threads.count == 1 }
  }

  /// Sorted by name.
  public let methods: [Method]
  /// The names of threads, by number.
  public let threadNames: [Int: String]

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
    var (lines, names): ([String: (calls: Int, time: Int, threads: Set<Int>)], [Int: String]) = ([:], [:])
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
      if event.ph == "M", name == "thread_name" { names[thread] = event.args?.name }
      // A span with a category is a mark about an operation.
      guard event.ph == "X", event.cat == nil else { continue }
      lines[name, default: (0, 0, [])].calls += 1
      lines[name, default: (0, 0, [])].time &+= event.dur ?? 0
      lines[name, default: (0, 0, [])].threads.insert(thread)
    }
    guard isTrace else { throw NotATraceError(path: path) }
    methods = lines.sorted { $0.key < $1.key }.map { name, entry in
      Method(name: name, calls: entry.calls, microseconds: entry.time, threads: entry.threads.sorted())
    }
    threadNames = names
  }
}

/// A file is not a trace.
public struct NotATraceError: Error, Equatable, CustomStringConvertible {
  public let path: String

  public var description: String { "\(path): is not a trace of thumbjob's" }
}
