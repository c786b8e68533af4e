/// The results of libcurl that are told apart.
///
/// *Source*: curl/curl.h, `CURLcode`.
enum CurlCode {
  static let couldNotConnect: Int32 = 7
  static let writeError: Int32 = 23

  /// - Parameters:
  ///   - isConnected: whether there was a connection.
  ///   - received: the bytes in the file.
  static func error(
    _ code: Int32, _ text: String, isConnected: Bool, host: String, received: Int, of total: Int?, _ limits: FetchLimits
  ) -> FetchError {
    switch code {
    case 1: .redirectRefused
    case 5, 6: .cannotResolve(host)
    case 7: .cannotConnect(text)
    case 28: isConnected ? .stalled(limits.stallTimeout) : .connectTimedOut(limits.connectTimeout)
    case 47: .tooManyRedirects
    case 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91: .notTrusted(text)
    case 18, 52, 55, 56, 92, 95: .cutOff(received: received, of: total)
    case 27, 100: .badReply("its header is too long")
    case 35: isConnected ? .notTrusted(text) : .cannotConnect(text)
    default: .badReply(text)
    }
  }
}
