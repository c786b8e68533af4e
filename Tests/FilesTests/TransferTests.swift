import Files
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct TransferTests {
  /// The ends of a pipe; closed with the test.
  private let ends: [Descriptor]

  private var reader: Descriptor { ends[0] }
  private var writer: Descriptor { ends[1] }

  init() { ends = Self.pipe() }

  private static func pipe() -> [Descriptor] {
    var ends: [CInt] = [-1, -1]
    precondition(Foundation.pipe(&ends) == 0)
    return ends.map { Descriptor($0) }
  }

  /// USR2, with a handler that does nothing, so that it only interrupts system calls.
  private static let interruption: CInt = {
    var action = sigaction()
    action.__sigaction_handler = .init(sa_handler: { _ in })
    sigaction(SIGUSR2, &action, nil)
    return SIGUSR2
  }()

  @Test func aWriterInterruptedHalfwayWritesTheRest() async throws {
    let bytes = (0..<(1 << 18)).map { UInt8(truncatingIfNeeded: $0 / 4096 + $0) }
    let (signal, thread, writer, reader) = (Self.interruption, LockedBox<pthread_t?>(nil), writer, reader)
    async let isWritten: Void = onThread {
      thread.change { $0 = pthread_self() }
      try writeAll(bytes, to: writer.number)
    }
    let read = try await onThread {
      var found: [UInt8] = []
      while found.count < bytes.count {
        // Not all bytes fit into the pipe, so the writer blocks in the middle of a call.
        found += try readAll(from: reader.number, limit: min(4096, bytes.count - found.count))
        if found.count < bytes.count - 1 << 17, let thread = thread.value { pthread_kill(thread, signal) }
      }
      return found
    }
    try await isWritten
    #expect(read == bytes)
  }

  @Test func anInterruptedReaderContinues() async throws {
    let (signal, thread, writer, reader) = (Self.interruption, LockedBox<pthread_t?>(nil), writer, reader)
    async let read = onThread {
      thread.change { $0 = pthread_self() }
      return try readAll(from: reader.number, limit: 5)
    }
    try await onThread {
      for byte in Array("hello".utf8) {
        while thread.value == nil { usleep(100) }
        // The reader waits for this byte, so its thread exists.
        for _ in 0..<20 { if let thread = thread.value { pthread_kill(thread, signal) } }
        try writeAll([byte], to: writer.number)
      }
    }
    let found = try await read
    #expect(found == Array("hello".utf8))
  }

  /// Each call reads a single packet, so filling the buffer takes several calls.
  @Test func readingContinuesUntilTheBufferIsFullOrTheFileEnds() throws {
    var sockets: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue), 0, &sockets) == 0)
    let reader = Descriptor(sockets[0])
    do {
      let writer = Descriptor(sockets[1])
      for packet in ["ab", "cde", "f", "g"] { try writeAll(packet.utf8, to: writer.number) }
    }
    var buffer = [UInt8](repeating: 0, count: 6)
    let first = try buffer.withUnsafeMutableBytes { try readAll(into: $0, from: reader.number) }
    #expect(first == 6 && buffer == Array("abcdef".utf8))
    let rest = try buffer.withUnsafeMutableBytes { try readAll(into: $0, from: reader.number) }
    #expect(rest == 1 && buffer[0] == UInt8(ascii: "g"))
  }

  @Test func readingAtAnOffsetDoesNotMoveTheFilePosition() throws {
    let folder = TemporaryFolder()
    try folder.write(Array("0123456789".utf8), to: "file")
    let file = try Descriptor.open(folder("file"), O_RDONLY)
    var buffer = [UInt8](repeating: 0, count: 4)
    let count = try buffer.withUnsafeMutableBytes { try readAll(into: $0, from: file.number, at: 8) }
    #expect(count == 2 && Array(buffer.prefix(2)) == Array("89".utf8))
    #expect(try readAll(from: file.number, limit: 3) == Array("012".utf8))
    #expect(try readAll(from: file.number) == Array("3456789".utf8))
  }

  @Test func writingAtAnOffsetDoesNotMoveTheFilePosition() throws {
    let folder = TemporaryFolder()
    try folder.write(Array("0123456789".utf8), to: "file")
    let file = try Descriptor.open(folder("file"), O_RDWR)
    try writeAll(Array("ab".utf8), to: file.number, at: 4)
    try writeAll(Array("c".utf8), to: file.number)
    try writeAll(Array("d".utf8), to: file.number, at: 11)
    #expect(try Array(folder.bytes("file")) == Array("c123ab6789\0d".utf8))
    #expect(throws: Errno.illegalSeek) { try writeAll([1], to: writer.number, at: 0) }
  }

  @Test func failuresAreThrownWithoutARetry() throws {
    #expect(throws: Errno.badFileDescriptor) { try readAll(from: -1) }
    #expect(throws: Errno.badFileDescriptor) { try writeAll([1], to: -1) }
    #expect(throws: Errno.badFileDescriptor) { try writeAll([1], to: reader.number) }
    try writeAll([], to: -1)
  }
}
