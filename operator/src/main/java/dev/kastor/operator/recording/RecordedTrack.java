package dev.kastor.operator.recording;

import dev.kastor.operator.history.BoundedSeries;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.live.JobDocument;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.live.RecordedJob;
import dev.kastor.scheduler.live.RecordedJob.End;
import dev.kastor.scheduler.live.RecordedJob.Held;
import dev.kastor.scheduler.live.RecordedJob.Noise;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Recording of one job; owned by the recorder. */
final class RecordedTrack {
  private static final int MOST_NOISE = 64;
  private static final int MOST_CHANGES = 200;

  private final BoundedSeries<Noise> noise = new BoundedSeries<>(MOST_NOISE);
  private final Deque<Held> held = new ArrayDeque<>();
  private int forgottenChanges;
  private @Nullable JobState state;
  private String family = "";
  private Instant arrived = Instant.EPOCH;
  private double doneBefore;
  private boolean whole;
  private @Nullable Instant ended;
  private End end = End.UNFINISHED;

  /** Whether a round has told of the job yet. */
  boolean known() {
    return state != null;
  }

  /** Whether this is the job, and not one that was created again under its name. */
  boolean isOf(JobState other) {
    JobState own = state;
    return own == null || own.spec().submitted().equals(other.spec().submitted());
  }

  /**
   * Begins with what a round was told first.
   *
   * @param waited longest time after which a round sees a job that wants to run
   * @param learnsWith name of the family that learns together with it
   */
  void begin(JobState first, String learnsWith, Duration waited, Instant now) {
    state = first;
    family = learnsWith;
    Instant submitted = first.spec().submitted();
    boolean ran = held.isEmpty() && !first.allocation().isEmpty();
    whole = !ran && !now.isAfter(submitted.plus(waited));
    arrived = whole ? submitted : now;
    doneBefore = first.progress().map(Progress::scaleInvariantSteps).orElse(0.0);
    if (ran) {
      held.add(held(first.allocation(), now));
    }
  }

  /** Goes on with what a round was told. */
  void tell(JobState newer) {
    state = newer;
  }

  void allocated(Allocation allocation, Instant at) {
    held.addLast(held(allocation, at));
    if (held.size() > MOST_CHANGES) {
      held.removeFirst();
      forgottenChanges++;
    }
  }

  void reported(double steps, double noiseScale) {
    if (Double.isFinite(noiseScale) && noiseScale > 0) {
      noise.add(new Noise(steps, noiseScale));
    }
  }

  /** The job wants nothing for now. */
  void pause() {
    whole = false;
  }

  void end(End how, Instant at) {
    if (ended == null) {
      end = how;
      ended = at;
    }
  }

  boolean ended() {
    return ended != null;
  }

  /**
   * The recording of the job.
   *
   * @param newest what is known of it now; empty where only the last round tells
   */
  RecordedJob document(Optional<Measured> newest) {
    JobState last = state;
    if (last == null) {
      throw new IllegalStateException("no round has told of the job");
    }
    JobState known = with(last.withSpec(last.spec().ofFamily(family)), newest);
    Instant over = ended;
    return new RecordedJob(
        JobDocument.of(new LiveJob(known, false)),
        arrived.toString(),
        doneBefore,
        whole,
        over == null ? null : over.toString(),
        end,
        List.copyOf(held),
        forgottenChanges,
        noise.points());
  }

  /** What the family remembers is of no use to a replay, which remembers its own families. */
  private static JobState with(JobState state, Optional<Measured> newest) {
    return new JobState(
        state.spec(),
        state.allocation(),
        newest.flatMap(Measured::model).or(state::model),
        Math.max(newest.map(Measured::maxProfiledReplicas).orElse(0), state.maxProfiledReplicas()),
        newest.flatMap(Measured::progress).or(state::progress),
        state.age(),
        state.attainedService(),
        state.restarts(),
        newest.flatMap(Measured::rescalePause).orElse(state.rescaleCost()),
        newest.flatMap(Measured::restartPause).orElse(state.restartCost()),
        newest.flatMap(Measured::restartPause).orElse(state.startCost()),
        state.sinceChange(),
        state.unsaved(),
        false,
        false,
        Outlook.NONE,
        Optional.empty());
  }

  private static Held held(Allocation allocation, Instant at) {
    Map<String, Integer> nodes = new LinkedHashMap<>();
    for (int i = 0; i < allocation.nodes(); i++) {
      nodes.put(allocation.node(i), allocation.replicas(i));
    }
    return new Held(at.toString(), nodes);
  }
}
