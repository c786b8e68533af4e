import CCurl
import Foundation
import Locking

/// The transfers of libcurl, which one thread drives. Those that have no place yet wait in a line, in order: libcurl itself
/// would start those that wait for their host in any order.
///
/// *Concurrency*: only ``wake()`` may be called from any thread, at any time.
final class Loop: @unchecked Sendable {  // see above
  private let multi: OpaquePointer
  private let limits: FetchLimits
  private let userAgent: String
  /// The authorities of certificates that the environment names.
  private let authorities: (file: String?, folder: String?)
  /// The transfers that libcurl has. They are alive as long as it has them.
  private var kept: [ObjectIdentifier: Transfer] = [:]
  private var line: [Transfer] = []
  /// Whether libcurl's part is there. Guarded by its lock, which is held while that part is woken.
  private let isAlive = Locked(true)

  init(_ multi: OpaquePointer, _ limits: FetchLimits, userAgent: String) {
    (self.multi, self.limits, self.userAgent) = (multi, limits, userAgent)
    // An empty variable counts as none, as it does for curl.
    let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
    authorities = (environment["CURL_CA_BUNDLE"] ?? environment["SSL_CERT_FILE"], environment["SSL_CERT_DIR"])
  }

  /// Ends the wait of ``run()``. Does nothing after ``destroy()``.
  func wake() { isAlive.withLock { if $0 { ccurl_multi_wake(multi) } } }

  /// Waits for something to do, and does it.
  func run() {
    ccurl_multi_run(multi, 1000)
    removeEnded()
  }

  private func removeEnded() {
    kept = kept.filter { $0.value.handle != nil }
    startNext()
  }

  /// Begins a transfer as soon as there is a place.
  func begin(_ transfer: Transfer) {
    line.append(transfer)
    startNext()
  }

  /// Starts the transfers that have a place now, in order.
  private func startNext() {
    var hosts: [String: Int] = [:]
    for transfer in kept.values { hosts[transfer.target.authority, default: 0] += 1 }
    line.removeAll { transfer in
      let host = transfer.target.authority
      guard kept.count < limits.connections, hosts[host, default: 0] < limits.perHost else { return false }
      hosts[host, default: 0] += 1
      start(transfer)
      return true
    }
  }

  private func start(_ transfer: Transfer) {
    transfer.started()
    let signature: [String]
    do throws(FetchError) { signature = try transfer.sign() } catch { return transfer.ended(error) }
    let url = transfer.target
    let request = CRequest(
      url: url.text, method: transfer.request.method.rawValue, body: transfer.body, isS3: transfer.request.isS3,
      header: transfer.requestHeader + signature, userAgent: userAgent,
      userPassword: url.userInfo?.removingPercentEncoding,
      authoritiesFile: authorities.file, authoritiesFolder: authorities.folder)
    let callbacks = ccurl_callbacks(
      context: Unmanaged.passUnretained(transfer).toOpaque(),
      header: { context, line, length in
        line.withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
          Loop.transfer(context).read(UnsafeBufferPointer(start: bytes, count: length))
        }
      },
      body: { context, bytes, count in Loop.transfer(context).take(UnsafeRawBufferPointer(start: bytes, count: count))
      },
      may_connect: { context, address in Loop.transfer(context).mayConnect(to: address) },
      ended: { context, code, text in
        let transfer = Loop.transfer(context)
        // libcurl removes it.
        transfer.handle = nil
        transfer.ended(code, String(cString: text))
      })
    kept[ObjectIdentifier(transfer)] = transfer
    transfer.handle = request.with(limits) { request in
      withUnsafePointer(to: callbacks) { ccurl_multi_add(multi, request, $0) }
    }
    guard transfer.handle == nil else { return }
    kept[ObjectIdentifier(transfer)] = nil
    transfer.ended(.badReply("libcurl refuses the request"))
  }

  func goOn(_ transfer: Transfer) {
    if let handle = transfer.handle { ccurl_multi_continue(multi, handle) }
    removeEnded()
  }

  func remove(_ transfer: Transfer) {
    if let handle = transfer.handle { ccurl_multi_remove(multi, handle) }
    transfer.handle = nil
    transfer.ended(.cancelled)
    kept[ObjectIdentifier(transfer)] = nil
    line.removeAll { $0 === transfer }
    startNext()
  }

  /// Ends every transfer, and then libcurl's part.
  func destroy() {
    for transfer in line { transfer.ended(.cancelled) }
    line = []
    for transfer in kept.values { remove(transfer) }
    isAlive.withLock { $0 = false }
    ccurl_multi_destroy(multi)
  }

  private static func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  }
}

/// A request in the form of C.
private struct CRequest {
  let url: String
  let method: String
  let body: UnsafeRawBufferPointer
  /// Whether the request is signed for its URL, so that it goes nowhere else.
  let isS3: Bool
  let header: [String]
  let userAgent: String
  let userPassword, authoritiesFile, authoritiesFolder: String?

  func with<Result>(_ limits: FetchLimits, _ use: (UnsafePointer<ccurl_request>) -> Result) -> Result {
    let texts = [userPassword, authoritiesFile, authoritiesFolder].map { $0.flatMap { strdup($0) } }
    let lines = ([url, userAgent, method] + header).map { UnsafePointer(strdup($0)!) }
    defer {
      for text in texts { free(text) }
      for line in lines { free(UnsafeMutablePointer(mutating: line)) }
    }
    return Array(lines[3...]).withUnsafeBufferPointer { header in
      let request = ccurl_request(
        url: lines[0], headers: header.baseAddress, header_count: header.count, user_agent: lines[1],
        method: lines[2], body: body.baseAddress, body_size: body.count, is_path_literal: isS3, user_password: texts[0],
        authorities_file: texts[1], authorities_folder: texts[2],
        redirects: isS3 ? 0 : FetchLimits.redirects,
        connect_milliseconds: Int(limits.connectTimeout / .milliseconds(1)),
        stall_seconds: Int((limits.stallTimeout / .seconds(1)).rounded(.up)))
      return withUnsafePointer(to: request) { use($0) }
    }
  }
}
