package dev.kastor.simulator.bench;

import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.event.EventSettings;
import dev.kastor.simulator.event.EventSimulation;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.ReplayListener;
import dev.kastor.simulator.replay.Sample;
import dev.kastor.traces.Workload;
import dev.kastor.traces.generate.ClusterStudies;
import dev.kastor.traces.generate.WorkloadGenerator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Replays a long generated workload on a large cluster under several policies and prints how long
 * that took. The workload has Philly's sizes and durations and keeps the cluster about full.
 */
public final class ScaleBenchmark {
  private static final Path STATUS = Path.of("/proc/self/status");

  private ScaleBenchmark() {}

  private record Measured(Replay replay, double wallSeconds) {}

  /**
   * Runs it.
   *
   * @param arguments jobs, cluster such as 2000x8, days over which jobs arrive, seconds between
   *     decisions at least, threads, then the policies
   */
  public static void main(String[] arguments)
      throws InterruptedException, ExecutionException, IOException {
    if (arguments.length < 6) {
      throw new IllegalArgumentException(
          "usage: JOBS CLUSTER DAYS DECISION_SECONDS THREADS POLICY...");
    }
    ClusterShape cluster = ClusterShape.parse(arguments[1]);
    Workload workload =
        WorkloadGenerator.durations(
            ClusterStudies.PHILLY,
            new WorkloadGenerator.Options(
                Integer.parseInt(arguments[0]),
                Duration.ofHours(Math.round(24 * Double.parseDouble(arguments[2]))),
                0,
                128,
                1));
    double work =
        workload.jobs().stream()
            .mapToDouble(j -> j.requestedReplicas() * j.durationSeconds())
            .sum();
    System.out.printf(
        Locale.ROOT,
        "%d jobs, %.0f GPU-hours over %s days on %s (%d GPUs), decisions at least %s s apart%n",
        workload.jobs().size(),
        work / 3600,
        arguments[2],
        cluster,
        cluster.gpus(),
        arguments[3]);
    EventSettings settings =
        EventSettings.defaults()
            .withDecisions(
                Duration.ofSeconds(Integer.parseInt(arguments[3])), Duration.ofSeconds(60));
    List<String> policies = List.of(arguments).subList(5, arguments.length);
    long began = System.nanoTime();
    List<Future<Measured>> running = new ArrayList<>();
    try (ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(arguments[4]))) {
      for (String policy : policies) {
        running.add(pool.submit(() -> replay(settings, cluster, workload, policy)));
      }
      System.out.println(
          "policy      wall s   CPU s   jobs/s  decisions  mean ms   max ms  mean active  most"
              + " active  util  JCT h");
      for (Future<Measured> one : running) {
        print(one.get());
      }
    }
    System.out.printf(
        Locale.ROOT,
        "all: %.1f s wall, peak resident memory %s%n",
        (System.nanoTime() - began) * 1e-9,
        peakMemory());
  }

  private static Measured replay(
      EventSettings settings, ClusterShape cluster, Workload workload, String policy) {
    long began = System.nanoTime();
    Replay replay =
        new EventSimulation(
                settings,
                cluster,
                workload,
                Map.of(),
                Policies.factory(policy, PolicyContext.online(1)),
                1,
                new Progress(policy))
            .run();
    return new Measured(replay, (System.nanoTime() - began) * 1e-9);
  }

  /** Tells on standard error whenever another tenth of the jobs is done. */
  private static final class Progress implements ReplayListener {
    private final String policy;
    private int tenths;

    Progress(String policy) {
      this.policy = policy;
    }

    @Override
    public void at(double seconds, int done, int all) {
      if (10L * done / all > tenths) {
        tenths = (int) (10L * done / all);
        System.err.printf(
            Locale.ROOT, "%s: %d0 %% done at %.1f days%n", policy, tenths, seconds / 86_400);
      }
    }
  }

  private static void print(Measured measured) {
    Replay replay = measured.replay();
    List<Sample> samples = replay.samples();
    System.out.printf(
        Locale.ROOT,
        "%-10s %7.1f %7.1f %8.0f %10d %8.3f %8.2f %12.0f %12d %5.2f %6.2f%n",
        replay.policy(),
        measured.wallSeconds(),
        replay.cpuSeconds(),
        replay.jobs().size() / measured.wallSeconds(),
        replay.decisions().count(),
        replay.decisions().mean(),
        replay.decisions().max(),
        samples.stream().mapToInt(Sample::activeJobs).average().orElse(0),
        samples.stream().mapToInt(Sample::activeJobs).max().orElse(0),
        samples.stream().mapToDouble(s -> (double) s.gpusInUse() / s.gpus()).average().orElse(0),
        replay.averageSeconds() / 3600);
  }

  private static String peakMemory() throws IOException {
    if (!Files.isReadable(STATUS)) {
      return "unknown";
    }
    return Files.readAllLines(STATUS).stream()
        .filter(line -> line.startsWith("VmHWM:"))
        .map(line -> line.substring(6).strip())
        .findFirst()
        .orElse("unknown");
  }
}
