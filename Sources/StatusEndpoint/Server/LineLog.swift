#if Endpoint
import Logging

/// A log handler that passes the server's warnings and errors to a closure, one line each.
struct LineLog: LogHandler {
  let print: @Sendable (String) -> Void
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.warning

  init(_ print: @escaping @Sendable (String) -> Void) { self.print = print }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { print("status endpoint: \(event.message)") }
}
#endif
