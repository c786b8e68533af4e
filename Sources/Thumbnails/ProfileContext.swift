import CLcms2
import Foundation

/// A Little CMS context that may hold so many bytes and no more.
///
/// A profile is a stranger's data, and a few bytes of it can ask for any amount of memory. What is refused here ends in
/// a profile that cannot be used.
///
/// *Concurrency*: for one thread at a time, together with everything made with it.
final class ProfileContext {
  /// What a profile of so many bytes may take: a copy of it, the two or three tables of it that are read, in 16 bits and
  /// twice, and a transform. Real profiles take two thirds.
  static func allowance(forProfileOf size: Int) -> Int { size * 7 / 2 + 1 << 20 }

  private(set) var handle: cmsContext?
  /// Bytes allocated at this moment, and the most there ever were.
  private(set) var held = 0
  private(set) var peak = 0
  /// What may be held from now on.
  var limit = 64 << 10

  init() {
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

  deinit { cmsDeleteContext(handle) }

  /// In front of every block stands its size, as wide as the alignment malloc promises.
  private static let prefix = 16

  /// Whose a call is: nobody's for the few hundred bytes of the context itself.
  private static func owner(_ context: cmsContext?) -> ProfileContext? {
    cmsGetContextUserData(context).map { Unmanaged<ProfileContext>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func reallocate(
    _ context: cmsContext?, _ block: UnsafeMutableRawPointer?, _ size: UInt32
  ) -> UnsafeMutableRawPointer? {
    let owner = owner(context)
    let before = block.map { ($0 - prefix).load(as: Int.self) } ?? 0
    let needed = Int(size) + prefix
    if let owner, owner.held - before + needed > owner.limit { return nil }
    guard let fresh = realloc(block.map { $0 - prefix }, needed) else { return nil }
    fresh.storeBytes(of: needed, as: Int.self)
    if let owner {
      owner.held += needed - before
      owner.peak = max(owner.peak, owner.held)
    }
    return fresh + prefix
  }

  private static func release(_ context: cmsContext?, _ block: UnsafeMutableRawPointer?) {
    guard let block else { return }
    owner(context)?.held -= (block - prefix).load(as: Int.self)
    free(block - prefix)
  }
}
