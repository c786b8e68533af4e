import HTTPTypes
import NIOCore

/// One thing that can be asked for.
struct Route: Sendable {
  /// What asking needs; see ``AccessRules``.
  enum Access: Sendable {
    /// Tells nothing of the run.
    case open
    case reads
    case changes
  }

  let method: HTTPRequest.Method
  /// Such as `/operations/{id}`; what is in braces is a number.
  let path: String
  var access = Access.reads
  /// Names of the query parameters it knows.
  var parameters: Set<String> = []
  /// Whether it reads a body.
  var takesBody = false
  /// Throws ``HTTPProblem`` only.
  let answer: @Sendable (Call) async throws -> Answer
}

/// A request that has found its route.
struct Call: Sendable {
  /// The number in the path, where the route has one.
  let number: Int
  let query: QueryParameters
  let body: ByteBuffer
  /// Whether only the headers are wanted.
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

  /// By path, the number in it replaced.
  private var places: [String: Place] = [:]
  private static let numberMark = "{id}"

  init(_ routes: [Route]) {
    for route in routes { places[route.path, default: Place()].routes.append(route) }
  }

  /// - Throws: ``HTTPProblem``: 404 where there is nothing, 405 where it cannot be done.
  func find(_ method: HTTPRequest.Method, _ path: Substring) throws(HTTPProblem) -> (route: Route, number: Int) {
    var number = 0
    var place = places[String(path)]
    if place == nil, let slash = path.lastIndex(of: "/"), let id = Self.number(path[path.index(after: slash)...]) {
      place = places[path[...slash] + Self.numberMark]
      number = id
    }
    guard let place else { throw HTTPProblem(.notFound, "there is no such route; /openapi.json lists all") }
    let wanted: HTTPRequest.Method = method == .head ? .get : method
    guard let route = place.routes.first(where: { $0.method == wanted }) else {
      var problem = HTTPProblem(.methodNotAllowed, "this route knows \(place.allow) only")
      problem.headers[.allow] = place.allow
      throw problem
    }
    return (route, number)
  }

  /// A number of an operation or thumbnail: decimal digits that fit.
  private static func number(_ text: Substring) -> Int? {
    text.isDecimal ? Int(text) : nil
  }
}
