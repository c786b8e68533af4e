import Sourcing

/// The variables by which a scheduler tells a process which task of an array it is.
struct TaskArray {
  /// Has the number of the task.
  let variable: String
  /// The number of the first task of a usual array.
  var base = 0
  /// Have the first and last number of the array and the distance between two, if the scheduler tells them.
  package var first, last, step: String?
  /// Has the number of tasks, if the scheduler tells it.
  package var count: String?
  /// Whether the numbers of a whole array always begin at `base`, so that `count` is the number of shares.
  var alwaysBeginsAtBase = false

  /// In the order in which they are tried.
  package static let known = [
    // sbatch(1), "job arrays". The count is that of the tasks submitted together: --array=3,7 has two.
    TaskArray(
      variable: "SLURM_ARRAY_TASK_ID", first: "SLURM_ARRAY_TASK_MIN", last: "SLURM_ARRAY_TASK_MAX",
      step: "SLURM_ARRAY_TASK_STEP", count: "SLURM_ARRAY_TASK_COUNT"),
    // Kubernetes, Indexed Job: 0 to .spec.completions − 1, which is not told.
    TaskArray(variable: "JOB_COMPLETION_INDEX"),
    // AWS Batch, array jobs: 0 to the size − 1.
    TaskArray(variable: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE", alwaysBeginsAtBase: true),
    // PBS Professional, qsub -J first-last: only the number is told.
    TaskArray(variable: "PBS_ARRAY_INDEX"),
    // Grid Engine, qsub -t first-last:step, from 1; "undefined" outside of an array.
    TaskArray(
      variable: "SGE_TASK_ID", base: 1, first: "SGE_TASK_FIRST", last: "SGE_TASK_LAST", step: "SGE_TASK_STEPSIZE"),
    // LSF, bsub -J "name[1-64]", from 1; 0 outside of an array.
    TaskArray(variable: "LSB_JOBINDEX", base: 1),
    // GitLab CI, `parallel`: from 1 to the total.
    TaskArray(variable: "CI_NODE_INDEX", base: 1, count: "CI_NODE_TOTAL", alwaysBeginsAtBase: true),
  ]

  /// The array of this process, and the number of its task; nil if there is none.
  static func current(in environment: [String: String]) -> (array: TaskArray, task: Int)? {
    for array in known {
      if let task = environment[array.variable].flatMap({ Int($0) }), task >= array.base { return (array, task) }
    }
    return nil
  }

  /// The task's share of a known number of shares.
  package func shard(_ task: Int, of count: Int, isList: Bool) throws(TextError) -> Shard {
    let index = task - base
    guard index < count else {
      throw TextError(
        in: "shard", "\(variable) is \(task), but \(count) shares need an array from \(base) to \(base + count - 1)")
    }
    return Shard(index, of: count, isList: isList)
  }

  /// The task's share, if the scheduler tells the whole array. Of an array that begins elsewhere, or has gaps, it is not
  /// known whether it is whole: it may repeat some tasks of another.
  package func shard(_ task: Int, in environment: [String: String]) throws(TextError) -> Shard {
    func number(_ name: String?) -> Int? { name.flatMap { environment[$0] }.flatMap { Int($0) } }
    let unknown = TextError(
      in: "shard", "\(variable) is \(task), but of how many shares is not known; write their number: auto/64")
    let told = number(count)
    if alwaysBeginsAtBase {
      guard let told, told > 0 else { throw unknown }
      return try shard(task, of: told, isList: false)
    }
    guard let first = number(first), let last = number(last) else { throw unknown }
    let step = number(step) ?? 1
    guard step > 0, first == 0 || first == 1, step < 1 << 32, last < 1 << 32, (first...max(first, last)).contains(task)
    else { throw unknown }
    let shares = (last - first) / step + 1
    guard told ?? shares == shares, (task - first) % step == 0 else { throw unknown }
    return Shard((task - first) / step, of: shares)
  }
}
