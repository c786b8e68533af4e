/// One event as a line of JSON.
struct TraceLine {
  private let kind: StaticString
  private let name: String
  private let time: Int
  private var number: (name: StaticString, value: Int)?
  private var id: Int?
  /// The category; viewers tell events of the same id apart by it.
  private var category: StaticString = "operation"
  /// Whether the end of an arrow belongs to the span around it, and not to the next one.
  private var isBound = false
  private var note: String?
  private var values: [(name: StaticString, value: Int)] = []

  /// - Parameters:
  ///   - kind: the format's letter for the kind of event (`ph`).
  ///   - time: microseconds since the start of the trace.
  init(_ kind: StaticString, _ name: String, at time: Int, number: (StaticString, Int)? = nil) {
    (self.kind, self.name, self.time, self.number) = (kind, name, time, number)
  }

  init(_ kind: StaticString, _ name: String, at time: Int, id: Int, note: String? = nil) {
    (self.kind, self.name, self.time, self.id, self.note) = (kind, name, time, id, note)
  }

  init(_ kind: StaticString, _ name: String, at time: Int, id: Int, lasting duration: Int) {
    self.init(kind, name, at: time, number: ("dur", duration))
    self.id = id
  }

  init(_ kind: StaticString, _ name: String, at time: Int, values: [(name: StaticString, value: Int)]) {
    (self.kind, self.name, self.time, self.values) = (kind, name, time, values)
  }

  /// One end of an arrow, which belongs to the span around it.
  init(arrow kind: StaticString, _ name: StaticString, at time: Int, id: Int) {
    (self.kind, self.name, self.time, self.id, category, isBound) = (kind, "\(name)", time, id, "arrow", true)
  }

  /// The name of the thread that the event is written for.
  init(threadName: String) {
    (kind, name, time, note) = ("M", "thread_name", 0, threadName)
  }

  /// The name of the process.
  init(processName: String) {
    (kind, name, time, note) = ("M", "process_name", 0, processName)
  }

  /// Separates two events.
  static let separator = Array(",\n".utf8)

  /// The event, without a separator.
  func bytes(process: Int, thread: Int) -> [UInt8] {
    var text = "{\"ph\":\"\(kind)\",\"pid\":\(process),\"tid\":\(thread),\"ts\":\(time),\"name\":"
    text += Self.quoted(name)
    if let number { text += ",\"\(number.name)\":\(number.value)" }
    if let id { text += ",\"cat\":\"\(category)\",\"id\":\(id)" }
    if isBound { text += ",\"bp\":\"e\"" }
    if let note {
      // The event `thread_name` or `process_name` has the name itself as an argument.
      text += ",\"args\":{\"\(id == nil ? "name" : "note")\":\(Self.quoted(note))}"
    } else if !values.isEmpty {
      text += ",\"args\":{" + values.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
    }
    return Array((text + "}").utf8)
  }

  static func microseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
  }

  /// A JSON string (RFC 8259, section 7).
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\u{0}"..."\u{1F}": quoted += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
