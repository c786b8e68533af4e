import CMalloc

#if canImport(Glibc)
import Glibc
#endif

/// Settings of the C allocator that bound the memory it keeps.
package enum Allocator {
  /// Bounds the memory that the allocator keeps. Call it before the process starts another thread.
  ///
  /// It limits the number of arenas: by default glibc makes one for every few threads, and one arena cannot use the
  /// memory freed in another (mallopt(3); measured at 4 threads: after freeing everything, glibc kept 125 MB with the
  /// default and 50 MB with two arenas).
  ///
  /// It fixes the size from which a block gets a mapping of its own, so that the coefficients of a progressive file
  /// return to the system when they are freed. By default this size grows up to 32 MiB, and glibc keeps up to twice as
  /// much (measured: 120 MiB over a budget of 256 MiB at 8 threads). Mappings are rare, because the owners of large
  /// buffers reuse them, and huge pages make them as fast as the heap (CLibJPEG's huge_pages.c).
  ///
  /// It lets each arena keep 1 MiB of free memory at its end, instead of 128 KiB. Otherwise the memory of one small
  /// photo returns to the system, and the next photo gets it back page by page (measured with 20,000 photos of 10 KB:
  /// 8 page faults for each, and 1.5 s of processor time in the kernel instead of 0.8 s).
  package static func bound() {
    #if canImport(Glibc)
    _ = mallopt(M_ARENA_MAX, 2)
    _ = mallopt(M_MMAP_THRESHOLD, 1 << 20)
    _ = mallopt(M_TRIM_THRESHOLD, 1 << 20)
    #endif
  }

  /// Returns free memory to the system.
  package static func shrink() {
    #if canImport(Glibc)
    malloc_trim(0)
    #endif
  }
}
