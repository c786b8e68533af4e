import Foundation

/// A client of a running job's status endpoint.
///
/// *Concurrency*: calls block the calling thread, at most for the timeout. Each call uses its own connection.
public struct StatusClient: Sendable {
  public let address: StatusAddress
  /// The token for TCP; nil to send none.
  public let token: AccessToken?
  public let timeout: Duration

  /// - Parameter timeout: the time limit for a request with its answer.
  public init(_ address: StatusAddress, token: AccessToken? = nil, timeout: Duration = .seconds(5)) {
    (self.address, self.token, self.timeout) = (address, token, timeout)
  }

  /// - Throws: ``StatusClientError``, as do all calls.
  public func status() throws(StatusClientError) -> RunStatus {
    let status: RunStatus = try ask("GET", "/status")
    guard status.counters.arePlausible else {
      throw StatusClientError(.garbled, address, "answered with impossible counts of operations")
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
    let _: PauseState = try ask("POST", "/pause")
  }

  public func resume() throws(StatusClientError) {
    let _: PauseState = try ask("POST", "/resume")
  }

  public func change(_ limits: LimitsChange) throws(StatusClientError) -> RunLimits {
    try ask("PATCH", "/limits", body: JSONText.encode(limits))
  }

  private func ask<Answer: Decodable>(
    _ method: String, _ target: String, body: Data? = nil
  ) throws(StatusClientError) -> Answer {
    let (status, bytes) = try HTTPExchange(self).ask(method, target, body)
    guard (200..<300).contains(status) else {
      let details = try? JSONText.decode(ErrorDetails.self, from: bytes)
      throw StatusClientError(.refused(status: status), address, details?.detail ?? "answered with status \(status)")
    }
    do {
      return try JSONText.decode(Answer.self, from: bytes)
    } catch {
      throw StatusClientError(.garbled, address, "its answer to \(method) \(target) is not one of thumbjob")
    }
  }
}

/// A request to a running job failed.
public struct StatusClientError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// No process listens at the address.
    case notRunning
    case timedOut
    /// The connection broke or could not be opened.
    case connection
    /// It answered, with an HTTP status: 401 without the token, 404 for an unknown operation, 409 for one that has
    /// ended, or for limits that the run cannot have.
    case refused(status: Int)
    /// The answer is not one of thumbjob.
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
