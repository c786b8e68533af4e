import Testing

@testable import StatusEndpoint

@Suite struct StatusAddressTests {
  @Test(arguments: [
    ("off", StatusAddress.off), ("unix:/run/x.sock", .unix("/run/x.sock")), ("unix:rel:ative", .unix("rel:ative")),
    ("127.0.0.1:8080", .tcp(host: "127.0.0.1", port: 8080)), ("localhost:0", .tcp(host: "localhost", port: 0)),
    ("[::1]:8080", .tcp(host: "::1", port: 8080)), ("[fe80::1%eth0]:1", .tcp(host: "fe80::1%eth0", port: 1)),
    ("my-host.example:65535", .tcp(host: "my-host.example", port: 65535)),
  ])
  func anAddressIsWrittenAsItIsRead(text: String, address: StatusAddress) throws {
    #expect(try StatusAddress(text) == address)
    #expect(address.description == text)
  }

  @Test func aPortWithoutAHostIsOnThisMachine() throws {
    #expect(try StatusAddress(":8080") == .tcp(host: "127.0.0.1", port: 8080))
  }

  @Test(arguments: [
    ("", "neither"), ("8080", "neither"), ("unix:", "no path"), ("unix:/a\0b", "zero byte"), ("host:", "0 to 65535"),
    ("host:65536", "0 to 65535"), ("host:-1", "0 to 65535"), ("host:+1", "0 to 65535"), ("host:8o", "0 to 65535"),
    ("host:99999999999999999999", "0 to 65535"), ("::1:8080", "brackets"), ("http://host:80", "brackets"),
    ("ho st:80", "name or an IP"), ("[]:80", "no IPv6 address"), ("[localhost]:80", "no IPv6 address"),
    ("[:: 1]:80", "no IPv6 address"),
  ])
  func invalidAddressesAreRefusedWithAReason(text: String, reason: String) {
    let error = #expect(throws: StatusAddressError.self) { try StatusAddress(text) }
    #expect(error?.description.contains(reason) == true)
  }
}
