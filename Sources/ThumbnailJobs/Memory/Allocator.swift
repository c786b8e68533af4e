import CMalloc

#if canImport(Glibc)
  import Glibc
#endif

/// The C allocator's habits, bounded for a process whose promise is little memory.
package enum Allocator {
  /// Keeps the number of arenas small: glibc gives every few threads one of their own, and what is freed in one is of no
  /// use to another (mallopt(3); measured at 4 threads: 125 MB left after all was freed with the default, 50 MB with two).
  ///
  /// What is large, such as the coefficients of a progressive file, gets a mapping of its own and goes back to the system
  /// when it is freed. By default that threshold grows with each, up to 32 MiB, and up to twice as much is kept: 120 MiB
  /// over a budget of 256 at 8 threads. Buffers that are used again and again are kept by their owners, so that
  /// few mappings are made; huge pages under them make that as fast (CLibJPEG's huge_pages.c).
  ///
  /// Call it before any other thread is started.
  package static func bound() {
    #if canImport(Glibc)
      _ = mallopt(M_ARENA_MAX, 2)
      _ = mallopt(M_MMAP_THRESHOLD, 1 << 20)
    #endif
  }

  /// Hands what has been freed back to the system, as far as it is not kept for the next that is asked for.
  static func giveBack() {
    #if canImport(Glibc)
      malloc_trim(0)
    #endif
  }
}
