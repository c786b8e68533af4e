/// The cgroups of this process, from its own up to the topmost one that it can see mounted.
///
/// *Source*: cgroups(7); proc_pid_mountinfo(5).
package struct ControlGroups: Equatable {
  package enum Version: Equatable { case v1, v2 }

  let version: Version
  /// The folders of the groups, the process's own group first; never empty.
  package let folders: [String]

  /// The groups in the hierarchy of the memory controller; nil if it is not mounted. Use ``MountedHierarchies`` to find
  /// groups of several hierarchies.
  package static func find(_ version: Version, in surroundings: Surroundings) -> ControlGroups? {
    MountedHierarchies(in: surroundings).groups(version)
  }
}
