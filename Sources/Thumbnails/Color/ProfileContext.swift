import CLcms2
import Foundation

/// A Little CMS context that may hold so many bytes and no more.
///
/// A profile is a stranger's data, and a few bytes of it can ask for any amount of memory. What is refused here ends in
/// a profile that cannot be used.
///
/// *Concurrency*: for one thread at a time, together with everything made with it.
final class ProfileContext {
  /// What a profile of so many bytes may take: a copy of it, a table of 16 bits that is nearly all of it three times
  /// over, and a transform. Profiles of printers, which hold six tables, take two thirds.
  static func allowance(forProfileOf size: Int) -> Int { size * 4 + 1 << 20 }

  private(set) var handle: cmsContext?
  /// Bytes allocated at this moment, and the most there ever were.
  private(set) var held = 0
  private(set) var peak = 0
  private let limit: Int
  private var newest: UnsafeMutablePointer<Block>?

  /// - parameter limit: bytes that may be held.
  init(limit: Int) {
    self.limit = limit
    var handler = cmsPluginMemHandler()
    // lcms2_plugin.h: 'acpp', the oldest version that knows contexts, 'memH'.
    handler.base.Magic = 0x6163_7070
    handler.base.ExpectedVersion = 2000
    handler.base.Type = 0x6D65_6D48
    handler.MallocPtr = { ProfileContext.reallocate($0, nil, $1) }
    handler.ReallocPtr = { ProfileContext.reallocate($0, $1, $2) }
    handler.FreePtr = { ProfileContext.release($0, $1) }
    handle = cmsCreateContext(&handler, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Gives everything back, also what Little CMS forgot on its way out of a failure.
  deinit {
    cmsDeleteContext(handle)
    while let block = newest {
      newest = block.pointee.older
      free(block)
    }
  }

  /// What stands in front of the bytes given out.
  private struct Block {
    let size: Int
    var older: UnsafeMutablePointer<Block>?
    var newer: UnsafeMutablePointer<Block>?

    /// Its own bytes, up to the next multiple of the alignment malloc promises.
    static let prefix = 32
  }

  /// Whose a call is: nobody's for the few hundred bytes of the context itself.
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
