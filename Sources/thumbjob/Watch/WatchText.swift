import Files
import Foundation
import Jobs

/// What a watch says about its folders, as lines for people.
enum WatchText {
  static func text(_ note: WatchNote) -> String {
    switch note {
    case .ready(let folders): "watching \(Units.count(folders, "folder"))"
    case .polling(let path, let reason, let pause):
      "\(path.printable): \(why(reason))looking for changes every \(Units.time(pause))\(wayOn(reason))"
    case .linked(let path, let pause):
      "\(path.printable): has further names (hard links); what is written by these is found within "
        + "\(Units.time(pause)), as with all such photos"
    case .overflow: "too many changes at once, and some were lost; walking all folders again"
    case .notSwept(let refusal): "thumbnails whose photos went unseen stay, because \(refusal)"
    case .gone(let path): "\(path.printable): gone, or not mounted; its thumbnails stay until it is back"
    case .back(let path): "\(path.printable): there again"
    }
  }

  private static func why(_ reason: WatchNote.PollReason) -> String {
    switch reason {
    case .wanted: ""
    case .remote(let name): "is on \(name), where others change files unseen; "
    case .limit(let folders): "has \(folders) folders, more than may be watched\(limit.map { " (\($0))" } ?? ""); "
    case .linked(let count):
      "has more than \(Units.count(count, "photo")) with further names (hard links), whose changes go unseen; "
    case .failed(let error): "cannot be watched: \(error); "
    }
  }

  private static func wayOn(_ reason: WatchNote.PollReason) -> String {
    guard case .limit(let folders) = reason else { return "" }
    // Other programs of the user watch folders, too.
    return "; to watch it: sysctl fs.inotify.max_user_watches=\(max(2 * folders, 65_536))"
  }

  /// The most folders that a user may watch.
  private static var limit: Int? {
    readFile("/proc/sys/fs/inotify/max_user_watches", limit: 32)
      .flatMap { Int(String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) }
  }

  /// What a watch has done, and what waits; nil if it has done nothing.
  ///
  /// - Parameter last: an earlier tally, from which it counts; nil for none.
  static func digest(_ status: JobStatus, since last: JobTally?) -> String? {
    let now = status.tally
    let counts: [(KeyPath<JobTally, Int>, String)] = [(\.made, "made"), (\.removed, "removed"), (\.failed, "failed")]
    let parts = counts.compactMap { path, word in
      let count = now[keyPath: path] - (last?[keyPath: path] ?? 0)
      return count > 0 ? "\(count) \(word)" : nil
    }
    if parts.isEmpty { return nil }
    let waiting = status.queue.counters.waiting + (status.watch?.waiting ?? 0)
    return parts.joined(separator: ", ") + (waiting > 0 ? "; \(waiting) waiting" : "")
  }

  /// One line about the state, for a service manager.
  static func status(_ status: JobStatus) -> String {
    let (tally, queue, watch) = (status.tally, status.queue.counters, status.watch)
    var parts = ["watching \(Units.count(watch?.folders ?? 0, "folder"))"]
    if let polled = watch?.polledFolders, polled > 0 { parts.append("polling \(polled)") }
    if queue.running + queue.waiting > 0 { parts.append("\(queue.running) running, \(queue.waiting) waiting") }
    parts.append("\(tally.made) made, \(tally.removed) removed")
    if tally.failed > 0 { parts.append("\(tally.failed) failed") }
    return parts.joined(separator: "; ")
  }
}
