#if Endpoint
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Answers requests: checks access, finds the route, reads the body, and sends the route's answer.
struct Responder: Sendable {
  let table: RouteTable
  let rules: AccessRules
  let limits: EndpointLimits
  let dataSource: any RunDataSource
  let feed: EventFeed
  private static let expectation = "100-continue"

  /// - Throws: errors of the connection, such as a client that has disconnected.
  func respond(
    to request: Request, _ writer: consuming ResponseWriter, on channel: any Channel, _ turns: Turns
  ) async throws {
    let answer = try await answer(request, writer, turns)
    var head = HTTPResponse(status: answer.status, headerFields: answer.headers)
    switch answer.body {
    case .bytes(let bytes):
      head.headerFields[.contentLength] = "\(bytes.readableBytes)"
      if request.method == .head {
        try await writer.writeResponse(head)
      } else {
        try await writer.write(response: head, body: ResponseBody(byteBuffer: bytes))
      }
    case .headOnly: try await writer.writeResponse(head)
    case .events(let listener, let thumbnails):
      defer { feed.remove(listener) }
      var body = try await writer.writeHead(head)
      try await EventStream(listener, dataSource, thumbnails).send(to: &body, on: channel.eventLoop)
      try await body.finish(nil)
    }
  }

  private func answer(_ request: Request, _ writer: borrowing ResponseWriter, _ turns: Turns) async throws -> Answer {
    await turns.waitForTurn()
    do {
      let target = (request.head.path ?? "/")[...]
      let path = target.prefix { $0 != "?" }
      try rules.checkOrigin(request.head, isPage: path == "/" && request.method == .get)
      guard request.headers[.expect].map({ $0.lowercased() == Self.expectation }) ?? true else {
        throw HTTPError(.expectationFailed, "the only expectation that is met is \(Self.expectation)")
      }
      let (route, number) = try table.find(request.method, path)
      try rules.checkToken(request.head, for: route.access)
      let query = try QueryParameters(target.dropFirst(path.count).dropFirst(), known: route.parameters)
      let body = route.takesBody ? try await self.body(of: request, writer) : ByteBuffer()
      return try await turns.counting {
        try await route.answer(Call(number: number, query: query, body: body, isHead: request.method == .head))
      }
    } catch let error as HTTPError {
      return error.answer
    }
  }

  /// - Throws: ``HTTPError`` if the body is too large or of another type, and errors of the connection.
  private func body(of request: Request, _ writer: borrowing ResponseWriter) async throws -> ByteBuffer {
    let tooLarge = HTTPError(.contentTooLarge, "the body may have at most \(limits.bodyBytes) bytes")
    let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased()
    guard type == "application/json" else {
      throw HTTPError(.unsupportedMediaType, "the body must be application/json")
    }
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limits.bodyBytes { throw tooLarge }
    if request.headers[.expect] != nil { try await writer.writeInformationalHead(HTTPResponse(status: .continue)) }
    do {
      return try await request.body.collect(upTo: limits.bodyBytes)
    } catch is NIOTooManyBytesError {
      throw tooLarge
    }
  }
}
#endif
