package dev.kastor.simulator;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.Change;
import dev.kastor.scheduler.Cluster;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Node;
import dev.kastor.scheduler.Snapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** The loop's view of simulated jobs at the present virtual time; owned by a {@link Simulation}. */
final class SimulatedCluster implements Cluster {
  private final Settings settings;
  private final List<Node> nodes = new ArrayList<>();
  private final SequencedMap<JobId, SimulatedJob> jobs;
  private double now;

  SimulatedCluster(Settings settings, SequencedMap<JobId, SimulatedJob> jobs) {
    this.settings = settings;
    this.jobs = jobs;
    int digits = String.valueOf(settings.nodes() - 1).length();
    for (int n = 0; n < settings.nodes(); n++) {
      nodes.add(new Node(("node-%0" + digits + "d").formatted(n), "sim", settings.slotsPerNode()));
    }
  }

  static double seconds(Duration duration) {
    return duration.toNanos() * 1e-9;
  }

  static Duration duration(double seconds) {
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }

  void setNow(double seconds) {
    now = seconds;
  }

  @Override
  public Snapshot observe() {
    List<JobState> states = new ArrayList<>();
    for (SimulatedJob job : jobs.values()) {
      if (job.submittedBy(now) && !job.finished()) {
        states.add(job.state(now, settings.rescaleCost()));
      }
    }
    return new Snapshot(Instant.EPOCH.plus(duration(now)), nodes, states);
  }

  @Override
  public void apply(List<Change> changes) {
    for (Change change : changes) {
      Allocation to =
          switch (change) {
            case Change.Start start -> start.to();
            case Change.Rescale rescale -> rescale.to();
            case Change.Migrate migrate -> migrate.to();
            case Change.Stop stop -> Allocation.NONE;
          };
      SimulatedJob job = jobs.get(change.job());
      if (job == null) {
        throw new IllegalStateException("change for unknown job " + change.job());
      }
      job.reallocate(to, now, settings);
    }
    checkConservation();
  }

  /** Slots are neither made nor shared: the check does not rely on the loop's own. */
  private void checkConservation() {
    Map<String, Integer> used = new HashMap<>();
    for (SimulatedJob job : jobs.values()) {
      job.allocation()
          .replicasByNode()
          .forEach((node, replicas) -> used.merge(node, replicas, Integer::sum));
    }
    for (Node node : nodes) {
      int here = used.getOrDefault(node.name(), 0);
      if (here > node.slots()) {
        throw new IllegalStateException(
            "node %s holds %d replicas on %d slots".formatted(node.name(), here, node.slots()));
      }
    }
  }
}
