import Files

/// The hierarchies of cgroups that are mounted, and the group of this process in each, as the kernel lists them.
///
/// *Source*: cgroups(7); proc_pid_mountinfo(5).
package struct MountedHierarchies {
  private let memberships: [Membership]
  private let mounts: [Mount]
  private let surroundings: Surroundings

  /// Reads both lists.
  package init(in surroundings: Surroundings) {
    self.surroundings = surroundings
    memberships = surroundings.lines("/proc/self/cgroup").compactMap(Membership.init)
    mounts = surroundings.lines("/proc/self/mountinfo").compactMap(Mount.init)
  }

  /// The groups in one hierarchy; nil if it is not mounted. If it is mounted more than once, the mount that shows most
  /// of it is used.
  ///
  /// - Parameter controller: the controller of the hierarchy; ignored for version 2, which has one hierarchy for all.
  package func groups(_ version: ControlGroups.Version, for controller: Substring = "memory") -> ControlGroups? {
    guard let own = memberships.first(where: { $0.hierarchy.matches(version, controller) }) else { return nil }
    let seen = mounts.compactMap { mount -> [String]? in
      guard mount.hierarchy.matches(version, controller) else { return nil }
      let existing = mount.folders(of: own).drop { !surroundings.exists($0) }
      return existing.isEmpty ? nil : Array(existing)
    }
    return seen.max { $0.count < $1.count }.map { ControlGroups(version: version, folders: $0) }
  }
}

/// The hierarchy of version 2, or one of those of version 1, which have different controllers.
private enum Hierarchy {
  case v2
  case v1(controllers: [Substring])

  func matches(_ version: ControlGroups.Version, _ controller: Substring) -> Bool {
    switch self {
    case .v2: version == .v2
    case .v1(let controllers): version == .v1 && controllers.contains(controller)
    }
  }
}

/// One line of `/proc/self/cgroup`: a group that this process belongs to.
private struct Membership {
  let hierarchy: Hierarchy
  /// The names on the path of the group.
  let names: [Substring]

  init?(_ line: Substring) {
    let fields = line.fields(":", maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3 else { return nil }
    hierarchy = fields[0] == "0" && fields[1].isEmpty ? .v2 : .v1(controllers: fields[1].fields(","))
    names = fields[2].fields("/")
  }
}

/// One line of `/proc/self/mountinfo` that mounts a hierarchy of cgroups.
private struct Mount {
  let hierarchy: Hierarchy
  /// The mount point; empty for `/`.
  let point: Substring
  /// The names on the path of the group that is visible at the mount point.
  let top: [Substring]

  init?(_ line: Substring) {
    let fields = line.fields(" ")
    guard let dash = fields.firstIndex(of: "-"), dash >= 5 else { return nil }
    let system = fields[(dash + 1)...]
    switch system.first {
    case "cgroup2": hierarchy = .v2
    case "cgroup": hierarchy = .v1(controllers: system.last?.fields(",") ?? [])
    default: return nil
    }
    top = fields[3].fields("/")
    point = fields[4] == "/" ? "" : fields[4]
  }

  /// The folder of a group, and of all groups above it. If the group is outside the mount, the top of the mount is used
  /// instead. This happens in a container, where only its own group is mounted, or where the path begins with `/..`
  /// because the process has left that group.
  func folders(of group: Membership) -> [String] {
    let isBelow = group.names.starts(with: top) && !group.names.contains("..")
    let below = isBelow ? Array(group.names.dropFirst(top.count)) : []
    return (0...below.count).map { ([point] + below.dropLast($0)).joined(separator: "/") }
  }
}
