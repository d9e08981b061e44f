package dev.kastor.simulator.replay;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What became of a workload under one policy.
 *
 * @param policy name of the policy
 * @param workload the workload's path as it was given
 * @param mode whose rules of time held
 * @param seed of all random choices
 * @param jobs in submission order
 * @param cpuSeconds CPU time of the thread that replayed
 * @param decisions how long the policy took
 * @param samples the cluster after each decision, by rising time
 * @param nodeMoney what the nodes that were up cost from the first submission to the last end, in
 *     the currency of their prices
 */
public record Replay(
    String policy,
    String workload,
    Mode mode,
    long seed,
    List<Completed> jobs,
    double cpuSeconds,
    DecisionTimes decisions,
    List<Sample> samples,
    double nodeMoney) {
  /**
   * A finished job; times in seconds from the start of the replay.
   *
   * @param name its name
   * @param application what it trained
   * @param submitSeconds when it was submitted
   * @param startSeconds when it first got slots
   * @param finishSeconds when its work was done
   * @param restarts changes to another allocation after the first
   * @param moves those of them to other nodes with as many replicas
   * @param slotSeconds slots it held, summed over time
   * @param money what these slots cost: their share of their nodes' prices
   */
  public record Completed(
      String name,
      String application,
      double submitSeconds,
      double startSeconds,
      double finishSeconds,
      int restarts,
      int moves,
      double slotSeconds,
      double money) {
    /** A job that never moved, on nodes without prices. */
    public Completed(
        String name,
        String application,
        double submitSeconds,
        double startSeconds,
        double finishSeconds,
        int restarts,
        double slotSeconds) {
      this(
          name,
          application,
          submitSeconds,
          startSeconds,
          finishSeconds,
          restarts,
          0,
          slotSeconds,
          0);
    }

    /** The same on slots that cost this. */
    public Completed withMoney(double spent) {
      return new Completed(
          name,
          application,
          submitSeconds,
          startSeconds,
          finishSeconds,
          restarts,
          moves,
          slotSeconds,
          spent);
    }

    /** Job completion time: from submission to the end. */
    public double completionSeconds() {
      return finishSeconds - submitSeconds;
    }

    /** From submission to the first slots. */
    public double waitSeconds() {
      return startSeconds - submitSeconds;
    }
  }

  public Replay {
    jobs = List.copyOf(jobs);
    samples = List.copyOf(samples);
  }

  /** A replay on nodes without prices. */
  public Replay(
      String policy,
      String workload,
      Mode mode,
      long seed,
      List<Completed> jobs,
      double cpuSeconds,
      DecisionTimes decisions,
      List<Sample> samples) {
    this(policy, workload, mode, seed, jobs, cpuSeconds, decisions, samples, 0);
  }

  /** What the slots that jobs held cost. */
  public double jobMoney() {
    return sum(Completed::money);
  }

  /**
   * GPU-hours of all nodes that were there, used or not, from the first decision to the last end;
   * between the samples that were kept the cluster counts as it was at the earlier one.
   */
  public double providedGpuHours() {
    double seconds = 0;
    for (int i = 0; i < samples.size(); i++) {
      double until =
          i + 1 < samples.size()
              ? samples.get(i + 1).seconds()
              : jobs.stream().mapToDouble(Completed::finishSeconds).max().orElse(0);
      seconds += samples.get(i).gpus() * Math.max(0, until - samples.get(i).seconds());
    }
    return seconds / 3600;
  }

  /** Mean job completion time. */
  public double averageSeconds() {
    return sum(Completed::completionSeconds) / jobs.size();
  }

  /** Mean time to the first slots. */
  public double averageWaitSeconds() {
    return sum(Completed::waitSeconds) / jobs.size();
  }

  /** Completion time that {@code percent} of the jobs do not exceed, linearly interpolated. */
  public double percentileSeconds(double percent) {
    double[] sorted = jobs.stream().mapToDouble(Completed::completionSeconds).sorted().toArray();
    double at = percent / 100 * (sorted.length - 1);
    int below = (int) Math.floor(at);
    int above = (int) Math.ceil(at);
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  }

  /** From the first submission to the last completion; in Pollux's mode from time 0, as there. */
  public double makespanSeconds() {
    double from =
        mode == Mode.POLLUX
            ? 0
            : jobs.stream().mapToDouble(Completed::submitSeconds).min().orElse(0);
    return jobs.stream().mapToDouble(Completed::finishSeconds).max().orElse(from) - from;
  }

  /** Changes of all jobs together. */
  public int restarts() {
    return jobs.stream().mapToInt(Completed::restarts).sum();
  }

  /** Changes of all jobs to other nodes with as many replicas. */
  public int moves() {
    return jobs.stream().mapToInt(Completed::moves).sum();
  }

  /** Slots held, summed over jobs and time. */
  public double gpuHours() {
    return sum(Completed::slotSeconds) / 3600;
  }

  private double sum(ToDoubleFunction<Completed> value) {
    return jobs.stream().mapToDouble(value).sum();
  }
}
