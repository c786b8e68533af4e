// swift-tools-version: 6.2
import PackageDescription

/// Uses BoundedQueue beside other packages, as a server does.
let package = Package(
  name: "hooks", platforms: [.macOS(.v15)],
  dependencies: [
    .package(
      name: "thumbjob", path: "../../..",
      traits: ["ServiceLifecycleSupport", "LoggingSupport", "MetricsSupport", "TracingSupport"]),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(
      name: "hooks",
      dependencies: [
        .product(name: "BoundedQueue", package: "thumbjob"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ]
)
