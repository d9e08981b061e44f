package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.Progress;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Measurements of one job, as far as a policy may use them.
 *
 * @param model fitted to its own reports and to what its family remembers; empty where neither
 *     suffices
 * @param maxProfiledReplicas most replicas that it, or its family, was ever measured with
 * @param progress the newest; empty before the first report
 * @param rescalePause median pause of its live changes, else of its family's; empty before the
 *     first
 * @param restartPause the same of starts after which nothing runs where it ran
 * @param saved when it last saved its state; empty before the first time
 * @param outlook expectations from its family's past
 * @param mostExamples largest batch of a pass that fits a device, by GPU type; types on which no
 *     replica met a limit are not listed
 */
public record Measured(
    Optional<GoodputModel> model,
    int maxProfiledReplicas,
    Optional<Progress> progress,
    Optional<Duration> rescalePause,
    Optional<Duration> restartPause,
    Optional<Instant> saved,
    Outlook outlook,
    Map<String, Integer> mostExamples) {
  /** Measurements of a job that has not reported yet. */
  public static final Measured NOTHING =
      new Measured(
          Optional.empty(),
          0,
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Outlook.NONE);

  public Measured {
    mostExamples = Map.copyOf(mostExamples);
  }

  /** Measurements of a job whose replicas met no limit of memory. */
  public Measured(
      Optional<GoodputModel> model,
      int maxProfiledReplicas,
      Optional<Progress> progress,
      Optional<Duration> rescalePause,
      Optional<Duration> restartPause,
      Optional<Instant> saved,
      Outlook outlook) {
    this(
        model, maxProfiledReplicas, progress, rescalePause, restartPause, saved, outlook, Map.of());
  }
}
