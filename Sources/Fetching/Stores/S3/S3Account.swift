import Files
import Foundation

/// Whose keys sign requests to S3, and where its service is, as the environment and the usual files say.
///
/// The variables go before the files. Without keys the requests are not signed, which is enough for public buckets.
///
/// *Source*: AWS SDKs and Tools, Reference Guide (settings, shared `config` and `credentials` files).
struct S3Account: Sendable {
  struct Keys: Sendable {
    let id: String
    let secret: String
    /// Belongs to keys that are valid for a time only.
    let sessionToken: String?
  }

  private(set) var keys: Keys?
  private(set) var region = "us-east-1"
  /// The address of a service that is not Amazon's; nil for Amazon's.
  private(set) var endpoint: RemoteURL?

  /// - Throws: ``FetchError/account(_:)``
  init(environment: [String: String]) throws(FetchError) {
    // An empty variable counts as none.
    let set = environment.filter { !$0.value.isEmpty }
    let home = Path(set["HOME"] ?? "/").appending(".aws")
    let name = set["AWS_PROFILE"] ?? "default"
    let config = try ProfileFile(set["AWS_CONFIG_FILE"].map { Path($0) } ?? home.appending("config"))
    let credentials = try ProfileFile(
      set["AWS_SHARED_CREDENTIALS_FILE"].map { Path($0) } ?? home.appending("credentials"))
    let sections = [
      credentials.section(name), name == "default" ? config.section(name) : nil, config.section("profile \(name)"),
    ].compactMap { $0 }
    if sections.isEmpty, set["AWS_PROFILE"] != nil {
      throw .account("there is no profile “\(FetchError.line(name))”, which AWS_PROFILE names")
    }
    func value(_ key: String) -> String? { sections.lazy.compactMap { $0[key] }.first }
    if let id = set["AWS_ACCESS_KEY_ID"] {
      guard let secret = set["AWS_SECRET_ACCESS_KEY"] else {
        throw .account("AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not")
      }
      keys = Keys(id: id, secret: secret, sessionToken: set["AWS_SESSION_TOKEN"])
    } else if let section = sections.first(where: { $0["aws_access_key_id"] != nil }) {
      guard let id = section["aws_access_key_id"], let secret = section["aws_secret_access_key"] else {
        throw .account("the profile “\(FetchError.line(name))” has a key, but no aws_secret_access_key")
      }
      keys = Keys(id: id, secret: secret, sessionToken: section["aws_session_token"])
    } else if let way = Self.otherWays.first(where: { value($0) != nil }) {
      throw .account(
        "the profile “\(FetchError.line(name))” gets its keys by \(way), which thumbjob cannot use; "
          + "“aws configure export-credentials --format env” prints variables that it reads")
    }
    for key in [keys?.id, keys?.secret, keys?.sessionToken] {
      if let key, !key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) {
        throw .account("a key has a character that no key has, such as a space")
      }
    }
    region = set["AWS_REGION"] ?? set["AWS_DEFAULT_REGION"] ?? value("region") ?? region
    guard Self.isRegion(region) else { throw .account("“\(FetchError.line(region))” is no region") }
    if let text = set["AWS_ENDPOINT_URL_S3"] ?? set["AWS_ENDPOINT_URL"] ?? value("endpoint_url") {
      do throws(RemoteURLError) { endpoint = try RemoteURL(parsing: text.utf8) } catch {
        throw .account("the endpoint must be an http or https URL: \(error)")
      }
      guard endpoint?.userInfo == nil, endpoint?.query == nil else {
        throw .account("the endpoint must be a URL without a user and a query")
      }
    }
  }

  /// Other ways to get keys, by the words of a profile for them.
  private static let otherWays = ["credential_process", "sso_session", "sso_start_url", "role_arn", "login_session"]

  static func isRegion(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 64 && text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || isLetterOrDigit($0) }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte.lowercasedASCII)
  }

  /// The URL of an object, or of its bucket if the key is empty.
  ///
  /// - Parameter query: encoded, and in the order of the signature.
  func url(of location: StoreLocation, in region: String, query: String?) -> RemoteURL {
    let key = PercentEncoding.encoded(location.key, keeping: "/".utf8)
    if let endpoint {
      let base = endpoint.path.hasSuffix("/") ? String(endpoint.path.dropLast()) : endpoint.path
      return RemoteURL(
        scheme: endpoint.scheme, host: endpoint.host, port: endpoint.port,
        path: "\(base)/\(location.bucket)" + (key.isEmpty ? "" : "/\(key)"), query: query)
    }
    let service = "s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
    // The certificate of Amazon covers names without dots below the service, and host names have small letters only.
    let isHost = location.bucket.utf8.allSatisfy { Self.isLetterOrDigit($0) && $0 == $0.lowercasedASCII || $0 == 0x2d }
    return RemoteURL(
      scheme: .https, host: isHost ? "\(location.bucket).\(service)" : service, port: nil,
      path: isHost ? "/\(key)" : "/\(location.bucket)" + (key.isEmpty ? "" : "/\(key)"), query: query)
  }
}
