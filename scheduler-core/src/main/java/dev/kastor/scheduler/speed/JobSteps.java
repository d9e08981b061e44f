package dev.kastor.scheduler.speed;

import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.GoodputModel;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Steps of one job by the nodes that they were made on: each report tells {@link NodeSpeeds} of the
 * speed of nodes, and is corrected by it before anything is learned from it, so that a job and its
 * family learn step times of nodes that are well. Owned by whoever takes in the job's reports.
 */
public final class JobSteps {
  private static final int KEPT = 16;

  /** Replicas on nodes since a generation. */
  private record Place(long generation, int replicas, List<String> nodes) {}

  /** A report as it is to be learned from, and the nodes whose speed it told. */
  public record Corrected(TelemetryReport report, List<NodeSpeeds.Changed> changed) {}

  private final NodeSpeeds speeds;
  private final String owner;
  private final String family;
  private final String job;
  private final Deque<Place> places = new ArrayDeque<>();
  private long heard;

  /**
   * Steps of a job that has made none.
   *
   * @param owner to whom the job belongs: others may contradict what it says of nodes
   * @param family jobs that its steps are compared with; empty where it is compared with itself
   * @param job the job, unique in the cluster
   */
  public JobSteps(NodeSpeeds speeds, String owner, String family, String job) {
    this.speeds = speeds;
    this.owner = owner;
    this.family = family.isEmpty() ? "job " + job : family;
    this.job = job;
  }

  /** From this generation on the job has so many replicas on these nodes. */
  public void placed(long generation, int replicas, List<String> nodes) {
    Place newest = places.peekLast();
    if (newest != null && newest.replicas() == replicas && newest.nodes().equals(nodes)) {
      return;
    }
    places.addLast(new Place(generation, replicas, List.copyOf(nodes)));
    if (places.size() > KEPT) {
      places.removeFirst();
    }
  }

  /** How many times longer steps of this generation take because of the nodes; 1 usually. */
  public double slowdown(long generation) {
    Iterator<Place> newestFirst = places.descendingIterator();
    while (newestFirst.hasNext()) {
      Place place = newestFirst.next();
      if (place.generation() <= generation) {
        return speeds.slowdown(place.nodes());
      }
    }
    return 1;
  }

  /**
   * The report as if its nodes were well.
   *
   * @param model of the job before the report
   */
  public Corrected correct(TelemetryReport report, Optional<GoodputModel> model, Instant now) {
    List<NodeSpeeds.Changed> changed = new ArrayList<>();
    List<StepProfile> profiles = new ArrayList<>(report.profiles().size());
    for (StepProfile profile : report.profiles()) {
      List<String> nodes = nodes(profile, report.generation());
      double slowdown = 1;
      if (!nodes.isEmpty()) {
        NodeSpeeds.Observed observed =
            speeds.observe(new Steps(owner, family, job, profile, nodes, model), now);
        changed.addAll(observed.changed());
        slowdown = observed.slowdown();
      }
      profiles.add(slowdown == 1 ? profile : profile.faster(slowdown));
    }
    heard = Math.max(heard, report.generation());
    return new Corrected(
        profiles.equals(report.profiles()) ? report : report.withProfiles(profiles), changed);
  }

  /**
   * The nodes that steps were made on. Reports tell the layout, not the generation: of the
   * generations since the last report the one of that layout; none where several are.
   */
  private List<String> nodes(StepProfile profile, long generation) {
    List<String> found = List.of();
    Iterator<Place> newestFirst = places.descendingIterator();
    boolean older = true;
    while (newestFirst.hasNext() && older) {
      Place place = newestFirst.next();
      boolean matches =
          place.generation() <= generation
              && place.replicas() == profile.replicas()
              && place.nodes().size() == profile.nodes();
      if (matches && !found.isEmpty() && !found.equals(place.nodes())) {
        return List.of();
      }
      found = matches ? place.nodes() : found;
      older = place.generation() > heard;
    }
    return found;
  }
}
