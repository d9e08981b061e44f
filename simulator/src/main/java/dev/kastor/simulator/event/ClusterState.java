package dev.kastor.simulator.event;

import dev.kastor.simulator.replay.Sample;
import java.util.SequencedMap;
import java.util.TreeMap;

/** How many jobs and GPUs are busy, kept up to date with every change; owned by one simulation. */
final class ClusterState {
  private final SequencedMap<String, Integer> gpusByApplication = new TreeMap<>();
  private int activeJobs;
  private int runningJobs;
  private int gpusInUse;

  void arrived() {
    activeJobs++;
  }

  void left() {
    activeJobs--;
  }

  int activeJobs() {
    return activeJobs;
  }

  /** Jobs that hold anything. */
  int runningJobs() {
    return runningJobs;
  }

  /** A job got what it holds. */
  void took(EventJob job) {
    count(job, 1);
  }

  /** A job is about to lose what it holds. */
  void frees(EventJob job) {
    count(job, -1);
  }

  private void count(EventJob job, int sign) {
    int gpus = sign * job.allocation().slots();
    if (gpus != 0) {
      runningJobs += sign;
      gpusInUse += gpus;
      gpusByApplication.merge(
          job.application().name(), gpus, (a, b) -> a + b == 0 ? null : (Integer) (a + b));
    }
  }

  Sample sample(double seconds, int gpus, double meanEfficiency) {
    return new Sample(
        seconds, activeJobs, runningJobs, gpusInUse, gpus, meanEfficiency, gpusByApplication);
  }
}
