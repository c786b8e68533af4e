#if Endpoint
import HTTPTypes
import NIOCore

/// One route: method, path, access and answer.
struct Route: Sendable {
  /// The kind of access that it needs; see ``AccessRules``.
  enum Access: Sendable {
    /// Shows nothing of the run.
    case open
    case reads
    case changes
  }

  let method: HTTPRequest.Method
  /// A path such as `/operations/{id}`; the part in braces is a number.
  let path: String
  var access = Access.reads
  /// The names of its query parameters.
  var parameters: Set<String> = []
  /// Whether it reads a body.
  var takesBody = false
  /// Throws ``HTTPError`` only.
  let answer: @Sendable (Call) async throws -> Answer
}

/// A request with its route's parameters.
struct Call: Sendable {
  /// The number in the path, where the route has one.
  let number: Int
  let query: QueryParameters
  let body: ByteBuffer
  /// Whether only the headers are sent.
  let isHead: Bool
}

/// All routes, by path and method.
struct RouteTable: Sendable {
  private struct Place: Sendable {
    var routes: [Route] = []
    var allow: String {
      let names = routes.map(\.method.rawValue)
      return (names + (names.contains("GET") ? ["HEAD"] : [])).sorted().joined(separator: ", ")
    }
  }

  /// By path, with `{id}` in place of a number.
  private var places: [String: Place] = [:]
  private static let numberMark = "{id}"

  init(_ routes: [Route]) {
    for route in routes { places[route.path, default: Place()].routes.append(route) }
  }

  /// - Throws: ``HTTPError``: 404 for an unknown path, 405 for an unknown method.
  func find(_ method: HTTPRequest.Method, _ path: Substring) throws(HTTPError) -> (route: Route, number: Int) {
    var number = 0
    var place = places[String(path)]
    if place == nil, let slash = path.lastIndex(of: "/"), let id = Self.number(path[path.index(after: slash)...]) {
      place = places[path[...slash] + Self.numberMark]
      number = id
    }
    guard let place else { throw HTTPError(.notFound, "there is no such route; /openapi.json lists all") }
    let wanted: HTTPRequest.Method = method == .head ? .get : method
    guard let route = place.routes.first(where: { $0.method == wanted }) else {
      var error = HTTPError(.methodNotAllowed, "this route supports \(place.allow) only")
      error.headers[.allow] = place.allow
      throw error
    }
    return (route, number)
  }

  /// The id of an operation or thumbnail: decimal digits that fit into an `Int`.
  private static func number(_ text: Substring) -> Int? {
    text.isDecimal ? Int(text) : nil
  }
}
#endif
