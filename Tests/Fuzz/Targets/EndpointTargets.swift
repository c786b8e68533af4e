import HTTPTypes
import NIOCore

@testable import StatusEndpoint

extension FuzzTarget {
  /// Targets of the room StatusEndpoint. swift-nio, which splits requests into head and body, has fuzzers of its own.
  static let endpoint = [FuzzTarget(name: "request", run: request), FuzzTarget(name: "answer", run: answer)]

  private static let rules = AccessRules(
    reach: .machine, host: "127.0.0.1", token: AccessToken("0123456789abcdef") ?? AccessToken())

  private static let table = RouteTable([
    route(.get, "/"), route(.get, "/operations", ["state", "limit", "after"]), route(.get, "/operations/{id}"),
    route(.delete, "/operations/{id}"), route(.patch, "/limits"),
  ])

  private static func route(_ method: HTTPRequest.Method, _ path: String, _ parameters: Set<String> = []) -> Route {
    Route(method: method, path: path, access: method == .get ? .reads : .changes, parameters: parameters) { _ in
      Answer("text/plain", .bytes(ByteBuffer()))
    }
  }

  /// A method and a target, fields, an empty line, and a body, as in HTTP.
  private static func request(_ input: UnsafeRawBufferPointer) {
    let text = String(decoding: input, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let first = lines[0].split(separator: " ", maxSplits: 1)
    guard first.count == 2, let method = HTTPRequest.Method(String(first[0])) else { return }
    _ = RequestTargetCheck.host(of: String(first[1]))
    var head = HTTPRequest(method: method, scheme: "http", authority: nil, path: String(first[1]))
    let fields = lines.dropFirst().prefix { !$0.isEmpty }
    for field in fields {
      let parts = field.split(separator: ":", maxSplits: 1).map { $0.trimmingPrefix(" ") }
      guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { continue }
      if name == .host && head.authority == nil {
        head.authority = String(parts[1])
      } else {
        head.headerFields.append(HTTPField(name: name, value: String(parts[1])))
      }
    }
    let body = lines.dropFirst(fields.count + 2).joined(separator: "\n")
    _ = try? LimitsChange(json: ByteBuffer(string: body))
    answerHead(head)
  }

  private static func answerHead(_ head: HTTPRequest) {
    let target = (head.path ?? "/")[...]
    let path = target.prefix { $0 != "?" }
    guard (try? rules.checkOrigin(head, isPage: path == "/" && head.method == .get)) != nil else { return }
    let host = head.authority?.lowercased() ?? ""
    precondition(
      host.hasPrefix("localhost") || host.hasPrefix("127.") || host.hasPrefix("[::1]"), "a foreign host is accepted")
    guard let (route, _) = try? table.find(head.method, path) else { return }
    if route.access == .changes, (try? rules.checkToken(head, for: .changes)) != nil {
      precondition(head.headerFields[.authorization]?.hasSuffix(rules.token.text) == true, "a change without the token")
    }
    guard let query = try? QueryParameters(target.dropFirst(path.count).dropFirst(), known: route.parameters) else {
      return
    }
    if let limit = try? query.number("limit", in: OperationQuery.limitRange, otherwise: 1) {
      precondition(OperationQuery.limitRange.contains(limit))
    }
    _ = try? query.words("state", otherwise: [OperationStatus.State]())
  }

  /// What the client reads from an endpoint, which may be another program.
  private static func answer(_ input: UnsafeRawBufferPointer) {
    if let status = try? JSONText.decode(RunStatus.self, from: input), status.counters.arePlausible {
      let again = JSONText.encode(status)
      precondition((try? JSONText.decode(RunStatus.self, from: again)) != nil)
    }
    if let page = try? JSONText.decode(OperationPage.self, from: input) {
      _ = OperationPage(OperationQuery(), from: page.operations)
    }
    _ = try? JSONText.decode(RunLimits.self, from: input)
    _ = try? JSONText.decode(ErrorDetails.self, from: input)
    let text = String(decoding: input, as: UTF8.self)
    if let address = try? StatusAddress(text) {
      precondition((try? StatusAddress("\(address)")) == address, "an address is written differently than it is read")
    }
  }
}
