package dev.kastor.simulator.run;

import dev.kastor.scheduler.estimate.FamilyMemory;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.event.EventSimulation;
import dev.kastor.simulator.event.Largest;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.ReplayListener;
import dev.kastor.simulator.tick.TickSettings;
import dev.kastor.simulator.tick.TickSimulation;
import dev.kastor.traces.Application;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
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
   */
  public static Simulate prepare(List<Run> runs) throws TraceException {
    Inputs inputs = new Inputs();
    Set<Run> checked = new HashSet<>();
    for (Run run : runs) {
      // Whether a run can begin does not depend on its seed.
      if (checked.add(run.withSeed(0))) {
        Fit.check(run, inputs.workload(run), inputs.applications(run));
        ready(run, inputs);
      }
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

  /**
   * The bound below which no schedule can bring the mean completion time of a run's workload, on
   * the largest cluster that the run has; all runs of a workload have the same.
   *
   * @param listener is told how many of {@link LowerBound#ENOUGH_STEPS} are done
   * @throws TraceException if a job can never run
   */
  public LowerBound bound(Run run, Duration slot, IntConsumer listener) throws TraceException {
    try {
      return LowerBound.of(
          Largest.of(run.cluster(), run.conditions().resizes(), run.conditions().autoscaling()),
          inputs.workload(run),
          inputs.applications(run),
          slot,
          LowerBound.ENOUGH_STEPS,
          listener);
    } catch (IllegalArgumentException e) {
      throw new TraceException("%s: %s".formatted(run.workload(), e.getMessage()), e);
    }
  }

  /**
   * Makes all replays on so many threads; the outcomes are in the order of the runs, without those
   * that failed where the listener lets the others go on.
   */
  public List<Outcome> all(int threads, RunListener listener) throws InterruptedException {
    Outcome[] outcomes = new Outcome[runs.size()];
    each(
        threads,
        new RunListener() {
          @Override
          public void at(int run, double seconds, int done, int all) {
            listener.at(run, seconds, done, all);
          }

          @Override
          public void finished(int run, Outcome outcome) {
            outcomes[run] = outcome;
            listener.finished(run, outcome);
          }

          @Override
          public boolean failed(int run, RuntimeException why) {
            return listener.failed(run, why);
          }
        });
    return Arrays.stream(outcomes).filter(Objects::nonNull).toList();
  }

  /** Makes all replays on so many threads and keeps none of them: the listener gets each. */
  public void each(int threads, RunListener listener) throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    List<Future<?>> workers = new ArrayList<>();
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      for (int t = 0; t < threads; t++) {
        // An application remembers what it was asked, so each worker reads its own.
        Inputs own = t == 0 ? inputs : new Inputs();
        workers.add(
            pool.submit(() -> {
              work(own, next, listener);
              return runs;
            }));
      }
      try {
        for (Future<?> worker : workers) {
          worker.get();
        }
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

  private void work(Inputs own, AtomicInteger next, RunListener listener) throws TraceException {
    for (int r = next.getAndIncrement(); r < runs.size(); r = next.getAndIncrement()) {
      int run = r;
      ReplayListener progress =
          (seconds, finished, all) -> {
            if (Thread.interrupted()) {
              throw new CancellationException("stopped at %.0f s".formatted(seconds));
            }
            listener.at(run, seconds, finished, all);
          };
      Outcome outcome;
      try {
        outcome = one(runs.get(run), own, progress);
      } catch (CancellationException stopped) {
        throw stopped;
      } catch (RuntimeException why) {
        if (listener.failed(run, why)) {
          continue;
        }
        throw why;
      }
      listener.finished(run, outcome);
    }
  }

  private static Outcome one(Run run, Inputs inputs, ReplayListener listener)
      throws TraceException {
    Replay replay = simulation(run, inputs, listener).get();
    return new Outcome(
        run,
        replay,
        Fairness.of(replay, run.cluster(), inputs.workload(run), inputs.applications(run)),
        inputs.workload(run).assumptions());
  }

  /** A replay that is ready to begin. */
  private static Supplier<Replay> simulation(Run run, Inputs inputs, ReplayListener listener)
      throws TraceException {
    Workload workload = inputs.workload(run);
    Map<String, Application> applications = inputs.applications(run);
    return switch (run.mode()) {
      case POLLUX, SIA -> {
        TickSettings settings =
            TickSettings.of(run.mode())
                .withRound(run.round())
                .withInterference(run.conditions().interference())
                .withFamilyMemory(run.familyMemory())
                .withDeclaredWork(run.conditions().adversity().declaredWork())
                .withQueues(run.conditions().queues());
        PolicyFactory policy = PolicyFactory.of(run.policy(), PolicyContext.published(run.seed()));
        yield new TickSimulation(
                settings, run.cluster(), workload, applications, policy, run.seed(), listener)
            ::run;
      }
      case EVENTS -> {
        PolicyFactory policy = PolicyFactory.of(run.policy(), PolicyContext.online(run.seed()));
        yield new EventSimulation(
                run.conditions().settings(run.round()),
                run.cluster(),
                workload,
                applications,
                policy,
                run.familyMemory() ? Optional.of(new FamilyMemory()) : Optional.empty(),
                run.seed(),
                listener)
            ::run;
      }
    };
  }
}
