import Foundation
import TestSupport

@testable import StatusEndpoint

/// A ``FakeRun`` with its own endpoint, which is closed with it.
final class ServedRun: Sendable {
  enum Place { case file, tcp, network }

  let run: FakeRun
  let feed: EventFeed
  let thumbnails = LatestThumbnails()
  let times = RunTimes()
  let folder = TemporaryFolder()
  let endpoint: StatusEndpoint
  static let token = AccessToken("0123456789abcdef0123456789abcdef")!

  /// Opens on a separate thread, because opening blocks, which threads of Swift's pool must not do.
  static func open(
    _ place: Place = .file, run: FakeRun = FakeRun(), limits: EndpointLimits = EndpointLimits()
  ) async throws -> ServedRun {
    try await onThread { try ServedRun(place, run: run, limits: limits) }
  }

  private init(_ place: Place, run: FakeRun, limits: EndpointLimits) throws {
    self.run = run
    feed = EventFeed(limits)
    let address: StatusAddress =
      switch place {
      case .file: .unix(folder("s.sock"))
      case .tcp: .tcp(host: "127.0.0.1", port: 0)
      case .network: .tcp(host: "0.0.0.0", port: 0)
      }
    endpoint = try StatusEndpoint.open(
      address, dataSource: run, control: run, feed: feed, thumbnails: thumbnails, times: times, token: Self.token,
      environment: [:], limits: limits)!
  }

  deinit { Thread.detachNewThread { [endpoint] in endpoint.close() } }

  var client: StatusClient { StatusClient(endpoint.address, token: Self.token) }

  /// Sends a request on its own connection.
  ///
  /// - Parameter headers: a Host header here replaces the correct one.
  func ask(
    _ method: String = "GET", _ target: String, headers: [String: String] = [:], hasToken: Bool = false,
    body: String? = nil
  ) async throws -> RawClient.Answer {
    let address = endpoint.address
    var fields = headers
    if fields["Host"] == nil { fields["Host"] = host }
    if hasToken { fields["Authorization"] = "Bearer \(Self.token.text)" }
    if let body { fields["Content-Length"] = "\(body.utf8.count)" }
    let lines = ["\(method) \(target) HTTP/1.1"] + fields.map { "\($0): \($1)" }.sorted() + ["", body ?? ""]
    return try await onThread {
      let client = try RawClient(address)
      client.send(lines.joined(separator: "\r\n"))
      return try client.answer(isHead: method == "HEAD")
    }
  }

  var host: String {
    guard case .tcp(_, let port) = endpoint.address else { return "localhost" }
    return "127.0.0.1:\(port)"
  }
}
