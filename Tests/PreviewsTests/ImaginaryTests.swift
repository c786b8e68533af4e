import Testing
import Thumbnails

@testable import Previews

/// What requests to imaginary's routes ask for.
@Suite struct ImaginaryTests {
  private let dialects = PreviewDialects(key: nil)

  private func request(_ target: String, accept: String? = nil) throws -> PreviewRequest {
    let understood = try dialects.understand(try RequestHead(method: "POST", target: target, accept: accept))
    #expect(understood.dialect == "imaginary")
    guard case .make(let request) = understood.call else { throw Unexpected(call: understood.call) }
    return request
  }

  private struct Unexpected: Error { let call: PreviewCall }

  private func status(_ method: String, _ target: String) -> Int? {
    do {
      _ = try dialects.understand(try RequestHead(method: method, target: target))
      return nil
    } catch {
      return error.status
    }
  }

  /// For a picture of 1920 × 1080, as in imaginary's own tests.
  @Test(arguments: [
    ("/crop?width=300", "300x1080^"), ("/crop?width=300&height=260", "300x260^"),
    ("/resize?width=300", "300x"), ("/resize?width=300&nocrop=false", "300x1080^"),
    ("/resize?width=300&height=200&nocrop=false", "300x200^"), ("/resize?width=300&height=200", "300x200"),
    ("/resize?width=300&height=200&force=true", "300x200!"), ("/enlarge?width=300&height=200", "300x200^<"),
    ("/enlarge?width=300&height=200&nocrop=true", "300x200<"), ("/fit?width=300&height=300", "300x300"),
    ("/thumbnail?width=100", "100x"), ("/thumbnail?height=100", "x100"),
    ("/smartcrop?width=100&height=80", "100x80^attention"), ("/crop?width=100&height=80&gravity=north", "100x80^top"),
    ("/convert?type=png", "65500x65500"), ("/fit?width=300.4&height=299.6", "300x300"),
  ])
  func aRouteHasASize(_ target: String, _ size: String) throws {
    let shape = try request(target).shape
    #expect(try shape.size(of: PixelSize(width: 1920, height: 1080)).unnamed == size)
  }

  @Test func nextcloudsPipelineIsUnderstood() throws {
    let json =
      #"[{"operation":"autorotate"},{"operation":"fit","params":{"width":256,"height":"128","stripmeta":"true","#
      + #""type":"webp","norotation":"true","quality":"75"}}]"#
    let request = try request("/pipeline?operations=\(Self.escaped(json))&key=")
    var wanted = PreviewRequest(.box(try SizeSpec(width: 256, height: 128)), format: .webp)
    wanted.quality = 75
    #expect(request == wanted)
  }

  @Test func aPipelineOfConvertAndSmartcropKeepsTheFormat() throws {
    let json =
      #"[{"operation":"convert","params":{"type":"png"}},{"operation":"smartcrop","params":{"width":64,"height":64}}]"#
    let request = try request("/pipeline?operations=\(Self.escaped(json))")
    #expect(request.format == .png)
    #expect(request.shape == .box(try SizeSpec(width: 64, height: 64, mode: .fill, position: .attention)))
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  @Test(arguments: [
    ("GET", "/crop?width=300", 405), ("PUT", "/crop?width=300", 405), ("GET", "/resize?url=http://a/b.jpg", 405),
    ("POST", "/", 405), ("POST", "/nothing", 404), ("POST", "/crop", 400), ("POST", "/fit?width=300", 400),
    ("POST", "/fit?width=a&height=1", 400), ("POST", "/fit?width=-1&height=1", 400),
    ("POST", "/fit?width=99999&height=1", 400), ("POST", "/fit?width=1e300&height=1", 400),
    ("POST", "/fit?width=10&height=10&type=tiff", 400), ("POST", "/fit?width=10&height=10&quality=101", 400),
    ("POST", "/convert", 400), ("POST", "/rotate?rotate=90", 501), ("POST", "/fit?width=1&height=1&rotate=90", 501),
    ("POST", "/watermarkimage?image=http://a/", 501), ("POST", "/pipeline", 400),
    ("POST", "/pipeline?operations=%5B%5D", 400),
    ("POST", "/pipeline?operations=%5B%7B%22operation%22:%22nothing%22%7D%5D", 400),
    ("POST", "/pipeline?operations=%5B%7B%22operation%22:%22blur%22%7D%5D", 501),
    ("POST", "/fit?width=%zz&height=1", 400), ("POST", "/fit?width=%ff&height=1", 400),
  ])
  func aWrongRequestHasAStatus(_ method: String, _ target: String, _ wanted: Int) {
    #expect(status(method, target) == wanted)
  }

  @Test func nestedOperationsAreNoBomb() {
    let deep = String(repeating: "%5B", count: 3000)
    #expect(status("POST", "/pipeline?operations=\(deep)") == 400)
  }

  @Test func theTypeAutoFollowsWhatIsAccepted() throws {
    let target = "/fit?width=10&height=10&type=auto"
    #expect(try request(target, accept: "text/html, image/webp;q=0.8, */*").format == .webp)
    #expect(try request(target, accept: "image/png,image/jpeg").format == .png)
    #expect(try request(target, accept: "*/*").format == nil)
  }

  @Test func theKeyIsNeeded() throws {
    let dialects = PreviewDialects(key: "secret")
    func status(_ target: String, key: String? = nil) -> Int? {
      do {
        _ = try dialects.understand(try RequestHead(method: "POST", target: target, key: key))
        return nil
      } catch {
        return error.status
      }
    }
    #expect(status("/fit?width=1&height=1") == 401)
    #expect(status("/fit?width=1&height=1&key=secre") == 401)
    #expect(status("/fit?width=1&height=1&key=secretsecret") == 401)
    #expect(status("/fit?width=1&height=1&key=secret") == nil)
    #expect(status("/fit?width=1&height=1", key: "secret") == nil)
    #expect(status("/fit?width=1&height=1&key=secret", key: "other") == 401)
    #expect(status("/rotate?rotate=90") == 401)
    #expect(try dialects.understand(try RequestHead(method: "GET", target: "/health")).call == .health)
  }
}
