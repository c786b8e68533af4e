/// The status endpoint could not be opened.
public struct StatusEndpointError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The address, or the folder for its socket.
  public let place: String
  /// What is wrong with it, in words that follow the place and a colon.
  public let reason: String

  init(_ place: String, _ reason: String) { (self.place, self.reason) = (place, reason) }

  public var description: String { "status endpoint: \(place): \(reason)" }
}
