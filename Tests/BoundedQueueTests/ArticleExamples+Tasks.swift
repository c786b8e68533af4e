import BoundedQueue
import Foundation

struct ServerBusy: Error {}

// The examples of the doc comments of `RetryPolicy` and `SharedResults`.

func loadPage(at url: URL, of host: String, on queue: BoundedOperationQueue) async throws -> Data {
  let policy = RetryPolicy(attempts: 5, firstDelay: .milliseconds(200)) { error in error is ServerBusy }
  let page = try await queue.result(retrying: policy) { attempt in
    ResultOperation(title: "page, attempt \(attempt)", key: host) { try await load(url) }
  }
  return page
}

func preview(of path: String, on queue: BoundedOperationQueue) async throws -> [UInt8] {
  let previews = SharedResults<String, [UInt8]>(queue)
  // A hundred requests for one photo make one preview.
  let preview = try await previews.value(for: path) {
    ResultOperation(title: "preview of \(path)") { try render(path) }
  }
  return preview
}

/// Stands for work of the reader's.
private func render(_ path: String) throws -> [UInt8] { Array(path.utf8.prefix(2)) }

/// Stands for a request of the reader's.
private func load(_ page: URL) async throws -> Data {
  switch page.path() {
  case "/missing": throw CocoaError(.fileNoSuchFile)
  case "/busy": throw ServerBusy()
  case "/endless": try await Task.sleep(for: .seconds(1000))
  default: break
  }
  return Data(page.path().utf8)
}
