package dev.kastor.scheduler.live;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Job in a {@link RecordingDocument}: what a replay needs of it, and what really became of it.
 *
 * @param job what the policy was told of it last, with the model and the progress of its end
 * @param arrived when it first wanted to run, or first was seen
 * @param doneBefore scale-invariant steps that it had done when it was first seen; above 0 only of
 *     jobs that ran when the recording began
 * @param whole whether it was seen from its arrival on and never suspended: only then its
 *     completion time is comparable with that of a replay
 * @param ended when it ended; absent of a job that has not
 * @param end how
 * @param held what it was given, each until the next
 * @param forgottenChanges earlier changes of what it was given that are left out
 * @param noise gradient noise that it reported, by rising progress
 */
public record RecordedJob(
    JobDocument job,
    String arrived,
    double doneBefore,
    boolean whole,
    @Nullable String ended,
    End end,
    List<Held> held,
    int forgottenChanges,
    List<Noise> noise) {
  /** How a job ended. */
  public enum End {
    /** It has not ended. */
    UNFINISHED,
    COMPLETED,
    FAILED,

    /** It was deleted. */
    KILLED
  }

  /**
   * An allocation.
   *
   * @param at when it was stored
   * @param nodes replicas by node; none where everything was taken
   */
  public record Held(String at, Map<String, Integer> nodes) {
    public Held {
      // Nodes keep their order: a ring passes through them in it.
      nodes = new LinkedHashMap<>(nodes);
    }
  }

  /**
   * Gradient noise at some progress.
   *
   * @param steps scale-invariant steps that were done
   * @param noiseScale gradient noise scale in examples
   */
  public record Noise(double steps, double noiseScale) {}

  public RecordedJob {
    held = List.copyOf(held);
    noise = List.copyOf(noise);
  }
}
