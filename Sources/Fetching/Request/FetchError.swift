import Files

/// Why a source could not be fetched. The description is one line, without the name of the source.
package enum FetchError: Error, Sendable, Equatable {
  /// The server answers with this status, and has nothing for us.
  case status(Int)
  case tooManyRedirects
  /// A redirect leads to something that is not fetched, such as a file of this machine.
  case redirectRefused
  /// The address is not public.
  case privateAddress(String)
  case cannotResolve(String)
  case cannotConnect(String)
  /// The connection is not safe.
  case notTrusted(String)
  /// - Parameter isSecure: whether the limit includes the handshake of a secure connection.
  case connectTimedOut(Duration, isSecure: Bool)
  /// A proxy makes no connection to the host, and answers with this status.
  case proxyRefused(Int)
  case stalled(Duration)
  /// The source has taken longer than this in all.
  case timedOut(Duration)
  /// The server has closed the connection too early.
  case cutOff(received: Int, of: Int?)
  /// - Parameter needed: nil if the server does not tell how long the source is.
  case tooLarge(needed: Int?, limit: Int)
  /// The contents are compressed or otherwise encoded, although this was not asked for.
  case encoded(String)
  /// Several connections to the host have failed in a row, the last one for this reason.
  case hostDown(String, reason: String)
  /// The server asks to wait so many seconds.
  case waitTooLong(Int, status: Int)
  /// The server wants no request before a time, and the caller wants to wait for it.
  case postponed(Postponement)
  /// The file for the bytes could not be made or written.
  case spool(Errno)
  /// libcurl cannot be used.
  case noLibrary(String)
  /// A store refuses the request, with this word; empty if it gives none.
  case refused(status: Int, code: String)
  /// The bucket is in another region than the request was signed for.
  case otherRegion(String)
  /// What the environment and the usual files say of S3 cannot be used.
  case account(String)
  case cancelled
  /// The answer breaks the rules of HTTP.
  case badReply(String)

  /// Whether the disk has no room for the bytes.
  package var isFullDisk: Bool {
    if case .refused(let status, let code) = self {
      return status == 507 || ["XMinioStorageFull", "QuotaExceeded", "StorageQuotaExceeded"].contains(code)
    }
    guard case .spool(let error) = self else { return false }
    return [.noSpace, .fileTooLarge, .diskQuotaExceeded].contains(error)
  }

  /// Whether every further request to this place would fail, too.
  package var concernsAll: Bool {
    switch self {
    case .refused where isFullDisk: true
    case .refused(_, let code):
      [
        "NoSuchBucket", "AccessDenied", "AllAccessDisabled", "InvalidAccessKeyId", "SignatureDoesNotMatch",
        "ExpiredToken", "TokenRefreshRequired", "InvalidToken", "RequestTimeTooSkewed",
      ].contains(code)
    case .privateAddress, .notTrusted, .noLibrary, .account, .otherRegion, .hostDown: true
    default: false
    }
  }

  /// Whether another try may succeed.
  var mayBeTemporary: Bool {
    switch self {
    case .status(let code), .proxyRefused(let code):
      [408, 425, 429].contains(code) || (500...599).contains(code) && ![501, 505, 507].contains(code)
    case .refused(let status, let code):
      // 409: another request for the same key is under way.
      status == 409 || FetchError.status(status).mayBeTemporary
        || ["RequestTimeout", "SlowDown", "InternalError"].contains(code)
    case .cannotResolve, .cannotConnect, .connectTimedOut, .stalled, .cutOff: true
    case .tooManyRedirects, .redirectRefused, .privateAddress, .notTrusted, .timedOut, .tooLarge, .encoded, .hostDown,
      .waitTooLong, .postponed, .spool, .noLibrary, .cancelled, .badReply, .otherRegion, .account:
      false
    }
  }

  /// Whether this may be the answer of a server that cannot send parts of a source.
  var mayMeanNoParts: Bool {
    switch self {
    case .badReply: true
    case .status(let code): [400, 405, 412, 416, 501].contains(code)
    case .refused(let code, _): [416, 501].contains(code)
    default: false
    }
  }

  /// Whether there was no connection to the host.
  var isUnreachable: Bool {
    switch self {
    case .cannotResolve, .cannotConnect, .connectTimedOut: true
    case .proxyRefused(let code): code >= 500
    default: false
    }
  }
}

extension FetchError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .status(let code):
      switch code {
      case 401, 407: "the server wants a login (status \(code))"
      case 403: "the server forbids it (status 403)"
      case 404, 410: "the server has no such file (status \(code))"
      case 429: "the server has got too many requests (status 429)"
      case 500...599: "the server has a fault (status \(code))"
      default: "the server answers with status \(code)"
      }
    case .tooManyRedirects: "more than \(FetchLimits.redirects) redirects"
    case .redirectRefused:
      "a redirect leads to something that is not fetched: only http and https are, and from https only https"
    case .privateAddress(let address): "leads to \(address), which is not a public address"
    case .cannotResolve(let host): "the address of \(host) cannot be found"
    case .cannotConnect(let reason): "no connection: \(reason)"
    case .notTrusted(let reason): "the connection cannot be trusted: \(reason)"
    case .connectTimedOut(let limit, let isSecure): "no \(isSecure ? "secure " : "")connection within \(limit)"
    case .proxyRefused(407): "the proxy wants a login (status 407)"
    case .proxyRefused(let code): "the proxy makes no connection (status \(code))"
    case .stalled(let limit): "the server has sent nothing for \(limit)"
    case .timedOut(let limit): "not there within \(limit)"
    case .cutOff(let received, let total?):
      "the server has closed the connection after \(received) of \(total) bytes"
    case .cutOff(let received, nil): "the connection broke after \(received) bytes"
    case .tooLarge(let needed?, let limit): "has \(needed) bytes, and the limit is \(ByteCount.limit(limit))"
    case .tooLarge(nil, let limit): "has more bytes than the limit, \(ByteCount.limit(limit))"
    case .encoded(let encoding): "the server has encoded it as \(encoding), although that was not asked for"
    case .hostDown(let host, let reason): "not tried, because \(host) did not answer several times (\(reason))"
    case .waitTooLong(let seconds, let status):
      "the server asks to wait for \(seconds) seconds (status \(status)); the next run may try again"
    case .postponed(let postponement): "\(postponement.host) wants no request now"
    case .spool(let error): "cannot be kept on disk: \(systemText(error.rawValue))"
    case .noLibrary(let reason): "nothing can be fetched: \(reason)"
    case .refused(let status, let code): Self.sentence(status, code)
    case .otherRegion(let region): "the bucket is in \(region); set AWS_REGION to it"
    case .account(let reason): "the settings of S3 cannot be used: \(reason)"
    case .cancelled: "the fetch was cancelled"
    case .badReply(let reason): "the server's answer is not valid: \(reason)"
    }
  }

  /// What a refusal of a store means.
  ///
  /// *Source*: Amazon S3 API Reference, Error Responses.
  private static func sentence(_ status: Int, _ code: String) -> String {
    let sentence: String? =
      switch code {
      case "NoSuchBucket": "there is no such bucket"
      case "NoSuchKey": "there is no such object"
      case "AccessDenied", "AllAccessDisabled": "the access is denied"
      case "InvalidAccessKeyId": "the access key is not known there"
      case "SignatureDoesNotMatch": "the signature is wrong, mostly because the secret key is"
      case "ExpiredToken", "TokenRefreshRequired": "the session token has expired"
      case "InvalidToken": "the session token is not valid"
      case "RequestTimeTooSkewed": "the clock of this machine is wrong"
      case "InvalidObjectState": "it is in an archive, and must be restored first"
      case "SlowDown": "there are too many requests"
      default: nil
      }
    guard let sentence else { return FetchError.status(status).description + (code.isEmpty ? "" : ", \(code)") }
    return "\(sentence) (status \(status), \(code))"
  }

  /// A text from libcurl or a server as one short line of printable ASCII characters.
  static func line(_ text: String) -> String {
    String(decoding: text.utf8.prefix(200).map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}
