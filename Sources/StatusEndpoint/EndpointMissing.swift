#if !Endpoint
import Foundation

// A build without the trait Endpoint has neither the server nor the client. Both say so when they are asked to work.

private let missing = "this thumbjob is built without the status endpoint"

public final class StatusEndpoint: Sendable {
  public let address: StatusAddress

  private init(_ address: StatusAddress) { self.address = address }

  public static func open(
    _ address: StatusAddress?, dataSource: any RunDataSource, control: any RunControl, feed: EventFeed,
    thumbnails: LatestThumbnails, times: RunTimes, token: AccessToken, startsLater: Bool = false,
    log: (@Sendable (String) -> Void)? = nil
  ) throws(StatusEndpointError) -> StatusEndpoint? {
    throw StatusEndpointError(address.map { "\($0)" } ?? "the private socket", missing)
  }

  public func startWhenAsked(
    within limit: Duration, unless obstacle: () -> String? = { nil }
  ) throws(StatusEndpointError) {}

  public func pageLink(withToken: Bool) -> String? { nil }

  public func close() {}

  public func removeSocket() {}
}

struct HTTPExchange {
  private let address: StatusAddress

  init(_ client: StatusClient) { address = client.address }

  func ask(_ method: String, _ target: String, _ body: Data?) throws(StatusClientError) -> (status: Int, body: Data) {
    throw StatusClientError(.connection, address, missing)
  }
}
#endif
