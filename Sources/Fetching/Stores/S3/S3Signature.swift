import CCurl
import Foundation

/// Signs requests to S3. libcurl's own signature is not used: up to now it differs between versions, and the one in Debian 12
/// does not tell the hash of the body, without which the services refuse it.
///
/// *Source*: Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header" (Signature Version 4).
struct S3Signature {
  let keys: S3Account.Keys
  let region: String
  /// In seconds since 1970.
  let time: Int

  /// The lines that a request gets.
  ///
  /// - Parameters:
  ///   - header: lines of the request. Content-Type, and those whose names begin with `x-amz-`, are signed.
  /// - Throws: ``FetchError/noLibrary(_:)``
  func lines(
    method: String, url: RemoteURL, header: [String], body: [UInt8]
  ) throws(FetchError) -> [String] {
    let (date, moment) = Self.texts(of: time)
    let bodyHash = Self.text(try Self.hash(body))
    var own = ["x-amz-content-sha256: \(bodyHash)", "x-amz-date: \(moment)"]
    if let token = keys.sessionToken { own.append("x-amz-security-token: \(token)") }
    let signed =
      (header.filter { $0.hasPrefix("x-amz-") || $0.hasPrefix("Content-Type:") } + own + ["host: \(url.authority)"]).map
    { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (name: parts[0].lowercased(), value: parts.last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
    }.sorted { $0.name < $1.name }
    let names = signed.map(\.name).joined(separator: ";")
    let request =
      ([method, url.path, url.query ?? ""] + signed.map { "\($0.name):\($0.value)" } + ["", names, bodyHash])
      .joined(separator: "\n")
    let scope = "\(date)/\(region)/s3/aws4_request"
    let text = "AWS4-HMAC-SHA256\n\(moment)\n\(scope)\n\(Self.text(try Self.hash(of: request)))"
    var key = Array("AWS4\(keys.secret)".utf8)
    for part in [date, region, "s3", "aws4_request"] { key = try Self.hash(of: part, key: key) }
    let signature = Self.text(try Self.hash(of: text, key: key))
    return own + [
      "Authorization: AWS4-HMAC-SHA256 Credential=\(keys.id)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
    ]
  }

  /// The day as `20130524`, and the second as `20130524T000000Z`.
  private static func texts(of time: Int) -> (day: String, second: String) {
    var (seconds, parts) = (time_t(time), tm())
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32, _ count: Int = 2) -> String {
      let text = "\(number)"
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let day = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1) + digits(parts.tm_mday)
    return (day, day + "T" + digits(parts.tm_hour) + digits(parts.tm_min) + digits(parts.tm_sec) + "Z")
  }

  private static func text(_ hash: [UInt8]) -> String {
    hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func hash(of text: String, key: [UInt8]? = nil) throws(FetchError) -> [UInt8] {
    return try hash(Array(text.utf8), key: key)
  }

  private static func hash(_ bytes: [UInt8], key: [UInt8]? = nil) throws(FetchError) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: Int(CCURL_HASH_SIZE))
    let isDone = ccurl_hash(key, key?.count ?? 0, bytes, bytes.count, &hash)
    guard isDone else { throw .noLibrary("libcrypto, which signs requests to S3, cannot be loaded") }
    return hash
  }
}
