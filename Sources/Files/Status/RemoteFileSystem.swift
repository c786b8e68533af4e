import Foundation

#if os(Linux)
import CLinux

/// File systems on which other machines or programs may change files without an event: the kernel reports only what
/// this machine changes.
package enum RemoteFileSystem {
  /// *Source*: statfs(2), linux/magic.h.
  private static let names: [UInt32: String] = [
    0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "SMB", 0xFE53_4D42: "SMB", 0x6573_5546: "FUSE", 0x0102_1997: "9p",
    0x00C3_6400: "Ceph", 0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x7375_7245: "Coda", 0x786F_4256: "VirtualBox",
    0x7461_636F: "OCFS2", 0x0116_1970: "GFS2", 0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS", 0x1983_0326: "FhGFS",
  ]

  /// Those that do not send each request over a network: programs of this machine, and disks that several machines have.
  private static let local: Set<String> = ["FUSE", "VirtualBox", "OCFS2", "GFS2"]

  /// Whether each request for a file goes over a network.
  package static func isOverNetwork(_ path: Path) -> Bool { name(at: path).map { !local.contains($0) } ?? false }

  /// The name of the file system of a file or folder if it is one of these; nil for any other.
  package static func name(at path: Path) -> String? {
    var info = statfs()
    guard path.withCString({ statfs($0, &info) }) == 0 else { return nil }
    return name(ofType: Int(info.f_type))
  }

  /// - Parameter type: the number that the kernel gives the file system.
  package static func name(ofType type: Int) -> String? { names[UInt32(truncatingIfNeeded: type)] }
}
#endif
