import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers the requests of a URL session without a network: the answer is the last part of the path. The answer to a request
/// of `nothing` is empty, a request of `fails` fails, and one of `waits` is never answered.
public final class CannedAnswers: URLProtocol {
  public static func url(_ path: String) -> URL {
    guard let url = URL(string: "canned://answers/\(path)") else { preconditionFailure("“\(path)” is part of a URL") }
    return url
  }

  public override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "canned" }
  public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  public override func startLoading() {
    guard let client, let url = request.url else { return }
    switch url.lastPathComponent {
    case "waits": break
    case "fails": client.urlProtocol(self, didFailWithError: URLError(.badServerResponse))
    case let answer:
      guard let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil) else {
        return
      }
      client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      if answer != "nothing" { client.urlProtocol(self, didLoad: Data(answer.utf8)) }
      client.urlProtocolDidFinishLoading(self)
    }
  }

  public override func stopLoading() {}
}
