import Foundation
import TestSupport
import Testing

@testable import StatusEndpoint

/// The OpenAPI description matches the routes exactly: every route, method, status and field, and no others.
@Suite(.timeLimit(.minutes(5))) struct DescriptionTests {
  private typealias Object = [String: Any]

  private func description() async throws -> [String: Any] {
    let answer = try await ServedRun.open().ask("GET", "/openapi.json")
    return try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? Object)
  }

  private func routes(_ description: [String: Any]) throws -> [String: [String: Any]] {
    try #require(description["paths"] as? [String: Object])
  }

  /// The target of a reference, or the object itself.
  private func resolved(_ value: Any?, _ root: [String: Any]) -> [String: Any]? {
    guard let object = value as? Object else { return nil }
    guard let reference = object["$ref"] as? String else { return object }
    return reference.split(separator: "/").dropFirst().reduce(root as Any?) { ($0 as? Object)?[String($1)] } as? Object
  }

  @Test func everyRouteIsDescribedAndEveryDescriptionIsARoute() async throws {
    let described = try routes(try await description()).flatMap { path, methods in
      methods.keys.map { "\($0.uppercased()) \(path)" }
    }
    let served = EndpointRoutes.of(FakeRun()).all
    #expect(Set(described) == Set(served.map { "\($0.method) \($0.path)" }))
    #expect(described.count == served.count)
  }

  @Test func parametersBodiesAndTokensMatchTheRoute() async throws {
    let root = try await description()
    for route in EndpointRoutes.of(FakeRun()).all {
      let operation = try #require(try routes(root)[route.path]?[route.method.rawValue.lowercased()] as? Object)
      let parameters = operation["parameters"] as? [Object] ?? []
      let names = parameters.filter { $0["in"] as? String == "query" }.compactMap { $0["name"] as? String }
      #expect(Set(names) == route.parameters, "\(route.path)")
      #expect((operation["requestBody"] != nil) == route.takesBody, "\(route.path)")
      let security = try #require(operation["security"] as? [Object])
      let (isOpen, knowsToken) = (security.contains { $0.isEmpty }, security.contains { $0["token"] != nil })
      #expect(isOpen == (route.access != .changes) && knowsToken == (route.access != .open), "\(route.path)")
    }
  }

  @Test(arguments: [
    ("GET", "/status", "/status", 200),
    ("GET", "/operations?state=waiting,running,finished,failed&limit=3", "/operations", 200),
    ("GET", "/operations/3", "/operations/{id}", 200), ("GET", "/operations/2", "/operations/{id}", 200),
    ("GET", "/operations/99", "/operations/{id}", 404), ("DELETE", "/operations/3", "/operations/{id}", 202),
    ("DELETE", "/operations/1", "/operations/{id}", 409), ("DELETE", "/operations/99", "/operations/{id}", 404),
    ("POST", "/cancel", "/cancel", 202), ("POST", "/pause", "/pause", 200), ("POST", "/resume", "/resume", 200),
    ("PATCH", "/limits", "/limits", 200), ("GET", "/history", "/history", 200),
    ("GET", "/thumbnails", "/thumbnails", 200),
    ("GET", "/healthz", "/healthz", 200), ("GET", "/readyz", "/readyz", 200), ("GET", "/status?x=1", "/status", 400),
    ("GET", "/openapi.json", "/openapi.json", 200),
  ])
  func everyFieldOfAnAnswerIsDescribed(method: String, target: String, path: String, status: Int) async throws {
    let (root, served) = (try await description(), try await ServedRun.open())
    [UInt8](repeating: 1, count: 9).withUnsafeBytes {
      served.thumbnails.insert($0, operation: 1, source: "a", width: 1, height: 1)
    }
    #expect(try await eventually { served.run.statusCalls.value > 0 })  // the history has its first sample
    let body = method == "PATCH" ? "{\"max\":3}" : nil
    let answer = try await served.ask(method, target, headers: ["Content-Type": "application/json"], body: body)
    #expect(answer.status == status)
    let operation = try #require(try routes(root)[path]?[method.lowercased()] as? Object)
    let response = try #require(resolved((operation["responses"] as? Object)?["\(status)"], root))
    let (type, content) = try #require((response["content"] as? Object)?.first)
    #expect(answer.headers["content-type"] == type)
    let schema = try #require((content as? Object)?["schema"])
    check(try JSONSerialization.jsonObject(with: Data(answer.body)), schema, root, "\(method) \(target)")
  }

  /// Checks a value against a schema: no missing field, no extra field, and each of its type.
  private func check(_ value: Any, _ schema: Any, _ root: [String: Any], _ place: String) {
    guard let schema = resolved(schema, root) else {
      Issue.record("\(place): no schema")
      return
    }
    if let choices = schema["oneOf"] as? [Object] {
      let fitting = choices.filter { ($0["type"] as? String == "string") == (value is String) }
      #expect(fitting.count == 1, "\(place)")
      return check(value, fitting.first ?? [:], root, place)
    }
    switch schema["type"] as? String {
    case "object":
      guard let properties = schema["properties"] as? Object else { return }
      guard let object = value as? Object else {
        Issue.record("\(place) is no object")
        return
      }
      let required = schema["required"] as? [String] ?? []
      #expect(Set(required).isSubset(of: object.keys), "\(place) lacks \(Set(required).subtracting(object.keys))")
      for (key, field) in object {
        guard let property = properties[key] else {
          Issue.record("\(place).\(key) is not described")
          continue
        }
        check(field, property, root, "\(place).\(key)")
      }
    case "array":
      for element in value as? [Any] ?? [] { check(element, schema["items"] ?? [:], root, "\(place)[]") }
      #expect(value is [Any], "\(place)")
    case "string":
      #expect(value is String, "\(place)")
      if let words = schema["enum"] as? [String] { #expect(words.contains(value as? String ?? ""), "\(place)") }
    case "boolean": #expect(value is Bool, "\(place)")
    case "integer": #expect(value is Int, "\(place)")
    case "number": #expect(value is Double || value is Int, "\(place)")
    case let type: Issue.record("\(place): unknown type \(type ?? "none")")
    }
  }

  /// The fake run contains every field, so that none goes unchecked above.
  @Test func everyDescribedFieldOfARunIsShown() async throws {
    let (root, served) = (try await description(), try await ServedRun.open())
    let schemas = try #require((root["components"] as? Object)?["schemas"] as? [String: Object])
    func fields(_ name: String) -> Set<String> { Set((schemas[name]?["properties"] as? Object ?? [:]).keys) }
    func keys(_ value: some Encodable) throws -> Set<String> {
      let object = try JSONSerialization.jsonObject(with: JSONText.encode(value))
      return Set((object as? Object ?? [:]).keys)
    }
    let status = served.run.status(listing: 1)
    #expect(try keys(status) == fields("RunStatus"))
    #expect(try keys(status.counters) == fields("RunCounters"))
    let counters = try #require(schemas["RunCounters"]?["properties"] as? [String: Object])
    #expect(counters["mended"]?["description"] as? String == "Sources that were \"mended\".")
    #expect(try keys(status.limits) == fields("RunLimits"))
    #expect(try keys(status.memory) == fields("MemoryStatus"))
    #expect(try keys(status.pressure) == fields("PressureStatus"))
    #expect(try keys(status.rates) == fields("RunRates"))
    #expect(try keys(FakeRun.running).union(keys(FakeRun.waiting)) == fields("OperationStatus"))
    #expect(try keys(RunHistory.Columns()) == fields("RunHistory"))
    #expect(try keys(FakeRun.outcome) == fields("RunOutcome"))
    #expect(fields("LimitsChange") == Set(LimitsChange.CodingKeys.allCases.map(\.rawValue)))
    let limits = try #require(schemas["LimitsChange"]?["properties"] as? [String: Object])
    for (key, range) in [
      ("max", LimitsChange.maxRange), ("backlog", LimitsChange.backlogRange),
      ("budget_bytes", LimitsChange.budgetRange),
    ] {
      #expect(
        limits[key]?["minimum"] as? Int == range.lowerBound && limits[key]?["maximum"] as? Int == range.upperBound)
    }
    let operation = try #require(schemas["OperationStatus"]?["properties"] as? [String: Object])
    #expect(operation["waits_for"]?["maxItems"] as? Int == OperationStatus.waitsForLimit)
    #expect(schemas["RunState"]?["enum"] as? [String] == RunState.allCases.map(\.rawValue))
    #expect(schemas["PauseCause"]?["enum"] as? [String] == PauseCause.allCases.map(\.rawValue))
    let outcome = try #require(schemas["RunOutcome"]?["properties"] as? [String: Object])
    #expect(outcome["result"]?["enum"] as? [String] == RunOutcome.Result.allCases.map(\.rawValue))
    #expect(outcome["cause"]?["enum"] as? [String] == RunOutcome.Cause.allCases.map(\.rawValue))
    #expect(schemas["OperationState"]?["enum"] as? [String] == OperationStatus.State.allCases.map(\.rawValue))
    #expect(schemas["PressureLevel"]?["enum"] as? [String] == PressureStatus.Level.allCases.map(\.rawValue))
  }
}

extension EndpointRoutes {
  static func of(_ run: FakeRun) -> EndpointRoutes {
    EndpointRoutes(
      dataSource: run, control: run, feed: EventFeed(), thumbnails: LatestThumbnails(), times: RunTimes(),
      history: RunHistory(), limits: EndpointLimits(), needsToken: true)
  }
}
