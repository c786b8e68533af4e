import Foundation

/// How many processors this process may use: those it may run on, or fewer where its cgroup may use less time.
public enum ProcessorCount {
  /// At least 1. A quota of one and a half processors counts as 2: the half would else be wasted.
  ///
  /// - Source: proc(5), `status`; the kernel's cgroup-v2 (`cpu.max`) and sched-bwc (`cpu.cfs_quota_us`) documents.
  public static func usable() -> Int {
    let online = ProcessInfo.processInfo.activeProcessorCount
    return max(1, min(online, allowed(below: "/") ?? .max, quota(below: "/") ?? .max))
  }

  /// The lowest limit of processor time on the way from the process's cgroup up, in whole processors rounded up; nil
  /// without any.
  ///
  /// - Parameter root: where `proc` and the mounts are found.
  static func quota(below root: Path) -> Int? {
    let groups = lines(of: root.appending("proc/self/cgroup"))
    var lowest: Double?
    for mount in lines(of: root.appending("proc/self/mountinfo")).compactMap(CgroupMount.init) {
      guard let group = groups.compactMap(mount.path(ofGroup:)).first else { continue }
      var folder = group
      while true {
        let place = root.appending(Path(String(mount.point.dropFirst()))).appending(folder)
        if let share = mount.isUnified ? unifiedShare(place) : legacyShare(place) {
          lowest = min(lowest ?? share, share)
        }
        if folder.isEmpty { break }
        folder = folder.parent
      }
    }
    return lowest.map { max(1, Int($0.rounded(.up))) }
  }

  /// `cpu.max`: quota and period in microseconds, or `max`.
  private static func unifiedShare(_ folder: Path) -> Double? {
    let words = lines(of: folder.appending("cpu.max")).first?.split(separator: " ") ?? []
    return words.count == 2 ? share(quota: words[0], period: words[1]) : nil
  }

  private static func legacyShare(_ folder: Path) -> Double? {
    guard let quota = lines(of: folder.appending("cpu.cfs_quota_us")).first,
      let period = lines(of: folder.appending("cpu.cfs_period_us")).first
    else { return nil }
    return share(quota: quota[...], period: period[...])
  }

  /// Nil for what is no limit: `max`, −1, or a period of nothing.
  private static func share(quota: Substring, period: Substring) -> Double? {
    guard let quota = Double(quota), let period = Double(period), quota > 0, period > 0 else { return nil }
    return min(quota / period, 1_000_000)
  }

  /// How many processors the process may run on (its affinity, and the cpuset of its cgroup); nil where it is not told.
  /// The mask may count processors that are switched off.
  static func allowed(below root: Path) -> Int? {
    let name = "Cpus_allowed:"
    guard let line = lines(of: root.appending("proc/self/status")).first(where: { $0.hasPrefix(name) }) else {
      return nil
    }
    let bits = line.dropFirst(name.count).compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
    return bits > 0 ? bits : nil
  }

  private static func lines(of path: Path) -> [String] {
    guard let file = path.withCString({ fopen($0, "re") }) else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// A mounted hierarchy of cgroups that may limit processor time, from a line of `/proc/self/mountinfo`.
private struct CgroupMount {
  /// Where it is mounted, and which group is seen there.
  let point: String
  let root: String
  let isUnified: Bool

  init?(_ line: String) {
    let halves = line.components(separatedBy: " - ")
    guard halves.count == 2 else { return nil }
    let place = halves[0].split(separator: " ")
    let system = halves[1].split(separator: " ")
    guard place.count >= 5, let type = system.first else { return nil }
    isUnified = type == "cgroup2"
    let controllers = system.last?.split(separator: ",") ?? []
    guard isUnified || (type == "cgroup" && controllers.contains("cpu")) else { return nil }
    root = String(place[3])
    point = String(place[4])
  }

  /// Where below the mount the group is that this line of `/proc/self/cgroup` names; nil for another hierarchy. A group
  /// outside what is mounted (a container sees only its own) is the mount's top.
  func path(ofGroup line: String) -> Path? {
    let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3 else { return nil }
    let isMine = isUnified ? fields[0] == "0" && fields[1].isEmpty : fields[1].split(separator: ",").contains("cpu")
    guard isMine else { return nil }
    let names = Path(String(fields[2])).names
    let above = Path(root).names
    return names.starts(with: above) ? Path(names: names.dropFirst(above.count)) : Path()
  }
}
