#if Formats
import CLcms2
import Foundation

/// A Little CMS context with a limit on its memory.
///
/// Profiles come from untrusted files, and a few bytes can request any amount of memory. A profile that needs more than
/// the limit is not used.
///
/// *Concurrency*: for one thread at a time, together with everything made with it.
final class ProfileContext {
  /// The limit for a profile of `size` bytes. It allows a copy of the profile, three copies of a 16-bit table that
  /// makes up nearly all of it, and a transform. Printer profiles, which contain six tables, take two thirds of the
  /// limit.
  static func allowance(forProfileOf size: Int) -> Int { size * 4 + 1 << 20 }

  private(set) var handle: cmsContext?
  /// The bytes allocated now, and the most at any time.
  private(set) var held = 0
  private(set) var peak = 0
  private let limit: Int
  private var newest: UnsafeMutablePointer<Block>?

  /// - parameter limit: the most bytes that may be allocated.
  init(limit: Int) {
    self.limit = limit
    var handler = cmsPluginMemHandler()
    // From lcms2_plugin.h: cmsPluginMagicNumber ('acpp'), the least version of Little CMS, and cmsPluginMemHandlerSig
    // ('memH').
    handler.base.Magic = 0x6163_7070
    handler.base.ExpectedVersion = 2000
    handler.base.Type = 0x6D65_6D48
    handler.MallocPtr = { ProfileContext.reallocate($0, nil, $1) }
    handler.ReallocPtr = { ProfileContext.reallocate($0, $1, $2) }
    handler.FreePtr = { ProfileContext.release($0, $1) }
    handle = cmsCreateContext(&handler, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Frees all memory, including blocks that Little CMS leaked after a failure.
  deinit {
    cmsDeleteContext(handle)
    while let block = newest {
      newest = block.pointee.older
      free(block)
    }
  }

  /// The header in front of each allocation.
  private struct Block {
    let size: Int
    var older: UnsafeMutablePointer<Block>?
    var newer: UnsafeMutablePointer<Block>?

    /// The header's size, rounded up to malloc's alignment.
    static let prefix = 32
  }

  /// The object that a call belongs to; nil when Little CMS allocates the few hundred bytes of the context itself.
  private static func owner(_ context: cmsContext?) -> ProfileContext? {
    cmsGetContextUserData(context).map { Unmanaged<ProfileContext>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func reallocate(
    _ context: cmsContext?, _ bytes: UnsafeMutableRawPointer?, _ size: UInt32
  ) -> UnsafeMutableRawPointer? {
    let owner = owner(context)
    let block = bytes.map { ($0 - Block.prefix).assumingMemoryBound(to: Block.self) }
    let needed = Int(size) + Block.prefix
    if let owner, owner.held - (block?.pointee.size ?? 0) + needed > owner.limit { return nil }
    if let block { owner?.unlink(block) }
    let moved = realloc(block, needed)
    guard let fresh = moved?.bindMemory(to: Block.self, capacity: 1) else {
      if let block { owner?.link(block) }
      return nil
    }
    fresh.initialize(to: Block(size: needed))
    owner?.link(fresh)
    return UnsafeMutableRawPointer(fresh) + Block.prefix
  }

  private static func release(_ context: cmsContext?, _ bytes: UnsafeMutableRawPointer?) {
    guard let bytes else { return }
    let block = (bytes - Block.prefix).assumingMemoryBound(to: Block.self)
    owner(context)?.unlink(block)
    free(block)
  }

  private func link(_ block: UnsafeMutablePointer<Block>) {
    held += block.pointee.size
    peak = max(peak, held)
    block.pointee.older = newest
    block.pointee.newer = nil
    newest?.pointee.newer = block
    newest = block
  }

  private func unlink(_ block: UnsafeMutablePointer<Block>) {
    held -= block.pointee.size
    let (older, newer) = (block.pointee.older, block.pointee.newer)
    older?.pointee.newer = newer
    if let newer { newer.pointee.older = older } else { newest = older }
  }
}
#endif
