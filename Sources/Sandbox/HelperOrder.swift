import CDecoding

/// To whom a picture belongs. No process works on pictures of two owners: the second could see what the first has left there.
package enum PictureOwner: Sendable, Hashable {
  /// The user that owns the file.
  case user(UInt32)
  /// The host that was asked for the picture, or the bucket.
  case host(String)
}

/// The work on one picture that is given to a ``HelperProcess``.
protocol HelperOrder {
  /// What the process makes.
  associatedtype Result

  var owner: PictureOwner { get }
  /// The memory that the work may take besides what is shared, in bytes.
  var workingBytes: Int { get }
  /// The layout of the shared memory; nil if the order contradicts itself or is too large.
  var layout: cdecoding_layout? { get }
  /// The request, without its number.
  var message: cdecoding_request_message { get }
  /// The file that the process reads; nil if it reads none. It stays the caller's.
  var fileToRead: CInt? { get }

  /// Puts what the process needs into the shared memory.
  func fill(_ memory: SharedMemory, _ layout: cdecoding_layout)

  /// What a successful process has made.
  ///
  /// - Throws: ``SandboxError/brokenProtocol(_:)``.
  func result(
    of reply: cdecoding_reply, in memory: SharedMemory, _ layout: cdecoding_layout
  ) throws(SandboxError) -> Result
}
