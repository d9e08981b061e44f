package dev.kastor.scheduler.whatif;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answer to what changes would bring, as a sentence and as figures. Times are ISO 8601 texts.
 *
 * @param at the instant of the cluster that was replayed
 * @param policy that decides there
 * @param changes what was asked about, in words
 * @param added jobs that the changes add
 * @param jobs the others, with and without the changes
 * @param meanSeconds mean time from now to the end of those, without the changes
 * @param meanSecondsThen the same with them
 */
public record Answer(
    String sentence,
    String at,
    String policy,
    List<String> changes,
    List<AddedJob> added,
    List<OtherJob> jobs,
    @Nullable Double meanSeconds,
    @Nullable Double meanSecondsThen,
    List<String> assumptions) {
  public Answer {
    changes = List.copyOf(changes);
    added = List.copyOf(added);
    jobs = List.copyOf(jobs);
    assumptions = List.copyOf(assumptions);
  }

  /**
   * A job that the changes add.
   *
   * @param start when it gets GPUs; null if never
   * @param trains when it begins to train
   * @param replicas how many it starts with
   * @param end when it is done; null if not within the time that was replayed
   */
  public record AddedJob(
      String namespace,
      String name,
      @Nullable String start,
      @Nullable String trains,
      int replicas,
      @Nullable String end) {}

  /**
   * A job that is there.
   *
   * @param runs whether it holds GPUs now
   * @param start when it gets GPUs without the changes; null where it has them, or never
   * @param startThen the same with them
   * @param end when it ends without the changes
   * @param endThen the same with them
   * @param laterSeconds by how much later that is; null where one of both is not known
   */
  public record OtherJob(
      String namespace,
      String name,
      boolean runs,
      @Nullable String start,
      @Nullable String startThen,
      @Nullable String end,
      @Nullable String endThen,
      @Nullable Double laterSeconds) {}
}
