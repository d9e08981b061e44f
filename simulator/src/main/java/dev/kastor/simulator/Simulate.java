package dev.kastor.simulator;

import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.policy.Policies;
import dev.kastor.scheduler.policy.PolicyOptions;
import dev.kastor.simulator.event.EventSimulation;
import dev.kastor.simulator.tick.TickSettings;
import dev.kastor.simulator.tick.TickSimulation;
import dev.kastor.traces.Application;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

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
      ready(run, inputs);
    }
    return new Simulate(runs, inputs);
  }

  /** Finds what only the simulation itself can tell. */
  private static void ready(Run run, Inputs inputs) throws TraceException {
    try {
      var _ = simulation(run, inputs, (seconds, done, all) -> {});
    } catch (IllegalArgumentException e) {
      throw new TraceException("%s: %s".formatted(run.workload(), e.getMessage()), e);
    }
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
    Replay replay = simulation(run, inputs, listener).get();
    return new Outcome(
        run,
        replay,
        Fairness.of(replay, run.cluster(), inputs.workload(run), inputs.applications(run)));
  }

  /** A replay that is ready to begin. */
  private static Supplier<Replay> simulation(Run run, Inputs inputs, ReplayListener listener)
      throws TraceException {
    Workload workload = inputs.workload(run);
    Map<String, Application> applications = inputs.applications(run);
    return switch (run.mode()) {
      case POLLUX, SIA -> {
        TickSettings settings =
            new TickSettings(
                run.mode(),
                Optional.of(run.round()),
                run.conditions().interference(),
                TickSettings.of(run.mode()).limit());
        Policy policy = Policies.create(run.policy(), PolicyOptions.faithful(run.seed()));
        yield new TickSimulation(
                settings, run.cluster(), workload, applications, policy, run.seed(), listener)
            ::run;
      }
      case EVENTS -> {
        Policy policy = Policies.create(run.policy(), PolicyOptions.defaults(run.seed()));
        yield new EventSimulation(
                run.conditions().settings(run.round()),
                run.cluster(),
                workload,
                applications,
                policy,
                run.seed(),
                listener)
            ::run;
      }
    };
  }
}
