import Foundation

/// Code that reads bytes from outside, as libFuzzer calls it. A trap is a finding, so each target checks what must hold
/// with `precondition`.
struct FuzzTarget: Sendable {
  let name: String
  let run: @Sendable (UnsafeRawBufferPointer) -> Void

  static let all = pictures + jobs + network + endpoint + system
}

/// The program has one name for each target, as a symbolic link.
///
/// *Concurrency*: written before the first input, on the thread that runs all inputs.
nonisolated(unsafe) private var chosen: FuzzTarget?

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>>>
) -> CInt {
  let name = URL(filePath: String(cString: arguments.pointee[0])).lastPathComponent
  chosen = FuzzTarget.all.first { $0.name == name }
  guard chosen != nil else {
    print("No target is called “\(name)”. There are: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    exit(2)
  }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  chosen?.run(UnsafeRawBufferPointer(start: bytes, count: count))
  return 0
}

/// The number that the last bytes of an input make. Targets take their options from it, so that any file is an input.
func choice(_ input: UnsafeRawBufferPointer) -> Int {
  input.suffix(2).reduce(0) { $0 << 8 | Int($1) }
}
