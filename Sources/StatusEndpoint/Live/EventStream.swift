#if Endpoint
import HummingbirdCore
import NIOCore

/// Server-sent events for one client: state changes as they happen, and the status of the run each second.
struct EventStream {
  /// The data of the event `lost`.
  struct Lost: Codable, Sendable {
    /// Events that were dropped because the client did not read fast enough.
    let count: Int
  }

  /// Seconds between comments that keep proxies from closing the connection.
  private static let heartbeat = 15
  /// The most running, and the most waiting, operations that the event `counters` lists.
  private static let listed = 20

  private let listener: EventListener
  private let dataSource: any RunDataSource
  /// The thumbnails to send at the end; nil if none are wanted. Afterwards the endpoint answers no requests for them.
  private let thumbnails: @Sendable () -> LatestThumbnails.Pictures?

  init(
    _ listener: EventListener, _ dataSource: any RunDataSource,
    _ thumbnails: @escaping @Sendable () -> LatestThumbnails.Pictures?
  ) {
    (self.listener, self.dataSource, self.thumbnails) = (listener, dataSource, thumbnails)
  }

  /// Sends until the run ends or the client leaves.
  ///
  /// - Throws: errors of the connection.
  func send(to body: inout some ResponseBodyWriter, on loop: any EventLoop) async throws {
    let ticker = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { [listener] _ in listener.tick() }
    defer { ticker.cancel() }
    var seconds = 0
    try await body.write(ByteBuffer(string: "retry: 2000\n\n"))
    while true {
      let batch = await listener.next()
      var text = ByteBuffer()
      if batch.lost > 0 { Self.put("lost", Lost(count: batch.lost), into: &text) }
      for change in batch.changes {
        let (name, data) = change.event
        Self.put(name, data, into: &text)
      }
      if batch.isLast, let pictures = thumbnails() { Self.put("thumbnails", pictures, into: &text) }
      if batch.isSecond || batch.isLast { Self.put("counters", dataSource.status(listing: Self.listed), into: &text) }
      if batch.isSecond {
        seconds += 1
        if seconds % Self.heartbeat == 0 { text.writeString(": alive\n\n") }
      }
      try await body.write(text)
      if batch.isLast { return }
    }
  }

  private static func put(_ name: String, _ data: any Encodable, into text: inout ByteBuffer) {
    text.writeString("event: \(name)\ndata: ")
    var json = ByteBuffer(bytes: JSONText.encode(data))
    text.writeBuffer(&json)
    text.writeString("\n\n")
  }
}
#endif
