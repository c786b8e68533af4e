#if Endpoint
import BoundedQueue
import Foundation
import HTTPTypes
import HummingbirdCore
import Locking
import NIOCore
import NIOHTTPTypes
import Previews
import StatusEndpoint
import Synchronization

/// Answers requests for previews.
///
/// *Concurrency*: on the server's thread.
final class PreviewResponder: Sendable {
  private let service: PreviewService
  private let dialects: PreviewDialects
  private let version: String
  private let executor: LoopExecutor
  private let onAnswer: @Sendable (AnsweredRequest) -> Void
  private let startedAt = ContinuousClock.now
  /// Numbers requests that have no id of their own.
  private let lastNumber = Atomic(0)

  init(
    service: PreviewService, dialects: PreviewDialects, version: String, executor: LoopExecutor,
    onAnswer: @escaping @Sendable (AnsweredRequest) -> Void
  ) {
    (self.service, self.dialects, self.version) = (service, dialects, version)
    (self.executor, self.onAnswer) = (executor, onAnswer)
  }

  /// The answer to a request: status, headers and body.
  private struct Reply {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: [UInt8]
    var error: PreviewError?

    init(_ status: HTTPResponse.Status, _ type: String, _ body: [UInt8]) {
      (self.status, self.body) = (status, body)
      headers = [.contentType: type, .xContentTypeOptions: "nosniff"]
    }

    init(_ value: some Encodable) {
      self.init(.ok, "application/json", Array(JSONText.encode(value)))
    }

    init(_ error: PreviewError) {
      struct Message: Encodable {
        let message: String
        let status: Int
      }
      self.init(Message(message: error.message, status: error.status))
      (status, self.error) = (HTTPResponse.Status(code: error.status), error)
      if error.status == 405 { headers[.allow] = error.allowed }
      if let seconds = error.retryAfter { headers[.retryAfter] = "\(seconds)" }
    }

    init(_ preview: Preview) {
      self.init(.ok, preview.mediaType, preview.bytes)
      headers[.imageWidth] = "\(preview.pixels.width)"
      headers[.imageHeight] = "\(preview.pixels.height)"
    }
  }

  /// What imaginary's `/` tells.
  private struct Versions: Encodable {
    let thumbjob: String
  }

  /// What imaginary's `/health` tells, as far as it has a meaning here.
  private struct Health: Encodable {
    /// In seconds.
    let uptime: Int
    let running: Int
    let waiting: Int
    /// MiB, as imaginary's.
    let allocatedMemory: Double
  }

  /// - Throws: errors of the connection, such as a client that has left.
  func respond(to request: Request, _ writer: consuming ResponseWriter, on channel: any Channel) async throws {
    let start = ContinuousClock.now
    let id = Self.id(request.headers[.requestID]) ?? "\(lastNumber.add(1, ordering: .relaxed).newValue)"
    let target = request.head.path ?? "/"
    let body = try HTTPBody(
      request, on: channel, executor, channel.pipeline.syncOperations.handler(type: RequestPace.self))
    let client = Self.client(of: channel)
    var dialect: String?
    var reply: Reply?
    do {
      let head = try Self.head(request, target)
      let understood = try dialects.understand(head)
      dialect = understood.dialect
      reply = try await self.reply(to: understood, body, head, client, id, on: channel)
    } catch let error as PreviewError {
      reply = Reply(error)
      dialect = dialect ?? error.dialect
    } catch is CancellationError {
      reply = nil
    }
    let path = String(target.prefix { $0 != "?" }.prefix(200))
    onAnswer(
      AnsweredRequest(
        id: id, method: request.method.rawValue, path: path, dialect: dialect, client: client,
        status: reply?.status.code ?? 499, error: reply?.error, bytesReceived: body.received,
        bytesSent: reply?.body.count ?? 0, time: .now - start, isAbandoned: reply == nil))
    guard var reply else { throw CancellationError() }
    // What follows cannot be told from the rest of the body.
    if reply.error?.reason == .body { body.pace.value.closeAfterAnswer() }
    if request.headers[.requestID] != nil { reply.headers[.requestID] = id }
    reply.headers[.contentLength] = "\(reply.body.count)"
    let head = HTTPResponse(status: reply.status, headerFields: reply.headers)
    if request.method == .head {
      try await writer.writeResponse(head)
    } else {
      let unread = service.unread
      unread.add(reply.body.count)
      defer { unread.remove(reply.body.count) }
      try await writer.write(
        response: head,
        body: ResponseBody { [bytes = reply.body] writer in
          // In pieces, so that a client that reads slowly is seen to read.
          for start in stride(from: 0, to: bytes.count, by: Self.pieceBytes) {
            try await writer.write(ByteBuffer(bytes: bytes[start..<min(start + Self.pieceBytes, bytes.count)]))
          }
          try await writer.finish(nil)
        })
    }
    try await body.drain()
  }

  /// The bytes of an answer that are written at once.
  private static let pieceBytes = 64 << 10

  private static func head(_ request: Request, _ target: String) throws(PreviewError) -> RequestHead {
    // The first Host field is the authority; others stay among the fields.
    guard !request.headers.contains(.host) else { throw PreviewError(400, .request, "the request names two hosts") }
    guard request.head.authority != "" else { throw PreviewError(400, .request, "the request names no host") }
    // Otherwise a page of another site could use this server through the browsers of its visitors.
    let site = request.headers[.fetchSite] ?? "none"
    guard request.headers[.origin] == nil || site == "same-origin", ["same-origin", "none"].contains(site) else {
      throw PreviewError(403, .request, "pages of other sites may not send requests")
    }
    if let expectation = request.headers[.expect], expectation.lowercased() != "100-continue" {
      throw PreviewError(417, .request, "the only expectation that is met is 100-continue")
    }
    return try RequestHead(
      method: request.method.rawValue, target: target, key: request.headers[.apiKey],
      contentType: request.headers[.contentType], accept: request.headers[.accept])
  }

  private func reply(
    to understood: PreviewDialects.Understood, _ body: HTTPBody, _ head: RequestHead, _ client: String, _ id: String,
    on channel: any Channel
  ) async throws -> Reply {
    switch understood.call {
    case .version: return Reply(Versions(thumbjob: version))
    case .health:
      let counters = service.queue.counters
      return Reply(
        Health(
          uptime: Int((.now - startedAt) / .seconds(1)), running: counters.running,
          waiting: counters.waiting + service.bodies.counters.running,
          allocatedMemory: Double(service.pressure?.usage.resident ?? 0) / 1_048_576))
    case .make, .describe: break
    }
    let answer = try await answer(understood, body, head, client, id, on: channel)
    return switch answer {
    case .preview(let preview): Reply(preview)
    case .description(let description): Reply(description)
    }
  }

  /// Has the service answer, unless the client leaves or the time is over.
  private func answer(
    _ understood: PreviewDialects.Understood, _ body: HTTPBody, _ head: RequestHead, _ client: String, _ id: String,
    on channel: any Channel
  ) async throws -> PreviewService.Answer {
    let task = Task(executorPreference: executor) { [service] in
      try await service.answer(
        understood.call, body, contentType: head.contentType, field: understood.field, from: client,
        name: "\(understood.dialect) request \(id)")
    }
    let isHeld = Locked(false)
    let hold = service.settings.hold
    let timer = channel.eventLoop.scheduleTask(in: .nanoseconds(Int64(hold / .nanoseconds(1)))) {
      isHeld.withLock { $0 = true }
      task.cancel()
    }
    defer { timer.cancel() }
    if !channel.isActive { task.cancel() }
    body.pace.value.onClose = { task.cancel() }
    do { return try await task.value } catch {
      let isCancelled = error is CancellationError || (error as? PreviewError)?.reason == .cancelled
      guard isCancelled, isHeld.withLock({ $0 }) else { throw error }
      throw PreviewError(503, .held, "the server is busy; the request has waited for its longest time", retryAfter: 5)
    }
  }

  /// An id that a client has sent, if it can be shown and sent back as it is.
  private static func id(_ text: String?) -> String? {
    guard let text, (1...128).contains(text.utf8.count) else { return nil }
    return text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") } ? text : nil
  }

  private static func client(of channel: any Channel) -> String {
    guard let address = channel.remoteAddress else { return "local" }
    return address.ipAddress ?? "local"
  }
}

extension HTTPField.Name {
  static let apiKey = Self("API-Key")!
  static let fetchSite = Self("Sec-Fetch-Site")!
  static let host = Self("Host")!
  static let imageWidth = Self("Image-Width")!
  static let imageHeight = Self("Image-Height")!
  static let requestID = Self("X-Request-ID")!
}
#endif
