import CCurl
import Foundation
import Locking

/// The transfers of libcurl, which one thread drives. Those that have no place yet wait in a line, in order: libcurl itself
/// would start those that wait for their host in any order.
///
/// *Concurrency*: ``wake()`` may be called from any thread, at any time. Everything else is called on the thread of the
/// transfers, to which they are confined.
final class Loop: Sendable {
  private struct Transfers {
    /// Those that libcurl has. They are alive as long as it has them.
    var kept: [ObjectIdentifier: Transfer] = [:]
    var line: [Transfer] = []
  }

  /// Only the thread of the transfers passes it to libcurl, except to wake that thread.
  private nonisolated(unsafe) let multi: OpaquePointer
  private let limits: FetchLimits
  private let userAgent: String
  /// The authorities of certificates that the environment names.
  private let authorities: (file: String?, folder: String?)
  private let transfers = Confined(Transfers())
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
    transfers.withValue { removeEnded(&$0) }
  }

  private func removeEnded(_ transfers: inout Transfers) {
    transfers.kept = transfers.kept.filter { $0.value.handle != nil }
    startNext(&transfers)
  }

  /// Begins a transfer as soon as there is a place.
  func begin(_ transfer: Transfer) {
    transfers.withValue { transfers in
      transfers.line.append(transfer)
      startNext(&transfers)
    }
  }

  /// Starts the transfers that have a place now, in order.
  private func startNext(_ transfers: inout Transfers) {
    var hosts: [String: Int] = [:]
    for transfer in transfers.kept.values { hosts[transfer.target.authority, default: 0] += 1 }
    transfers.line = transfers.line.filter { transfer in
      let host = transfer.target.authority
      guard transfers.kept.count < limits.connections, hosts[host, default: 0] < limits.perHost else { return true }
      hosts[host, default: 0] += 1
      start(transfer, &transfers)
      return false
    }
  }

  private func start(_ transfer: Transfer, _ transfers: inout Transfers) {
    transfer.started()
    let signature: [String]
    do throws(FetchError) { signature = try transfer.sign() } catch { return transfer.ended(error) }
    let url = transfer.target
    let request = CRequest(
      url: url.text, method: transfer.request.method.rawValue, body: transfer.body,
      isOfStore: transfer.request.isOfStore,
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
    transfers.kept[ObjectIdentifier(transfer)] = transfer
    transfer.handle = request.with(limits) { request in
      withUnsafePointer(to: callbacks) { ccurl_multi_add(multi, request, $0) }
    }
    guard transfer.handle == nil else { return }
    transfers.kept[ObjectIdentifier(transfer)] = nil
    transfer.ended(.badReply("libcurl refuses the request"))
  }

  func goOn(_ transfer: Transfer) {
    transfers.withValue { transfers in
      if let handle = transfer.handle { ccurl_multi_continue(multi, handle) }
      removeEnded(&transfers)
    }
  }

  func remove(_ transfer: Transfer) { transfers.withValue { remove(transfer, &$0) } }

  private func remove(_ transfer: Transfer, _ transfers: inout Transfers) {
    if let handle = transfer.handle { ccurl_multi_remove(multi, handle) }
    transfer.handle = nil
    transfer.ended(.cancelled)
    transfers.kept[ObjectIdentifier(transfer)] = nil
    transfers.line.removeAll { $0 === transfer }
    startNext(&transfers)
  }

  /// Ends every transfer, and then libcurl's part.
  func destroy() {
    transfers.withValue { transfers in
      for transfer in transfers.line { transfer.ended(.cancelled) }
      transfers.line = []
      for transfer in transfers.kept.values { remove(transfer, &transfers) }
    }
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
  let isOfStore: Bool
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
        method: lines[2], body: body.baseAddress, body_size: body.count, is_path_literal: isOfStore,
        user_password: texts[0],
        authorities_file: texts[1], authorities_folder: texts[2],
        redirects: isOfStore ? 0 : FetchLimits.redirects,
        connect_milliseconds: Int(limits.connectTimeout / .milliseconds(1)),
        stall_seconds: Int((limits.stallTimeout / .seconds(1)).rounded(.up)))
      return withUnsafePointer(to: request) { use($0) }
    }
  }
}
