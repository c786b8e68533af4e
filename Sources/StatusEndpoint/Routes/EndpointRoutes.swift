#if Endpoint
import HTTPTypes
import NIOCore

/// All routes of the endpoint and their answers.
struct EndpointRoutes: Sendable {
  let dataSource: any RunDataSource
  let control: any RunControl
  let feed: EventFeed
  let thumbnails: LatestThumbnails
  let times: RunTimes
  let history: RunHistory
  let status: StatusText
  /// Whether a change needs the token.
  let needsToken: Bool

  init(
    dataSource: any RunDataSource, control: any RunControl, feed: EventFeed, thumbnails: LatestThumbnails,
    times: RunTimes, history: RunHistory, limits: EndpointLimits, needsToken: Bool
  ) {
    (self.dataSource, self.control, self.feed) = (dataSource, control, feed)
    (self.thumbnails, self.times, self.history, self.needsToken) = (thumbnails, times, history, needsToken)
    status = StatusText(dataSource, listed: limits.listed)
  }

  var all: [Route] { texts + reading + changing }

  // MARK: Page and health

  private var texts: [Route] {
    [
      Route(method: .get, path: "/", access: .open) { [needsToken] _ in StatusPage.answer(needsToken: needsToken) },
      Route(method: .get, path: "/healthz", access: .open) { _ in .json(Health(status: "ok")) },
      Route(method: .get, path: "/readyz", access: .open) { [dataSource] _ in
        let state = dataSource.status(listing: 0).state
        let isReady = state == .running || state == .paused
        return .json(Health(status: state.rawValue), isReady ? .ok : .serviceUnavailable)
      },
      Route(method: .get, path: "/openapi.json") { [dataSource] _ in
        StatusPage.description(with: dataSource.counters)
      },
    ]
  }

  struct Health: Codable, Sendable {
    /// `ok`; for readiness, the state of the run.
    let status: String
  }

  // MARK: Reading

  private var reading: [Route] {
    [
      Route(method: .get, path: "/status") { [status] _ in Answer("application/json", .bytes(status.bytes)) },
      Route(method: .get, path: "/operations", parameters: ["state", "limit", "after"]) { [dataSource] call in
        .json(dataSource.operations(try call.operationQuery()))
      },
      Route(method: .get, path: "/operations/{id}") { [dataSource] call in
        guard let operation = dataSource.operation(call.number) else { throw Self.unknown(call.number) }
        return .json(operation)
      },
      Route(method: .get, path: "/history") { [history] _ in .json(history.columns) },
      Route(method: .get, path: "/thumbnails") { [thumbnails] _ in .json(thumbnails.list) },
      Route(method: .get, path: "/thumbnails/{id}") { [thumbnails] call in
        guard let file = thumbnails.file(call.number) else {
          throw HTTPError(.notFound, "there is no thumbnail \(call.number), or it is no longer kept")
        }
        var answer = Answer(file.type, .bytes(ByteBuffer(bytes: file.bytes)))
        answer.headers[.contentSecurityPolicy] = "default-src 'none'"
        return answer
      },
      Route(method: .get, path: "/metrics") { [dataSource, times] _ in
        let text = MetricsText.text(dataSource.status(listing: 0), dataSource.counters, dataSource.metrics, times)
        return .text(text, type: "text/plain; version=0.0.4; charset=utf-8")
      },
      Route(method: .get, path: "/events", parameters: ["thumbnails"]) { [feed, thumbnails] call in
        let type = "text/event-stream; charset=utf-8"
        let wanted = try call.query.number("thumbnails", in: 0...LatestThumbnails.mostKept, otherwise: 0)
        if call.isHead { return Answer(type, .headOnly) }
        guard let listener = feed.listen() else {
          var error = HTTPError(.serviceUnavailable, "the limit of clients that listen for events is reached")
          error.headers[.retryAfter] = "10"
          throw error
        }
        return Answer(type, .events(listener, thumbnails: { wanted == 0 ? nil : thumbnails.pictures(wanted) }))
      },
    ]
  }

  // MARK: Changing

  private var changing: [Route] {
    commands.map { [status] route in
      Route(method: route.method, path: route.path, access: .changes, takesBody: route.takesBody) { call in
        defer { status.forget() }
        return try await route.answer(call)
      }
    }
  }

  private var commands: [Route] {
    [
      Route(method: .delete, path: "/operations/{id}") { [control] call in
        switch await control.cancel(call.number) {
        case .wasWaiting: return .json(CancelledCount(waiting: 1, running: 0), .accepted)
        case .wasRunning: return .json(CancelledCount(waiting: 0, running: 1), .accepted)
        case .hasEnded: throw HTTPError(.conflict, "operation \(call.number) has ended already")
        case .isUnknown: throw Self.unknown(call.number)
        }
      },
      Route(method: .post, path: "/cancel") { [control] _ in .json(await control.cancelAll(), .accepted) },
      Route(method: .post, path: "/pause") { [control] _ in
        await control.pause()
        return .json(PauseState(paused: true))
      },
      Route(method: .post, path: "/resume") { [control] _ in
        await control.resume()
        return .json(PauseState(paused: false))
      },
      Route(method: .patch, path: "/limits", takesBody: true) { [control] call in
        let change = try LimitsChange(json: call.body)
        do throws(LimitsError) {
          return .json(try await control.change(change))
        } catch {
          throw HTTPError(.conflict, error.description)
        }
      },
    ]
  }

  private static func unknown(_ id: Int) -> HTTPError {
    HTTPError(.notFound, "there is no operation \(id), or it is no longer known")
  }
}

extension Call {
  fileprivate func operationQuery() throws(HTTPError) -> OperationQuery {
    let standard = OperationQuery()
    return OperationQuery(
      states: Set(try query.words("state", otherwise: Array(standard.states))),
      limit: try query.number("limit", in: OperationQuery.limitRange, otherwise: standard.limit),
      after: try query.number("after", in: 0...Int.max, otherwise: standard.after))
  }
}

extension HTTPField.Name {
  static let contentSecurityPolicy = Self("Content-Security-Policy")!
}
#endif
