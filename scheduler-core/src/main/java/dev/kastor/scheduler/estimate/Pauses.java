package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.Switch;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Newest pauses of a job's, or a family's, changes: live ones, and starts after which nothing runs
 * where it ran. Bounded; owned by one thread.
 */
public final class Pauses {
  private final int kept;
  private final Deque<Duration> rescales = new ArrayDeque<>();
  private final Deque<Duration> restarts = new ArrayDeque<>();

  /**
   * No pauses yet.
   *
   * @param kept how many of each kind are kept, at least one
   */
  public Pauses(int kept) {
    this.kept = kept;
  }

  /** Takes in a change; one after a failure says nothing of changes that a scheduler makes. */
  public void observe(Switch change) {
    switch (change.cause()) {
      case RESCALE -> add(rescales, seconds(change.pauseSeconds()));
      // A pause of zero was not measured.
      case START -> {
        if (change.pauseSeconds() > 0) {
          add(restarts, seconds(change.pauseSeconds()));
        }
      }
      case FAILURE -> {}
    }
  }

  /** Takes in pauses that were stored, oldest first. */
  public void restore(List<Duration> storedRescales, List<Duration> storedRestarts) {
    storedRescales.forEach(pause -> add(rescales, pause));
    storedRestarts.forEach(pause -> add(restarts, pause));
  }

  /** Median pause of a live change; empty before the first. */
  public Optional<Duration> rescale() {
    return median(rescales);
  }

  /** Median pause of a start; empty before the first. */
  public Optional<Duration> restart() {
    return median(restarts);
  }

  /** Pauses of live changes, oldest first. */
  List<Duration> rescales() {
    return List.copyOf(rescales);
  }

  /** Pauses of starts, oldest first. */
  List<Duration> restarts() {
    return List.copyOf(restarts);
  }

  private void add(Deque<Duration> to, Duration pause) {
    to.addLast(pause);
    if (to.size() > kept) {
      to.removeFirst();
    }
  }

  private static Optional<Duration> median(Deque<Duration> pauses) {
    if (pauses.isEmpty()) {
      return Optional.empty();
    }
    Iterator<Duration> sorted = pauses.stream().sorted().iterator();
    for (int i = 0; i < (pauses.size() - 1) / 2; i++) {
      sorted.next();
    }
    return Optional.of(sorted.next());
  }

  private static Duration seconds(double seconds) {
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }
}
