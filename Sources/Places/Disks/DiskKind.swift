import Files
import Foundation

/// The kind of disk that a file system is on. It decides how files are read.
package enum DiskKind: Sendable, Equatable {
  /// A disk with a head, which is best read by one reader in the order of the places.
  case spinning
  /// A disk that each request reaches over a network.
  case network
  /// Flash, memory, or a disk of unknown kind.
  case other

  /// The kind of the disk that a file is on.
  ///
  /// - Parameters:
  ///   - path: of the file or its folder.
  ///   - device: its `st_dev`.
  package init(at path: Path, device: UInt64) {
    #if os(Linux)
    self =
      RemoteFileSystem.isOverNetwork(path)
      ? .network : Self.isSpinning(Self.blockDevice(device)) ? .spinning : .other
    #else
    self = .other
    #endif
  }

  #if os(Linux)
  /// Whether the kernel says that a block device turns. A partition has no queue of its own: that of its disk counts.
  ///
  /// *Source*: Documentation/ABI/stable/sysfs-block. By default the kernel says that the virtual disks of virtio and Xen turn,
  /// whatever the host has. So these do not count.
  private static func isSpinning(_ device: UInt64) -> Bool {
    let place = "/sys/dev/block/\(major(device)):\(minor(device))"
    guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: place) else { return false }
    // An encrypted or logical volume lies on other block devices, its slaves.
    let names =
      ((try? FileManager.default.contentsOfDirectory(atPath: "\(place)/slaves")) ?? []) + [
        Path(link).lastName.printable
      ]
    if names.contains(where: { $0.hasPrefix("vd") || $0.hasPrefix("xvd") }) { return false }
    return ["queue", "../queue"].contains { contents(of: "\(place)/\($0)/rotational")?.first == "1" }
  }

  /// The block device that is mounted. The files of Btrfs, for one, have another device number than it.
  private static func blockDevice(_ device: UInt64) -> UInt64 {
    guard major(device) == 0, let mounts = contents(of: "/proc/self/mountinfo") else { return device }
    let number = "\(major(device)):\(minor(device))"
    for line in mounts.split(separator: "\n") {
      // ID, parent, device, ..., "-", type, source (proc_pid_mountinfo(5)).
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[2] == number, let dash = fields.firstIndex(of: "-"), dash + 2 < fields.count
      else { continue }
      let source = Path(String(fields[dash + 2]))
      guard source.isAbsolute, case .success(let status) = FileStatus.of(source, followingLinks: true),
        status.st_mode & S_IFMT == S_IFBLK
      else { return device }
      return UInt64(status.st_rdev)
    }
    return device
  }

  /// The parts of a number that makedev(3) makes.
  private static func major(_ device: UInt64) -> UInt64 { device >> 8 & 0xfff | device >> 32 & ~0xfff }
  private static func minor(_ device: UInt64) -> UInt64 { device & 0xff | device >> 12 & 0xffff_ff00 }

  /// The text of a small file of the kernel; nil if it cannot be read.
  private static func contents(of path: String) -> String? {
    readFile(Path(path), limit: 1 << 20).map { String(decoding: $0, as: UTF8.self) }
  }
  #endif
}
