// swift-tools-version: 6.2
import PackageDescription

/// As in the package that is measured: one set of settings, and no warnings where the project itself is checked.
let settings: [SwiftSetting] =
  [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
  + (Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)])

/// A package of its own, so that what only measuring needs is no dependency of thumbjob.
let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "thumbjob", path: "../"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ],
  targets: [
    .target(
      name: "Measuring",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "bench-queue",
      dependencies: [
        "Measuring",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "BoundedQueue", package: "thumbjob"),
      ],
      path: "Sources/QueueBenchmarks", swiftSettings: settings),
    .executableTarget(
      name: "server-example",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "BoundedQueue", package: "thumbjob"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/ServerExample", swiftSettings: settings),
    .executableTarget(
      name: "naive-preview-server",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Thumbnails", package: "thumbjob"),
      ],
      path: "Sources/NaivePreviewServer", swiftSettings: settings),
    .executableTarget(
      name: "bench-decoder",
      dependencies: [
        "Measuring",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Thumbnails", package: "thumbjob"),
      ],
      path: "Sources/DecoderBenchmarks", swiftSettings: settings),
    .executableTarget(
      name: "bench-locks",
      dependencies: [
        "Measuring",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "LockContest", package: "thumbjob"),
        .product(name: "Locking", package: "thumbjob"),
      ],
      path: "Sources/LockStudy", swiftSettings: settings),
    .executableTarget(
      name: "bench-cache",
      dependencies: [
        "Measuring",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Caching", package: "thumbjob"),
        .product(name: "Locking", package: "thumbjob"),
      ],
      path: "Sources/CacheBenchmarks", swiftSettings: settings),
  ]
)
