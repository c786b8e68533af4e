/// The cgroups a process is in, from its own up to the topmost that is mounted where it can see it.
///
/// *Source*: cgroups(7); proc_pid_mountinfo(5).
package struct ControlGroups: Equatable {
  package enum Version: Equatable { case v1, v2 }

  let version: Version
  /// Their folders, own group first; never empty.
  package let folders: [String]

  /// Nil where none is mounted. Where one hierarchy is mounted twice, the mount that shows the most of it counts.
  ///
  /// - Parameter controller: what the hierarchy is to control; with version 2 one controls everything.
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

/// One line of `/proc/self/mountinfo`, where it mounts the hierarchy looked for.
private struct Mount {
  let version: ControlGroups.Version
  let controller: Substring
  /// Where it is mounted, and the names of the group that is seen there.
  let point: String
  let top: [Substring]

  init?(_ line: Substring, _ version: ControlGroups.Version, _ controller: Substring) {
    guard let dash = line.range(of: " - ") else { return nil }
    let place = line[..<dash.lowerBound].split(separator: " ")
    let system = line[dash.upperBound...].split(separator: " ")
    guard place.count >= 5, let type = system.first else { return nil }
    switch version {
    case .v2: guard type == "cgroup2" else { return nil }
    case .v1:
      guard type == "cgroup", system.last?.split(separator: ",").contains(controller) == true else { return nil }
    }
    (self.version, self.controller) = (version, controller)
    top = place[3].split(separator: "/")
    point = place[4] == "/" ? "" : String(place[4])
  }

  /// From a line of `/proc/self/cgroup`; nil for another hierarchy. A group outside what is mounted (a container sees only
  /// its own, and one that has left it sees `/..`) is the mount's top.
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
