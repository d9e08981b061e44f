package dev.kastor.simulator;

import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.policy.Policies;
import dev.kastor.scheduler.policy.PolicyOptions;
import dev.kastor.simulator.tick.TickSettings;
import dev.kastor.simulator.tick.TickSimulation;
import dev.kastor.traces.Application;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Many replays that are checked together before the first begins: the library behind {@code kastor
 * simulate} and {@code kastor sweep}.
 */
public final class Simulate {
  private final List<Run> runs;
  private final Inputs inputs;

  private Simulate(List<Run> runs, Inputs inputs) {
    this.runs = List.copyOf(runs);
    this.inputs = inputs;
  }

  /**
   * Reads all that the runs name.
   *
   * @throws TraceException if a file is bad or a job can never fit its cluster
   * @throws IllegalArgumentException if there is no such policy; the message lists all
   */
  public static Simulate prepare(List<Run> runs) throws TraceException {
    Inputs inputs = new Inputs();
    for (Run run : runs) {
      Fit.check(run, inputs.workload(run), inputs.applications(run));
    }
    return new Simulate(runs, inputs);
  }

  /** What will be replayed. */
  public List<Run> runs() {
    return runs;
  }

  /** Makes all replays on so many threads; the outcomes are in the order of the runs. */
  public List<Outcome> all(int threads, RunListener listener) throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    List<Future<List<Indexed>>> workers = new ArrayList<>();
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      for (int t = 0; t < threads; t++) {
        // An application remembers what it was asked, so each worker reads its own.
        Inputs own = t == 0 ? inputs : new Inputs();
        workers.add(pool.submit(() -> work(own, next, listener)));
      }
      try {
        Outcome[] outcomes = new Outcome[runs.size()];
        for (Future<List<Indexed>> worker : workers) {
          worker.get().forEach(done -> outcomes[done.run()] = done.outcome());
        }
        return List.of(outcomes);
      } catch (ExecutionException e) {
        pool.shutdownNow();
        throw e.getCause() instanceof RuntimeException known
            ? known
            : new IllegalStateException(e.getCause());
      } catch (InterruptedException e) {
        pool.shutdownNow();
        throw e;
      }
    }
  }

  private record Indexed(int run, Outcome outcome) {}

  private List<Indexed> work(Inputs own, AtomicInteger next, RunListener listener)
      throws TraceException {
    List<Indexed> done = new ArrayList<>();
    for (int r = next.getAndIncrement(); r < runs.size(); r = next.getAndIncrement()) {
      int run = r;
      Outcome outcome =
          one(
              runs.get(run),
              own,
              (seconds, finished, all) -> {
                if (Thread.interrupted()) {
                  throw new CancellationException("stopped at %.0f s".formatted(seconds));
                }
                listener.at(run, seconds, finished, all);
              });
      listener.finished(run, outcome);
      done.add(new Indexed(run, outcome));
    }
    return done;
  }

  private static Outcome one(Run run, Inputs inputs, ReplayListener listener)
      throws TraceException {
    Workload workload = inputs.workload(run);
    Map<String, Application> applications = inputs.applications(run);
    Replay replay =
        switch (run.mode()) {
          case POLLUX, SIA ->
              new TickSimulation(
                      TickSettings.of(run.mode()).withRound(run.round()),
                      run.cluster(),
                      workload,
                      applications,
                      Policies.create(run.policy(), PolicyOptions.faithful(run.seed())),
                      run.seed(),
                      listener)
                  .run();
          case EVENTS -> events(run, workload, inputs);
        };
    return new Outcome(run, replay, Fairness.of(replay, run.cluster(), workload, applications));
  }

  private static Replay events(Run run, Workload workload, Inputs inputs) throws TraceException {
    ClusterShape.Group group = run.cluster().groups().getFirst();
    Settings settings =
        Settings.defaults().withCluster(group.nodes(), group.gpusPerNode()).withRound(run.round());
    Policy policy = Policies.create(run.policy(), PolicyOptions.defaults(run.seed()));
    DecisionTimes.Timed timed = new DecisionTimes.Timed(policy);
    long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    Replay replay =
        new Simulation(workload, inputs.profiles(run), settings, timed, run.seed(), round -> {})
            .run();
    double cpuSeconds =
        (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu) * 1e-9;
    return new Replay(
        run.policy(),
        run.workload(),
        Mode.EVENTS,
        run.seed(),
        replay.jobs(),
        cpuSeconds,
        timed.times(),
        replay.samples());
  }
}
