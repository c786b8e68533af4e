import Foundation

/// What the system knows of another process.
enum ProcessState {
  /// Whether it stands still, by Ctrl-Z or a debugger; false where the system does not tell.
  static func isStopped(_ pid: Int) -> Bool {
    let line = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    // Behind the name in parentheses, which may hold anything (proc_pid_stat(5)).
    let state = line[(line.lastIndex(of: ")") ?? line.startIndex)...].dropFirst(2).first
    return state == "T" || state == "t"
  }
}
