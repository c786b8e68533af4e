/// The results of libcurl that are told apart.
///
/// *Source*: curl/curl.h, `CURLcode`.
enum CurlCode {
  static let couldNotConnect: Int32 = 7
  static let writeError: Int32 = 23

  /// - Parameters:
  ///   - server: the one that was asked last.
  ///   - received: the bytes in the file.
  static func error(
    _ code: Int32, _ text: String, from server: RemoteURL, received: Int, of total: Int?, _ limits: FetchLimits
  ) -> FetchError {
    switch code {
    case 1: .redirectRefused
    case 5: .cannotConnect(text)
    case 56 where text.contains("CONNECT"): refusal(by: text).map { .proxyRefused($0) } ?? .cannotConnect(text)
    case 6: .cannotResolve(server.host)
    case 7: .cannotConnect(text)
    // libcurl does not reliably tell how far a connection has come.
    case 28 where text.hasPrefix("Operation too slow"): .stalled(limits.stallTimeout)
    case 28: .connectTimedOut(limits.connectTimeout, isSecure: server.scheme == .https)
    case 47: .tooManyRedirects
    case 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91: .notTrusted(text)
    case 18, 52, 55, 56, 92, 95: .cutOff(received: received, of: total)
    case 27, 100: .badReply("its header is too long")
    case 35: isBroken(text) ? .cannotConnect(text) : .notTrusted(text)
    case 97: .cannotConnect(text)
    default: .badReply(text)
    }
  }

  /// The status with which a proxy refuses to make a connection, such as in “CONNECT tunnel failed, response 403”.
  private static func refusal(by text: String) -> Int? {
    text.split { !$0.isNumber }.compactMap { Int($0) }.first { (100...999).contains($0) }
  }

  /// Whether a handshake failed because the connection broke, rather than for what was said in it. An end of the
  /// connection has no reason of OpenSSL's.
  private static func isBroken(_ text: String) -> Bool {
    let signs = ["reset", "Broken pipe", "SSL_ERROR_SYSCALL", "unexpected eof", "reason(0)", "ZERO_RETURN"]
    return signs.contains { text.contains($0) }
  }
}
