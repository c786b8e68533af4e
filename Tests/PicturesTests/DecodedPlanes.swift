import CDecoding
import CPictures
import Pictures

/// What `cpictures_decode` makes of a file in memory.
struct DecodedPlanes {
  var reply = cdecoding_reply()
  /// The samples of each plane.
  private(set) var planes: [[UInt8]] = []
  private(set) var profile: [UInt8] = []
  private(set) var request = cdecoding_request()

  static let background: [UInt8] = [200, 100, 50]

  /// Decodes a PNG or GIF into planes of means of `shrink` × `shrink` pixels.
  ///
  /// - parameters:
  ///   - profileCapacity: the memory for the profile.
  ///   - stopAfter: how many times decoding may ask whether to go on; nil for ever.
  ///   - unreadableFrom: reading from here on fails.
  ///   - change: changes the request.
  init(
    _ bytes: [UInt8], kind: cdecoding_kind, width: Int, height: Int, planeCount: Int, shrink: Int,
    profileCapacity: Int = 0,
    stopAfter: Int? = nil, unreadableFrom: Int? = nil, change: (inout cdecoding_request) -> Void = { _ in }
  ) {
    let (columns, rows) = ((width - 1) / shrink + 1, (height - 1) / shrink + 1)
    var planes: [cdecoding_plane] = (0..<4).map { index in
      guard index < planeCount else { return cdecoding_plane() }
      return cdecoding_plane(
        width: UInt32(width), height: UInt32(height), shrink_x: UInt32(shrink), shrink_y: UInt32(shrink),
        columns: UInt32(columns), rows: UInt32(rows), low: 0, high: 255, offset: UInt64(index * columns * rows))
    }
    request.kind = kind
    (request.width, request.height) = (UInt32(width), UInt32(height))
    request.plane_count = UInt32(planeCount)
    request.planes = (planes[0], planes[1], planes[2], planes[3])
    request.background = (Self.background[0], Self.background[1], Self.background[2], 0)
    request.profile_offset = UInt64(planeCount * columns * rows)
    request.profile_capacity = UInt64(profileCapacity)
    change(&request)
    planes = []
    var memory = [UInt8](repeating: 0xAA, count: planeCount * columns * rows + profileCapacity)
    let input = Input(bytes, stopAfter: stopAfter, unreadableFrom: unreadableFrom)
    withExtendedLifetime(input) {
      var calls = cpictures_input(
        context: Unmanaged.passUnretained(input).toOpaque(), size: UInt64(bytes.count),
        read: { context, offset, into, capacity in Input.of(context).read(offset, into, capacity) },
        proceed: { context, done in Input.of(context).proceed(done) })
      cpictures_decode(&request, nil, nil, &calls, &memory, memory.count, &reply)
    }
    self.planes = (0..<planeCount).map { Array(memory[$0 * columns * rows..<($0 + 1) * columns * rows]) }
    profile = Array(memory[(planeCount * columns * rows)...].prefix(Int(reply.profile_size)))
  }

  var message: String { Self.text(reply.message) }
  var warning: String { Self.text(reply.warnings.2) }
  var status: cdecoding_status { reply.status }

  private static func text(_ characters: some Any) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// The largest difference of a sample from the exact mean of a picture, mixed with the background.
  func largestError(
    width: Int, height: Int, shrink: Int, pixel: (Int, Int) -> (colors: [Double], alpha: Double)
  ) -> Double {
    var largest = 0.0
    let columns = (width - 1) / shrink + 1
    for row in 0..<(height - 1) / shrink + 1 {
      for column in 0..<columns {
        let places = (row * shrink..<min((row + 1) * shrink, height)).flatMap { y in
          (column * shrink..<min((column + 1) * shrink, width)).map { ($0, y) }
        }
        let pixels = places.map(pixel)
        let opacity = pixels.reduce(0) { $0 + $1.alpha / 255 } / Double(pixels.count)
        for (index, plane) in planes.enumerated() {
          let sum = pixels.reduce(0) { $0 + $1.colors[index] * $1.alpha / 255 }
          let mean = sum / Double(pixels.count) + Double(Self.background[index]) * (1 - opacity)
          largest = max(largest, abs(Double(plane[row * columns + column]) - mean))
        }
      }
    }
    return largest
  }

  /// A file in memory, as the decoder sees it.
  private final class Input {
    private let bytes: [UInt8]
    private var callsLeft: Int
    private let unreadableFrom: Int

    init(_ bytes: [UInt8], stopAfter: Int?, unreadableFrom: Int?) {
      self.bytes = bytes
      callsLeft = stopAfter ?? .max
      self.unreadableFrom = unreadableFrom ?? .max
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> Input {
      guard let context else { preconditionFailure("the decoder lost its context") }
      return Unmanaged<Input>.fromOpaque(context).takeUnretainedValue()
    }

    func read(_ offset: UInt64, _ into: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int {
      guard offset < unreadableFrom else { return -1 }
      let part = bytes[min(Int(offset), bytes.count)...].prefix(min(capacity, unreadableFrom - Int(offset)))
      for (index, byte) in part.enumerated() { into[index] = byte }
      return part.count
    }

    func proceed(_ done: Double) -> Bool {
      precondition((0...1).contains(done))
      callsLeft -= 1
      return callsLeft >= 0
    }
  }
}
