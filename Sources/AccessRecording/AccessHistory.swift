#if DEBUG
import Locking

/// What is known of the accesses to a ``Shared`` value in this recording.
///
/// *Concurrency*: every member may be called from any thread.
@usableFromInline final class AccessHistory: Sendable {
  /// The states of section 2.2 of the paper. A value is made without a lock, and often only read afterwards, so that only
  /// changes by several threads are a mistake.
  private enum State {
    /// Nobody has used the value.
    case untouched
    /// One thread has used it.
    case exclusive(ThreadIdentity)
    /// Several threads have used it; none has changed it since the second one came.
    case shared
    /// Several threads have used it and at least one has changed it since.
    case modified
    /// It is reported.
    case reported
  }

  private struct Access {
    let file: StaticString
    let line: UInt
    let isWrite: Bool
    let thread: ThreadIdentity
    let held: [HeldLock]

    func isSame(as other: Access) -> Bool {
      file.utf8Start == other.file.utf8Start && line == other.line && isWrite == other.isWrite
        && thread === other.thread && held.map(\.number) == other.held.map(\.number)
    }

    /// The locks that guard against what this access does. A lock that is held together with readers guards no change.
    var guarding: Set<UInt64> { Set(held.filter { !isWrite || $0.isExclusive }.map(\.number)) }

    /// For the report.
    var described: UnguardedValue.Access {
      UnguardedValue.Access(
        place: "\(file):\(line)", isWrite: isWrite, thread: thread.name, locks: held.map(\.name))
    }
  }

  private struct Known {
    var recording = 0
    var state = State.untouched
    /// The locks held at all accesses since a second thread came; nil until then.
    var candidates: Set<UInt64>?
    /// Different accesses, the last ones.
    var accesses: [Access] = []
  }

  /// The accesses that are remembered as examples.
  private static let mostAccesses = 16

  private let type: any Any.Type
  private let file: StaticString
  private let line: UInt
  private let known = Locked(Known())

  @usableFromInline init(_ type: any Any.Type, file: StaticString, line: UInt) {
    (self.type, self.file, self.line) = (type, file, line)
  }

  @usableFromInline func record(isWrite: Bool, file: StaticString, line: UInt) {
    guard AccessRecorder.isOn.load(ordering: .relaxed) else { return }
    let recording = AccessRecorder.recordings.load(ordering: .relaxed)
    let access = Access(
      file: file, line: line, isWrite: isWrite, thread: .current, held: HeldLock.ofCurrentThread)
    let finding = known.withLock { known in
      if known.recording != recording { known = Known(recording: recording) }
      return Self.add(access, to: &known)
    }
    guard let (earlier, later) = finding else { return }
    let name = "Shared<\(type)> (\(self.file):\(self.line))"
    AccessRecorder.note(UnguardedValue(name: name, earlier: earlier.described, later: later.described))
  }

  /// The thread of the next access is the only one again.
  @usableFromInline func forget() {
    guard AccessRecorder.isOn.load(ordering: .relaxed) else { return }
    known.withLock { known in
      if case .reported = known.state { return }
      known = Known(recording: known.recording)
    }
  }

  /// - Returns: two accesses, if this one shows that the value has no guard.
  private static func add(_ access: Access, to known: inout Known) -> (earlier: Access, later: Access)? {
    let guarding = access.guarding
    defer { remember(access, in: &known) }
    switch known.state {
    case .reported: return nil
    case .untouched: known.state = .exclusive(access.thread)
    case .exclusive(let thread) where thread === access.thread: break
    case .exclusive: known.state = access.isWrite ? .modified : .shared
    case .shared: if access.isWrite { known.state = .modified }
    case .modified: break
    }
    switch known.state {
    case .shared, .modified: known.candidates = known.candidates?.intersection(guarding) ?? guarding
    default: break
    }
    guard case .modified = known.state, known.candidates?.isEmpty == true else { return nil }
    // That of another thread which has no lock in common with this one, or else the last one of another thread.
    let others = known.accesses.reversed().filter { $0.thread !== access.thread }
    let disjoint = others.first { guarding.isDisjoint(with: $0.guarding) && ($0.isWrite || access.isWrite) }
    guard let earlier = disjoint ?? others.first else { return nil }
    known.state = .reported
    return (earlier, access)
  }

  private static func remember(_ access: Access, in known: inout Known) {
    if let place = known.accesses.firstIndex(where: { $0.isSame(as: access) }) { known.accesses.remove(at: place) }
    known.accesses.append(access)
    // The last access of another thread must stay: without it, there would be no second example.
    guard known.accesses.count > mostAccesses else { return }
    let place = known.accesses.firstIndex { $0.thread === access.thread } ?? 0
    known.accesses.remove(at: place)
  }
}
#endif
