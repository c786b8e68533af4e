import CCurl
import Files
import Foundation
import Locking

/// One try to fetch a source: what its thread asks for, and what the thread of the transfers has found.
///
/// *Concurrency*: the thread of the transfers calls everything but ``wait(upTo:)``, ``snapshot``, ``answer(_:)`` and
/// ``stop()``, which the waiting thread calls.
final class Transfer: @unchecked Sendable {  // `shared` has a lock; the rest belongs to the thread of the transfers
  /// What both threads see.
  struct Shared {
    var stage = FetchStage.waitingForConnection
    /// What the server tells of a source of which something is known; the transfer waits for the answer.
    var question: Validators?
    var isAnswered = false
    /// Whether the server sends a source from its beginning, although the rest of it was asked for.
    var isRestarted = false
    /// Bytes in the file.
    var received = 0
    /// The bytes of which it is known whether they are enough.
    var judged = 0
    /// Whether no more is asked for that.
    var needsAll = false
    /// The bytes of the whole source; nil if the server does not tell.
    var total: Int?
    /// Nil if parts of the source cannot be asked for.
    var version: SourceVersion?
    /// Whether the server sends the part that was asked for.
    var isPart = false
    var ending: Ending?
    var isStopped = false
  }

  enum Ending {
    case complete(Validators)
    case unchanged(Validators)
    case failed(FetchError, retryAfter: Int?)
  }

  let request: FetchRequest
  /// What is requested: the URL of the request, or that of its object.
  let target: RemoteURL
  let file: SpoolFile
  /// Bytes that an earlier try has fetched, and what identifies them; where the part begins that is asked for.
  let offset: Int
  /// What is asked for; nil for all from the offset on.
  private let part: AskedPart?
  private let limits: FetchLimits
  /// The most bytes.
  private let largest: Int
  private let allowed: AllowedAddresses
  private let onRoom: @Sendable (Transfer) -> Void
  private let shared: Locked<Shared>
  private let wake = TimedSignal()

  // Of the thread of the transfers.
  private var header = ReplyHeader()
  private var failure: FetchError?
  /// An address of the host that may not be connected to. Another one may be good.
  private var refused: String?
  private var drained = 0
  /// Where the part that the server sends ends; nil if it sends all.
  private var partEnd: Int?
  /// The beginning of the text of a failure.
  private var failureText: [UInt8] = []
  /// What an answer of a store means; nil for a server that is none.
  private let refusal: (@Sendable (ReplyHeader, [UInt8]) -> FetchError?)?
  /// What PUT sends, as long as libcurl may read it.
  let body: UnsafeRawBufferPointer
  /// Where the part that the server sends ends, as it says; nil if it sends the whole source.
  private var end: Int?
  private var isOtherVersion = false
  /// Whether the whole header has come, and the bytes that follow it are of the source.
  private var isAccepted = false
  /// The server that answers, after redirects another one.
  private var server: RemoteURL
  /// The lines that the request has besides the usual ones. Set before the transfer begins.
  var requestHeader: [String] = []
  /// Makes the lines of the signature, when the transfer begins: they are valid only for a while. Set before.
  var signature: @Sendable () -> Swift.Result<[String], FetchError> = { .success([]) }
  /// Called, on the thread of the transfers, with an error and the seconds for which the server asks to wait. Set before.
  var onRetryAfter: @Sendable (FetchError, Int) -> Void = { _, _ in }
  /// What an earlier try was told of the source of which ``offset`` bytes are there. Set before the transfer begins.
  var earlier: (validators: Validators, total: Int?) = (Validators(), nil)
  /// The handle; nil before the transfer begins, and after it has ended.
  var handle: OpaquePointer?

  /// The most bytes that are read before it is known whether those before them were enough.
  private static let mostUnjudged = 64 << 10
  /// The most bytes of the text of a failure that are looked at.
  private static let mostToldOfFailure = 8 << 10
  /// The most bytes of the text of a failure that are read, so that the connection can be used again.
  private static let mostDrained = 64 << 10

  /// - Parameters:
  ///   - part: what is asked for; nil for all from the offset on.
  ///   - onRoom: called on any thread when the transfer can go on.
  init(
    _ request: FetchRequest, to target: RequestTarget, into file: SpoolFile, from offset: Int,
    part: AskedPart? = nil, _ limits: FetchLimits, _ allowed: AllowedAddresses,
    onRoom: @escaping @Sendable (Transfer) -> Void
  ) {
    (self.target, refusal, self.part) = (target.url, target.refusal, part)
    largest = request.largest ?? limits.largest
    let body = UnsafeMutableRawBufferPointer.allocate(byteCount: request.body.count, alignment: 1)
    body.copyBytes(from: request.body)
    self.body = UnsafeRawBufferPointer(body)
    (self.request, self.file, self.offset, self.limits) = (request, file, offset, limits)
    server = target.url
    (self.allowed, self.onRoom) = (allowed, onRoom)
    shared = Locked(Shared(received: offset, judged: offset))
  }

  deinit { body.deallocate() }

  // MARK: The waiting thread

  var snapshot: Shared { shared.withLock { $0 } }

  /// Waits until something has changed.
  func wait(upTo limit: Duration) { _ = wake.wait(upTo: limit) }

  /// Answers the question whether the source is needed.
  func answer() {
    shared.withLock { ($0.question, $0.isAnswered) = (nil, true) }
    onRoom(self)
  }

  /// Tells that the bytes so far are not enough, so that more may come.
  ///
  /// - Parameter needsAll: whether all bytes are needed.
  func judged(_ count: Int, needsAll: Bool) {
    let waits = shared.withLock { shared in
      defer { (shared.judged, shared.needsAll) = (count, shared.needsAll || needsAll) }
      return !shared.needsAll && shared.received - shared.judged >= Self.mostUnjudged
    }
    if waits { onRoom(self) }
  }

  /// Has no byte written any more. What is being written is written before it returns.
  func stop() { shared.withLock { $0.isStopped = true } }

  // MARK: The thread of the transfers

  private func change(_ body: (inout Shared) -> Void) {
    shared.withLock { body(&$0) }
    wake.signal()
  }

  func read(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    do throws(FetchError) {
      guard try header.read(line, now: Int(Date().timeIntervalSince1970)) else { return true }
      if header.isRedirect, !request.isOfStore { try refusePrivateRedirect() } else { try begin() }
      return true
    } catch {
      failure = failure ?? error
      return false
    }
  }

  /// Refuses a redirect to a literal address that is not allowed, and each that libcurl could understand differently.
  /// Without a proxy, the address is checked again when the connection is made; a proxy would connect to any.
  private func refusePrivateRedirect() throws(FetchError) {
    guard let location = header.location, let next = server.redirected(to: location) else { throw .redirectRefused }
    if let address = allowed.refusal(of: next) { throw .privateAddress(address) }
    server = next
  }

  /// Decides on the body, once the header is complete.
  private func begin() throws(FetchError) {
    guard header.status == 200 || header.status == 206 else { return }
    if let encoding = header.encoding { throw .encoded(encoding) }
    var total = header.length
    if header.status == 206, let part {
      total = try begin(part)
    } else if header.status == 206 {
      guard offset > 0, let range = header.range, range.start == offset, range.total.map({ range.end <= $0 }) ?? true
      else { throw .badReply("it has another part of the source than was asked for") }
      // Without any length, a part is not known to be the whole rest.
      guard isOfEarlierVersion(total: range.total), let length = range.total ?? earlier.total else {
        isOtherVersion = true
        throw .badReply("it has a part of another version")
      }
      (total, end) = (length, range.end)
    } else if offset > 0 || part?.version != nil {
      try file.truncate(to: 0)
    }
    if request.method == .get, let total, total > largest { throw .tooLarge(needed: total, limit: largest) }
    let isPart = partEnd != nil
    let received = isPart ? offset : file.size
    let condition = isPart || header.acceptsRanges || header.status == 206 ? header.condition : nil
    change { shared in
      (shared.total, shared.received, shared.judged) = (total, received, received)
      (shared.isPart, shared.needsAll) = (isPart, isPart || shared.needsAll)
      shared.version = condition.flatMap { condition in total.map { SourceVersion(condition: condition, total: $0) } }
      shared.isRestarted = !isPart && offset > 0 && received == 0
    }
    isAccepted = true
  }

  /// Whether what the server tells of a part agrees with what it has told before. Not every server heeds `If-Range`, but each
  /// must send the entity tag with a part that it would send with the whole.
  ///
  /// *Source*: RFC 9110, 15.3.7.
  private func isOfEarlierVersion(total: Int?) -> Bool {
    let (now, before) = (header.validators, earlier.validators)
    func agrees(_ now: Int?, with before: Int?) -> Bool { now == nil || before == nil || now == before }
    return now.entityTag == before.entityTag && agrees(now.lastModified, with: before.lastModified)
      && agrees(total, with: earlier.total)
  }

  /// Checks that the server sends the part that was asked for.
  ///
  /// - Returns: the bytes of the whole source.
  private func begin(_ part: AskedPart) throws(FetchError) -> Int {
    guard let range = header.range, let total = range.total, range.start == part.range.lowerBound,
      range.end <= min(part.range.upperBound, total), header.length.map({ $0 == range.end - range.start }) ?? true
    else { throw .badReply("it has another part of the source than was asked for") }
    if let version = part.version, header.condition != version.condition || !isOfEarlierVersion(total: total) {
      throw .badReply("it has a part of another version")
    }
    partEnd = range.end
    return total
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> ccurl_answer {
    guard header.status == 200 || header.status == 206 else {
      drained += bytes.count
      failureText += bytes.prefix(max(0, Self.mostToldOfFailure - failureText.count))
      return drained > Self.mostDrained ? CCURL_STOP : CCURL_TAKEN
    }
    if request.unless != nil, !shared.withLock({ $0.isAnswered }) {
      change { $0.question = header.validators }
      return CCURL_PAUSE
    }
    guard hasRoom else { return CCURL_PAUSE }
    defer { wake.signal() }
    return shared.withLock { shared -> ccurl_answer in
      if shared.isStopped { return CCURL_STOP }
      if !shared.needsAll, shared.received - shared.judged >= Self.mostUnjudged { return CCURL_PAUSE }
      do throws(FetchError) {
        if let end = [shared.total, end, partEnd].compactMap({ $0 }).min(), shared.received + bytes.count > end {
          throw .badReply("it is longer than it says")
        }
        if shared.received + bytes.count > largest { throw .tooLarge(needed: nil, limit: largest) }
        if partEnd == nil { try file.append(bytes) } else { try file.write(bytes, at: shared.received) }
        shared.received += bytes.count
        shared.stage = .receiving
        return CCURL_TAKEN
      } catch {
        failure = error
        return CCURL_STOP
      }
    }
  }

  /// Whether the file has its space. If not, the transfer goes on once it has.
  private var hasRoom: Bool {
    let total = shared.withLock { $0.total } ?? largest
    // Of a source in parts, only those on the disk count.
    let bytes = partEnd.map { file.held.union(RangeSet(offset..<$0)).byteCount } ?? total
    if file.reserve(bytes, grant: { [weak self] in self.map { $0.onRoom($0) } }) { return true }
    change { $0.stage = .waitingForSpace }
    return false
  }

  /// Refuses to connect to an address that is not allowed, also after a redirect.
  func mayConnect(to address: UnsafePointer<sockaddr>) -> Bool {
    guard let address = allowed.refusal(of: address) else { return true }
    refused = address
    return false
  }

  /// The transfer has ended by itself.
  ///
  /// - Parameters:
  ///   - code: a `CURLcode`.
  ///   - text: libcurl's description.
  func ended(_ code: Int32, _ text: String) {
    let ending: Ending
    let status = header.status
    if let failure {
      ending = .failed(failure, retryAfter: nil)
    } else if let refused, code == CurlCode.couldNotConnect {
      ending = .failed(.privateAddress(refused), retryAfter: nil)
    } else if status != 0, code == 0, !header.isComplete {
      // For libcurl, a header that breaks off is a header.
      ending = .failed(.cutOff(received: file.size, of: earlier.total), retryAfter: nil)
    } else if status == 304, code == 0, request.unless != nil {
      ending = .unchanged(header.validators)
    } else if status == 416, part == nil, offset > 0, header.wholeSize == offset, isOfEarlierVersion(total: offset) {
      // The earlier try broke after its last byte.
      ending = .complete(validators)
    } else if let failure = refusal?(header, failureText) {
      ending = .failed(failure, retryAfter: header.retryAfter)
    } else if request.method == .put, status == 201 || status == 204, code == 0 {
      ending = .complete(validators)
    } else if status >= 200, status != 200, status != 206, code == 0 || code == CurlCode.writeError {
      ending = .failed(header.isRedirect ? .tooManyRedirects : .status(status), retryAfter: header.retryAfter)
    } else if code != 0 {
      let received = shared.withLock { $0.received }
      let total = shared.withLock { $0.total }
      let error = CurlCode.error(
        code, FetchError.line(text), from: server, received: received, of: total, limits)
      // Without a status line, the answer is what is not supported.
      ending = .failed(
        error == .redirectRefused && status == 0 ? .badReply("it does not begin as HTTP/1 does") : error,
        retryAfter: nil)
    } else if let partEnd {
      let (received, total) = shared.withLock { ($0.received, $0.total) }
      ending =
        received == partEnd
        ? .complete(validators) : .failed(.cutOff(received: received, of: total), retryAfter: nil)
    } else if request.method == .get, let total = shared.withLock({ $0.total }) ?? end, file.size != total {
      ending = .failed(.cutOff(received: file.size, of: total), retryAfter: nil)
    } else if status == 0 {
      ending = .failed(.badReply("it does not begin as HTTP/1 does"), retryAfter: nil)
    } else {
      ending = .complete(validators)
    }
    if case .failed(let error, let seconds?) = ending { onRetryAfter(error, seconds) }
    change { $0.ending = ending }
  }

  func sign() throws(FetchError) -> [String] { try signature().get() }

  /// The transfer has got its place.
  func started() { change { $0.stage = .connecting } }

  /// The transfer was removed, or could not begin.
  func ended(_ error: FetchError) { change { $0.ending = $0.ending ?? .failed(error, retryAfter: nil) } }

  /// Whether the host has answered. Read it after the end.
  var hasAnswered: Bool { header.status != 0 }

  /// What the server has told. A part comes with less than the whole, so this includes what was told before. Read it after
  /// the end.
  var validators: Validators {
    let (new, old) = (header.validators, earlier.validators)
    if offset == 0 || hasAnsweredWhole { return new }
    // A server need not repeat the time.
    return isAccepted ? Validators(entityTag: new.entityTag, lastModified: new.lastModified ?? old.lastModified) : old
  }

  /// The bytes of the whole source; nil if it is not known. Read it after the end.
  var total: Int? { snapshot.total ?? (hasAnsweredWhole ? nil : earlier.total) }

  /// Whether the server has not got the rest of what an earlier try has fetched. Read it after the end.
  var lacksRest: Bool { offset > 0 && (header.status == 416 || isOtherVersion) }

  /// Whether the host has sent the source from its beginning. Read it after the end.
  var hasAnsweredWhole: Bool { isAccepted && header.status == 200 }

  /// What a store keeps with the object. Read it after the end.
  var metadata: [String: String] { header.metadata }

  /// What identifies the bytes so far, to go on with them; nil if the next try must begin anew. Read it after the end.
  var resumption: String? { offset > 0 || hasAnsweredWhole ? validators.ofBytes : nil }
}
