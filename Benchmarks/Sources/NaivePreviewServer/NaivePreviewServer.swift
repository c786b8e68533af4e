import ArgumentParser
import Dispatch
import Hummingbird
import Logging
import Thumbnails

/// The preview server that many would write first: `POST /fit?width=&height=` collects the picture in memory, and makes its
/// preview in a block on a global queue of Dispatch. The library is that of `thumbjob serve`. Nothing limits how many pictures
/// are held, and how many previews are made at once.
@main
struct NaivePreviewServer: AsyncParsableCommand {
  @Option var port = 8080

  /// The most bytes of a picture, as for `thumbjob serve`.
  static let limitBytes = 256 << 20

  func run() async throws {
    let router = Router()
    router.get("health") { _, _ -> String in "ok\n" }
    router.post("fit") { request, _ -> Response in
      let query = request.uri.queryParameters
      let size = try SizeSpec(
        width: query.require("width", as: Int.self), height: query.require("height", as: Int.self))
      var request = request
      let picture = try await request.collectBody(upTo: Self.limitBytes)
      let preview = try await Self.preview(of: picture, ThumbnailOptions(sizes: [size], quality: 80))
      return Response(
        status: .ok, headers: [.contentType: "image/jpeg"], body: ResponseBody(byteBuffer: preview))
    }

    var logger = Logger(label: "server")
    logger.logLevel = .error
    let server = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port), backlog: 1024), logger: logger)
    try await server.runService()
  }

  private static func preview(of picture: ByteBuffer, _ options: ThumbnailOptions) async throws -> ByteBuffer {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try Self.makePreview(of: picture, options) })
      }
    }
  }

  private static func makePreview(of picture: ByteBuffer, _ options: ThumbnailOptions) throws -> ByteBuffer {
    // Reads the picture where it is: a copy would take as much memory again.
    let source = ByteReader(size: picture.readableBytes) { offset, buffer in
      let run = picture.readableBytesView.dropFirst(Int(offset)).prefix(buffer.count)
      buffer.copyBytes(from: run)
      return .success(run.count)
    }
    var preview = ByteBuffer()
    try ThumbnailMaker().makeThumbnails(of: source, options: options) { thumbnail in
      preview.writeBytes(thumbnail.bytes)
    }
    return preview
  }
}
