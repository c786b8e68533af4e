import Testing
import Thumbnails

@testable import Previews

/// What paths of imagor ask for.
@Suite struct ImagorTests {
  private func request(_ target: String, key: String? = nil) throws -> PreviewRequest {
    let understood = try PreviewDialects(key: key).understand(try RequestHead(method: "POST", target: target))
    #expect(understood.dialect == "imagor")
    guard case .make(let request) = understood.call else { throw Unexpected() }
    return request
  }

  private struct Unexpected: Error {}

  private func status(_ target: String, key: String? = nil, sent: String? = nil) -> Int? {
    do {
      _ = try PreviewDialects(key: key).understand(try RequestHead(method: "POST", target: target, key: sent))
      return nil
    } catch {
      return error.status
    }
  }

  /// For a picture of 1920 × 1080.
  @Test(arguments: [
    ("/unsafe/300x200/", "300x200^<"), ("/unsafe/fit-in/300x200/", "300x200"), ("/unsafe/stretch/300x200/", "300x200!"),
    ("/unsafe/300x200/smart/", "300x200^attention<"), ("/unsafe/300x200/left/top/", "300x200^top-left<"),
    ("/unsafe/300x200/right/", "300x200^right<"), ("/unsafe/300x200/center/middle/", "300x200^<"),
    ("/unsafe/300x/", "300x<"), ("/unsafe/0x200/", "x200<"), ("/unsafe/x/", "65500x65500"),
    ("/unsafe/fit-in/300x200/filters:upscale()/", "300x200<"), ("/unsafe/300x200/filters:no_upscale()/", "300x200^"),
    ("/unsafe/fit-in/7680x4320/filters:format(png):no_upscale()/", "7680x4320"),
    ("/unsafe/300x200/filters:stretch():no_upscale()/photo.jpg", "300x200!>"),
    ("//unsafe/300x200/name.png", "300x200^<"),
    ("/unsafe/300x200", "300x200^<"), ("/unsafe/filters:quality(10)/a/b/c.jpg", "65500x65500"),
  ])
  func aPathHasASize(_ target: String, _ size: String) throws {
    #expect(try request(target).shape.size(of: PixelSize(width: 1920, height: 1080)).unnamed == size)
  }

  @Test func filtersHaveFormatAndQuality() throws {
    let request = try request("/unsafe/8x8/filters:format(webp):quality(50):strip_exif():background_color(ff0000)/")
    #expect(request.format == .webp)
    #expect(request.quality == 50)
    #expect(request.background == RGBColor(red: 255, green: 0, blue: 0))
    #expect(try self.request("/unsafe/8x8/filters:format(jpg)/").format == .jpeg)
    #expect(try self.request("/unsafe/8x8/filters%3Aformat%28png%29/").format == .png)
  }

  @Test(arguments: [
    ("/unsafe/trim/300x200/", 501), ("/unsafe/meta/300x200/", 501), ("/unsafe/10x10:20x20/300x200/", 501),
    ("/unsafe/-300x200/", 501), ("/unsafe/300x200/10x10/", 501), ("/unsafe/300x200/filters:blur(5)/", 501),
    ("/unsafe/300x200/filters:watermark(a(b),1)/", 501), ("/unsafe/300x200/filters:format(bmp)/", 406),
    ("/unsafe/99999x1/", 400), ("/unsafe/8x8/filters:quality(101)/", 400), ("/unsafe/8x8/filters:quality(/", 400),
    ("/unsafe/8x8/filters:)/", 400), ("/AAAAAAAAAAAAAAAAAAAAAAAAAAA=/8x8/", 403), ("/other/8x8/", 404),
    ("/unsafe", 404),
  ])
  func aWrongPathHasAStatus(_ target: String, _ wanted: Int) { #expect(status(target) == wanted) }

  /// The signature was made with `openssl dgst -sha1 -hmac`.
  @Test func aSignedPathIsAccepted() throws {
    let path = "300x200/smart/path/to/image.jpg"
    let sha1 = "3ZAFIB9OK_j_R10MafCdhFO99mE="
    #expect(status("/\(sha1)/\(path)", key: "MY_SECURE_KEY") == nil)
    #expect(status("/\(sha1)/\(path)x", key: "MY_SECURE_KEY") == 403)
    #expect(status("/\(sha1)/\(path)", key: "OTHER") == 403)
    #expect(status("/unsafe/300x200/", key: "MY_SECURE_KEY") == 403)
    #expect(status("/unsafe/300x200/", key: "MY_SECURE_KEY", sent: "MY_SECURE_KEY") == nil)
  }
}
