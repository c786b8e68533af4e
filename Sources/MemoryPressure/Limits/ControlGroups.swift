/// The cgroups of this process, from its own up to the topmost one that it can see mounted.
///
/// *Source*: cgroups(7); proc_pid_mountinfo(5).
package struct ControlGroups: Equatable {
  package enum Version: Equatable { case v1, v2 }

  let version: Version
  /// The folders of the groups, the process's own group first; never empty.
  package let folders: [String]

  /// Nil if no hierarchy is mounted. If a hierarchy is mounted more than once, the mount that shows most of it is used.
  ///
  /// - Parameter controller: the controller of the hierarchy; ignored for version 2, which has one hierarchy for all.
  package static func find(
    _ version: Version, for controller: Substring = "memory", in surroundings: Surroundings
  ) -> ControlGroups? {
    let groups = surroundings.lines("/proc/self/cgroup")
    let found = surroundings.lines("/proc/self/mountinfo").compactMap { line -> [String]? in
      guard let mount = Mount(line, version, controller) else { return nil }
      return groups.lazy.compactMap(mount.folders(ofGroup:)).first
    }
    let seen = found.compactMap { folders -> [String]? in
      let existing = folders.drop { !surroundings.exists($0) }
      return existing.isEmpty ? nil : Array(existing)
    }
    return seen.max { $0.count < $1.count }.map { ControlGroups(version: version, folders: $0) }
  }
}

/// One line of `/proc/self/mountinfo` that mounts the hierarchy.
private struct Mount {
  let version: ControlGroups.Version
  let controller: Substring
  /// The mount point; empty for `/`.
  let point: String
  /// The path of the group that is visible at the mount point.
  let top: [Substring]

  init?(_ line: Substring, _ version: ControlGroups.Version, _ controller: Substring) {
    let fields = line.fields(" ")
    guard let dash = fields.firstIndex(of: "-"), dash >= 5 else { return nil }
    let (place, system) = (fields[..<dash], fields[(dash + 1)...])
    guard let type = system.first else { return nil }
    switch version {
    case .v2: guard type == "cgroup2" else { return nil }
    case .v1:
      guard type == "cgroup", system.last?.fields(",").contains(controller) == true else { return nil }
    }
    (self.version, self.controller) = (version, controller)
    top = place[3].fields("/")
    point = place[4] == "/" ? "" : String(place[4])
  }

  /// The folders of the group in a line of `/proc/self/cgroup`, and of all groups above it; nil for another hierarchy.
  /// If the group is outside the mount, the top of the mount is used instead. This happens in a container, where only
  /// its own group is mounted, or where the path begins with `/..` because the process has left that group.
  func folders(ofGroup line: Substring) -> [String]? {
    let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3 else { return nil }
    switch version {
    case .v2: guard fields[0] == "0", fields[1].isEmpty else { return nil }
    case .v1: guard fields[1].split(separator: ",").contains(controller) else { return nil }
    }
    let names = fields[2].split(separator: "/")
    let isBelow = names.starts(with: top) && !names.contains("..")
    let below = isBelow ? Array(names.dropFirst(top.count)) : []
    return (0...below.count).map { ([point[...]] + below.dropLast($0)).joined(separator: "/") }
  }
}
