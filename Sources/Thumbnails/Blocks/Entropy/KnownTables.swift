/// The step tables of the last sequential scan, and the other tables of the last one that needed them. Many encoders write
/// the example codes of ITU-T T.81, K.3, into every file, so the next scan often needs the same tables.
///
/// The entries take at most 256 KiB: for each of four components, two step tables of 8 KiB, a value table of 16 KiB and two
/// coefficient tables of 16 KiB.
///
/// *Concurrency*: for one thread at a time, as the workspace that owns it.
final class KnownTables {
  var steps: StepTables?
  var values: ValueTables?
  var coefficients: CoefficientTables?
}
