import Files
import Foundation

#if os(Linux)
import CLinux
#endif

/// Systemd's memory pressure protocol: `$MEMORY_PRESSURE_WATCH` names a PSI file, a FIFO or a socket, and
/// `$MEMORY_PRESSURE_WRITE` contains the bytes to write there. The protocol has one degree of pressure, which is
/// treated as critical. The events of a PSI file are rated by the memory in use, because a process that holds little
/// cannot help by releasing it.
///
/// *Source*: systemd, docs/PRESSURE.md. Unlike the protocol, this provider writes nothing to a FIFO, because it would
/// read the bytes back as an event.
final class SystemdSignals: PressureSignalProvider {
  private enum Kind { case stalls, fifo, socket }

  static let name = PressureSignalChoice.systemd
  static let watchVariable = "MEMORY_PRESSURE_WATCH"
  static let writeVariable = "MEMORY_PRESSURE_WRITE"

  let explanation: String
  let watches: [PressureWatch]
  private let path: String
  private let kind: Kind
  private let limit: MemoryLimit
  private let surroundings: Surroundings

  private init(
    _ path: String, _ kind: Kind, under limit: MemoryLimit, in surroundings: Surroundings, _ watch: PressureWatch
  ) {
    (self.path, self.kind, self.limit, self.surroundings, watches) = (path, kind, limit, surroundings, [watch])
    explanation = "\(path), named by $\(Self.watchVariable)"
  }

  static func isRequested(in surroundings: Surroundings) -> Bool {
    surroundings.variables[watchVariable]?.isEmpty == false
  }

  static func open(in surroundings: Surroundings, under limit: MemoryLimit) -> PressureSignalAvailability {
    guard let path = surroundings.variables[watchVariable], !path.isEmpty else {
      return .unusable("$\(watchVariable) is not set")
    }
    if path == "/dev/null" { return .switchedOff("$\(watchVariable) is /dev/null, which switches the signals off") }
    guard path.hasPrefix("/") else { return .unusable("$\(watchVariable) is not an absolute path: '\(path)'") }
    let written = surroundings.variables[writeVariable] ?? ""
    guard let payload = Data(base64Encoded: written) else {
      return .unusable("$\(writeVariable) is not Base64: '\(written)'")
    }
    do throws(SystemError) {
      var info = stat()
      guard stat(path, &info) == 0 else { throw SystemError(path) }
      switch info.st_mode & S_IFMT {
      case S_IFREG:
        if let problem = problem(withStallFile: path, payload) { return .unusable(problem) }
        return .usable(
          SystemdSignals(path, .stalls, under: limit, in: surroundings, try StallTrigger.watch(path, Array(payload))))
      case S_IFIFO:
        return .usable(SystemdSignals(path, .fifo, under: limit, in: surroundings, try fifo(path)))
      case S_IFSOCK:
        return .usable(SystemdSignals(path, .socket, under: limit, in: surroundings, try socket(path, Array(payload))))
      default:
        return .unusable("$\(watchVariable) is neither a PSI file nor a FIFO nor a socket: \(path)")
      }
    } catch {
      return .unusable("$\(watchVariable): \(error)")
    }
  }

  func handle(_ watch: PressureWatch, at place: Int, found: Int16, share: Double) -> PressureReading {
    if kind == .stalls {
      if PressureWatch.isGone(found) { return .gone("\(path) is gone") }
      return reading(.critical, "event on \(path)", share: share, under: limit, in: surroundings)
    }
    let read = watch.descriptor.discard()
    // A signal counts even if the other side has closed since. The next read finds that it has closed.
    if read.any { return .signal(signal(.critical, "event on \(path)")) }
    return read.ended ? .gone("\(path): closed by the other side") : .nothing
  }

  /// The reason why a file cannot be used as a PSI file; nil if it can. The monitor must not write to other files, and
  /// a PSI file without a trigger never signals.
  private static func problem(withStallFile path: String, _ payload: Data) -> String? {
    #if os(Linux)
    var info = statfs()
    let kinds = [0x9fa0, 0x6367_7270]  // PROC_SUPER_MAGIC and CGROUP2_SUPER_MAGIC of linux/magic.h
    guard statfs(path, &info) == 0, kinds.contains(Int(info.f_type)) else {
      return "$\(watchVariable) is a file, but not one of the kernel's: \(path)"
    }
    #endif
    return payload.isEmpty ? "$\(writeVariable) is not set, so \(path) would never signal" : nil
  }

  /// Opens the FIFO for writing too, so that it always has a writer: otherwise poll(2) would report POLLHUP for ever
  /// after the first writer closes, and the loop would spin.
  private static func fifo(_ path: String) throws(SystemError) -> PressureWatch {
    .reading(try Descriptor.open(path, O_RDWR | O_NONBLOCK))
  }

  private static func socket(_ path: String, _ payload: [UInt8]) throws(SystemError) -> PressureWatch {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      errno = ENAMETOOLONG
      throw SystemError(path)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    #if os(Linux)
    let (type, flags) = (CInt(SOCK_STREAM.rawValue), CInt(MSG_NOSIGNAL))
    #else
    let (type, flags) = (SOCK_STREAM, CInt(0))
    #endif
    let socket = Descriptor(Foundation.socket(AF_UNIX, type, 0))
    guard socket.number >= 0 else { throw SystemError(path) }
    _ = fcntl(socket.number, F_SETFD, FD_CLOEXEC)
    _ = fcntl(socket.number, F_SETFL, O_NONBLOCK)
    #if canImport(Darwin)
    var on: CInt = 1
    setsockopt(socket.number, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
    #endif
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0, send(socket.number, payload, payload.count, flags) == payload.count else {
      throw SystemError(path)
    }
    return .reading(socket)
  }
}
