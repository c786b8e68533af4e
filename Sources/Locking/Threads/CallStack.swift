#if DEBUG
import Foundation

/// The calls that have led to where it is made.
///
/// Making one only collects addresses. Their functions are looked up when it is printed, which reads the symbols of the
/// whole program. The standard library's `Backtrace` would tell lines too. But it reads the memory map of the process and
/// then what is mapped: if another thread unmaps a part meanwhile, the process dies.
struct CallStack: Sendable, CustomStringConvertible {
  private static let limit = 32

  private let addresses: [UInt]

  init() {
    // The first is the one of Foundation's own call.
    addresses = Thread.callStackReturnAddresses.dropFirst().prefix(Self.limit).map(\.uintValue)
  }

  /// A line for each call, the innermost first.
  var description: String {
    #if canImport(Glibc)
    var files = SymbolFiles()
    // A return address is behind the call, and in the next function if the call never returns.
    return addresses.map { "  " + files.name(at: $0 &- 1) }.joined(separator: "\n")
    #else
    return addresses.map { "  0x" + String($0, radix: 16) }.joined(separator: "\n")
    #endif
  }
}

#if canImport(Glibc)
/// The functions in the files of the program, which are read as they are needed.
private struct SymbolFiles {
  /// A file that the process has mapped, where it begins and where it ends.
  private var files: [(range: Range<UInt>, path: String)] = []
  private var tables: [String: SymbolTable] = [:]

  /// Reads the memory map of the process: proc_pid_maps(5).
  init() {
    // Foundation would stop at the first page, because the file has no size.
    guard let file = fopen("/proc/self/maps", "r") else { return }
    var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
    while getline(&line, &capacity, file) > 0, let line { add(String(cString: line).dropLast()) }
    free(line)
    fclose(file)
  }

  private mutating func add(_ line: Substring) {
    let fields = line.split(separator: " ", maxSplits: 5)
    let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
    guard fields.count == 6, ends.count == 2, ends[0] < ends[1] else { return }
    let path = fields[5].drop { $0 == " " }
    if let last = files.last, last.path == path {
      files[files.count - 1].range = last.range.lowerBound..<ends[1]
    } else {
      files.append((ends[0]..<ends[1], String(path)))
    }
  }

  /// The function that contains an address; the file and the place in it, if it has no name.
  mutating func name(at address: UInt) -> String {
    guard let file = files.first(where: { $0.range.contains(address) }) else {
      return "0x" + String(address, radix: 16)
    }
    let offset = address - file.range.lowerBound
    let table = tables[file.path] ?? SymbolTable(path: file.path)
    tables[file.path] = table
    return table.name(at: UInt64(offset)).map(demangled) ?? "\(file.path) + 0x\(String(offset, radix: 16))"
  }
}

/// The functions of a file that is loaded from its beginning on, as position-independent programs and libraries are.
///
/// *Source*: elf(5); 64 bits, as on all platforms on which the program runs.
private struct SymbolTable {
  private var functions: [(range: Range<UInt64>, name: Int)] = []
  private var bytes = Data()

  /// Empty if the file cannot be read, or is of another format.
  init(path: String) {
    guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped),
      bytes.starts(with: Array("\u{7F}ELF".utf8)), let header = Self.load(Elf64_Ehdr.self, bytes, 0)
    else { return }
    self.bytes = bytes
    let sections = (0..<Int(header.e_shnum)).compactMap {
      Self.load(Elf64_Shdr.self, bytes, Int(header.e_shoff) + $0 * Int(header.e_shentsize))
    }
    // Programs have a table of all their functions; a library may have one of the public ones only.
    let types = [SHT_SYMTAB, SHT_DYNSYM].map { UInt32($0) }
    for section in sections where types.contains(section.sh_type) && section.sh_link < sections.count {
      let names = Int(sections[Int(section.sh_link)].sh_offset)
      let size = MemoryLayout<Elf64_Sym>.size
      for index in 0..<Int(section.sh_size) / size {
        guard let symbol = Self.load(Elf64_Sym.self, bytes, Int(section.sh_offset) + index * size) else { break }
        guard Int32(symbol.st_info & 15) == Int32(STT_FUNC), symbol.st_size > 0 else { continue }
        functions.append((symbol.st_value..<symbol.st_value &+ symbol.st_size, names + Int(symbol.st_name)))
      }
    }
  }

  func name(at offset: UInt64) -> String? {
    guard let function = functions.first(where: { $0.range.contains(offset) }) else { return nil }
    return String(decoding: bytes[function.name...].prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func load<Value>(_ type: Value.Type, _ bytes: Data, _ offset: Int) -> Value? {
    guard offset >= 0, offset <= bytes.count - MemoryLayout<Value>.size else { return nil }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
  }
}

/// The name of a function as in its source; as it is, if it is not of Swift.
private func demangled(_ name: String) -> String {
  typealias Demangle =
    @convention(c) (
      UnsafePointer<CChar>, Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UInt32
    ) -> UnsafeMutablePointer<CChar>?
  guard let symbol = dlsym(nil, "swift_demangle"),
    let text = unsafeBitCast(symbol, to: Demangle.self)(name, name.utf8.count, nil, nil, 0)
  else { return name }
  defer { free(text) }
  return String(cString: text)
}
#endif
#endif
