import CLinux
import Files
import Foundation

/// Memory that this process and a decoder process map. Its size is fixed: if the decoder could shrink it, this process would
/// get SIGBUS.
///
/// *Concurrency*: the decoder may write to it as long as it lives. So read each byte at most once, or copy it first, if
/// anything but the value of a sample depends on it.
final class SharedMemory: @unchecked Sendable {  // the pointer never changes
  let bytes: UnsafeMutableRawBufferPointer
  /// The descriptor, to be sent to the decoder; closed by ``closeDescriptor()`` or at the end.
  private(set) var descriptor: CInt
  /// Why the size is not fixed; nil if it is.
  let sealFault: Errno?

  /// All bytes are 0, and take no memory before they are written.
  init(size: Int) throws(Errno) {
    // Older kernels do not know that a file must not be executed (MFD_NOEXEC_SEAL, Linux 6.3); newer ones warn without it.
    var descriptor = memfd_create("thumbjob-decoder", Self.closeOnExec | Self.neverExecutable)
    if descriptor < 0 && errno == EINVAL {
      descriptor = memfd_create("thumbjob-decoder", Self.closeOnExec | Self.allowSealing)
    }
    if descriptor < 0 { throw Errno(rawValue: errno) }
    guard retryOnInterrupt({ ftruncate(descriptor, off_t(size)) }) == 0,
      let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), start != MAP_FAILED
    else {
      let error = Errno(rawValue: errno)
      close(descriptor)
      throw error
    }
    sealFault = fcntl(descriptor, Self.addSeals, Self.fixedSize) == 0 ? nil : Errno(rawValue: errno)
    bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
    self.descriptor = descriptor
  }

  deinit {
    munmap(bytes.baseAddress, bytes.count)
    closeDescriptor()
  }

  func closeDescriptor() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  // Macros of sys/mman.h and fcntl.h that Swift does not import.
  private static let closeOnExec: CUnsignedInt = 1
  private static let allowSealing: CUnsignedInt = 2
  private static let neverExecutable: CUnsignedInt = 8
  private static let addSeals: CInt = 1033
  /// F_SEAL_SEAL, F_SEAL_SHRINK and F_SEAL_GROW.
  private static let fixedSize: CInt = 1 | 2 | 4
}
