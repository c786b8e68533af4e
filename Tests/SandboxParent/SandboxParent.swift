import BadDeeds
import CDecoding
import Files
import Foundation
import Sandbox

/// A program with decoder processes, which tests kill, count the descriptors of, and measure.
///
///     sandbox-parent hold PROGRAM COUNT    starts COUNT processes, of which every second one hangs; prints their ids and waits
///     sandbox-parent endure PROGRAM COUNT  decodes COUNT pictures, some of them bad; prints what it has opened and started
///     sandbox-parent closed PROGRAM        decodes a picture with descriptors 0 to 4 closed; exit status 0 if that works
///     sandbox-parent measure PROGRAM       prints what processes and requests cost
@main struct SandboxParent {
  static func main() throws {
    let arguments = CommandLine.arguments
    let program = Path(arguments[2])
    switch arguments[1] {
    case "hold": try hold(program, Int(arguments[3])!)
    case "endure": try endure(program, Int(arguments[3])!)
    case "closed": try decodeWithoutDescriptors(program)
    default: try measure(program)
    }
  }

  static func hold(_ program: Path, _ count: Int) throws {
    let processes = try (0..<count).map { _ in try HelperProcess(program) }
    let isHanging = DispatchSemaphore(value: 0)
    for process in processes.enumerated().filter({ $0.offset % 2 == 0 }).map(\.element) {
      Thread.detachNewThread {
        _ = try? process.decode(order(BAD_HANGS), progress: { if $0 > 0 { isHanging.signal() } })
      }
      isHanging.wait()
    }
    print(processes.map { "\($0.id)" }.joined(separator: " "))
    fflush(nil)
    while true { pause() }
  }

  static func endure(_ program: Path, _ count: Int) throws {
    let pool = HelperPool(program, mostIdle: 2)
    _ = try pool.decode(order(BAD_NONE))
    print(openFiles(), children())
    let deeds = [BAD_CRASHES, BAD_EXITS, BAD_SENDS_GARBAGE, BAD_ANSWERS_TWICE, BAD_PROFILE_SIZE]
    for number in 0..<count {
      let isBad = number % 10 == 9
      let result = Result { try pool.decode(order(isBad ? deeds[number / 10 % deeds.count] : BAD_NONE)) }
      if case .failure = result, !isBad { exit(1) }
    }
    print(openFiles(), children())
    pool.shutDown()
    print(openFiles(), children())
  }

  static func decodeWithoutDescriptors(_ program: Path) throws {
    for number in CInt(0)..<5 { close(number) }
    let pool = HelperPool(program, mostIdle: 1)
    let first = try pool.decode(order(BAD_NONE)).withBytes { $0[0] }
    exit(first == UInt8(ascii: "p") ? 0 : 1)
  }

  // MARK: Measuring

  static func measure(_ program: Path) throws {
    try report("start") { _ = try HelperProcess(program) }
    let process = try HelperProcess(program)
    print("idle:", ProcessStatus(of: process.id).flatMap(\.memory).map { "\($0)" } ?? "")
    let size = 64 << 10
    for bytes in [0, size, 16 * size] {
      try report("picture with \(bytes >> 10) KiB of planes") { _ = try process.decode(order(BAD_NONE, bytes)) }
    }
    try report("kill during a hang, and start") {
      let process = try HelperProcess(program)
      var isHanging = false
      _ = try? process.decode(order(BAD_HANGS), isCancelled: { isHanging }, progress: { isHanging = $0 > 0 })
    }
  }

  /// Prints the median of a few hundred runs.
  private static func report(_ name: String, _ work: () throws -> Void) rethrows {
    var times: [Duration] = []
    for _ in 0..<300 { times.append(try ContinuousClock().measure(work)) }
    times.sort()
    func milliseconds(_ time: Duration) -> String { String(format: "%.3f", time / .milliseconds(1)) }
    print("\(name): median \(milliseconds(times[150])) ms, 95 % \(milliseconds(times[285])) ms")
  }

  // MARK: Parts

  private static func order(_ deed: bad_deed, _ planeBytes: Int = 4096) -> DecodingOrder {
    var request = cdecoding_request()
    request.kind = CDECODING_PNG
    request.start = UInt64(deed.rawValue)
    return DecodingOrder(
      request, file: file, fileSize: 7, planeBytes: planeBytes, workingBytes: 1 << 20, owner: .user(0))
  }

  /// A file that contains "picture".
  private static let file: CInt = {
    let folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(folder) }
    guard let file = try? createUnnamedFile(in: folder) else { return -1 }
    _ = write(file, "picture", 7)
    return file
  }()

  private static func openFiles() -> Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
  }

  /// The children of this process, also those that have ended and are not reaped.
  private static func children() -> Int {
    let path = "/proc/self/task/\(getpid())/children"
    return String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
      .split(separator: " ").count
  }
}
