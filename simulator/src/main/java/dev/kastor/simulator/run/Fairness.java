package dev.kastor.simulator.run;

import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.profile.Applications;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finish-time fairness of a replay (Themis, NSDI 2020; used by Sia, SOSP 2023): a job's completion
 * time over the time that it would take alone on 1/N of the cluster, where N is the mean number of
 * unfinished jobs while it was there. Above 1, sharing cost it more than its share.
 *
 * <p>Unlike in the papers, the time alone does not depend on the policy: it is the best that the
 * job could do there, see {@link SoloTime}.
 *
 * @param ratios one for each job in submission order; 0 for one that could not run there alone
 */
public record Fairness(List<Double> ratios) {
  public Fairness {
    ratios = List.copyOf(ratios);
  }

  static Fairness of(
      Replay replay,
      ClusterShape cluster,
      Workload workload,
      Map<String, Application> applications) {
    Contention contention = new Contention(replay.jobs());
    Map<String, SoloTime> alone = new HashMap<>();
    List<Double> ratios = new ArrayList<>();
    for (int j = 0; j < workload.jobs().size(); j++) {
      Workload.Job job = workload.jobs().get(j);
      Replay.Completed done = replay.jobs().get(j);
      Application application = Applications.of(job, applications);
      double share = 1 / contention.mean(done.submitSeconds(), done.finishSeconds());
      SoloTime solo =
          job.durationSeconds() > 0
              ? new SoloTime(cluster, application)
              : alone.computeIfAbsent(
                  job.application(), name -> new SoloTime(cluster, application));
      double seconds = solo.seconds(job, share);
      ratios.add(done.completionSeconds() / seconds);
    }
    return new Fairness(ratios);
  }

  /** The largest ratio. */
  public double worst() {
    return Collections.max(ratios);
  }

  /** Share of the jobs, in [0, 1], that did worse than alone. */
  public double shareAboveOne() {
    return (double) ratios.stream().filter(ratio -> ratio > 1).count() / ratios.size();
  }

  /** How many jobs are unfinished, over time. */
  private static final class Contention {
    private final double[] submits;
    private final double[] finishes;
    private final double[] submitSums;
    private final double[] finishSums;

    Contention(List<Replay.Completed> jobs) {
      submits = jobs.stream().mapToDouble(Replay.Completed::submitSeconds).sorted().toArray();
      finishes = jobs.stream().mapToDouble(Replay.Completed::finishSeconds).sorted().toArray();
      submitSums = sums(submits);
      finishSums = sums(finishes);
    }

    /** Mean over a span of time; at least 1, since whoever asks was there. */
    double mean(double from, double to) {
      return Math.max(1, (jobSeconds(to) - jobSeconds(from)) / (to - from));
    }

    /** Time that all jobs together were unfinished before {@code time}. */
    private double jobSeconds(double time) {
      return passed(submits, submitSums, time) - passed(finishes, finishSums, time);
    }

    /** The sum of {@code time - event} over the events before it. */
    private static double passed(double[] events, double[] sums, double time) {
      int found = Arrays.binarySearch(events, time);
      int before = found >= 0 ? found : -found - 1;
      return before * time - sums[before];
    }

    private static double[] sums(double[] values) {
      double[] sums = new double[values.length + 1];
      for (int i = 0; i < values.length; i++) {
        sums[i + 1] = sums[i] + values[i];
      }
      return sums;
    }
  }
}
