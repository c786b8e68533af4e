/// A source to fetch.
public struct FetchRequest: Sendable {
  public let url: RemoteURL
  /// What is known of the source: it is not sent again if it has not changed.
  public var unless: Validators?

  public init(url: RemoteURL) { self.url = url }
}
