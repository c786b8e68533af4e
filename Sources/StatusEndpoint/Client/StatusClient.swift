import Foundation

/// Asks a running job over its status endpoint.
///
/// *Concurrency*: calls block the calling thread, for as long as the timeout at the most. Each is a connection of its own.
public struct StatusClient: Sendable {
  public let address: StatusAddress
  /// For TCP; nil to send none.
  public let token: AccessToken?
  public let timeout: Duration

  /// - Parameter timeout: for a whole question and its answer.
  public init(_ address: StatusAddress, token: AccessToken? = nil, timeout: Duration = .seconds(5)) {
    (self.address, self.token, self.timeout) = (address, token, timeout)
  }

  /// - Throws: ``StatusClientError``, as all of these.
  public func status() throws(StatusClientError) -> RunStatus {
    let status: RunStatus = try ask("GET", "/status")
    guard status.counters.arePlausible else {
      throw StatusClientError(.garbled, address, "answered with counts of operations that cannot be")
    }
    return status
  }

  public func operations(_ query: OperationQuery = OperationQuery()) throws(StatusClientError) -> OperationPage {
    let states = query.states.map(\.rawValue).sorted().joined(separator: ",")
    return try ask("GET", "/operations?state=\(states)&limit=\(query.limit)&after=\(query.after)")
  }

  public func operation(_ id: Int) throws(StatusClientError) -> OperationStatus { try ask("GET", "/operations/\(id)") }

  /// Asks one operation to stop.
  public func cancel(_ id: Int) throws(StatusClientError) -> CancelledCount { try ask("DELETE", "/operations/\(id)") }

  /// Ends the run.
  public func cancelAll() throws(StatusClientError) -> CancelledCount { try ask("POST", "/cancel") }

  public func pause() throws(StatusClientError) {
    let _: EndpointRoutes.Paused = try ask("POST", "/pause")
  }

  public func resume() throws(StatusClientError) {
    let _: EndpointRoutes.Paused = try ask("POST", "/resume")
  }

  public func change(_ limits: LimitsChange) throws(StatusClientError) -> RunLimits {
    try ask("PATCH", "/limits", body: Array(JSONText.encode(limits).readableBytesView))
  }

  private func ask<Answer: Decodable>(
    _ method: String, _ target: String, body: [UInt8]? = nil
  ) throws(StatusClientError) -> Answer {
    let (status, bytes) = try HTTPExchange(self, until: .now + timeout).ask(method, target, body)
    guard (200..<300).contains(status) else {
      let problem = try? JSONText.decode(HTTPProblem.Text.self, from: bytes)
      throw StatusClientError(.refused(status: status), address, problem?.detail ?? "answered with status \(status)")
    }
    do {
      return try JSONText.decode(Answer.self, from: bytes)
    } catch {
      throw StatusClientError(.garbled, address, "answered what is no answer of thumbjob to \(method) \(target)")
    }
  }
}

/// Why a running job could not be asked.
public struct StatusClientError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// Nobody listens there.
    case notRunning
    case timedOut
    /// The connection broke, or could not be made.
    case connection
    /// It answered, with an HTTP status: 401 without the token, 404 for an unknown operation, 409 for one that has ended.
    case refused(status: Int)
    /// Something else than thumbjob answered.
    case garbled
  }

  public let kind: Kind
  public let address: StatusAddress
  public let reason: String

  init(_ kind: Kind, _ address: StatusAddress, _ reason: String) {
    (self.kind, self.address, self.reason) = (kind, address, reason)
  }

  public var description: String { "\(address): \(reason)" }
}
