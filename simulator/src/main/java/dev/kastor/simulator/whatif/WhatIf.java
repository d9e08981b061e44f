package dev.kastor.simulator.whatif;

import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.whatif.Answer;
import dev.kastor.scheduler.whatif.OverdueException;
import dev.kastor.scheduler.whatif.Supposition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Future of a live cluster as things are and with changes.
 *
 * @param cluster as things are
 * @param suppositions the changes
 * @param now the future without them
 * @param then the future with them
 */
public record WhatIf(LiveCluster cluster, List<Supposition> suppositions, Future now, Future then) {
  /** Differences below a second, or this share of the time left, are none. */
  private static final double SHARE = 0.005;

  /**
   * Difference that the changes make to a job that is there without them.
   *
   * @param laterSeconds by how much later it ends; 0 where the difference is none, infinite for a
   *     job that no longer ends within the time that is replayed, and its negative for one that
   *     does so only with the changes
   */
  public record Difference(Fate now, Fate then, double laterSeconds) {}

  public WhatIf {
    suppositions = List.copyOf(suppositions);
  }

  /**
   * Replays a cluster without and with changes.
   *
   * @param policies makes policies by name and seed
   * @param unknown how long a job trains with its fewest replicas of which nobody knows it
   * @param overdue whether to give up
   * @throws IllegalArgumentException if a change, or a policy, names what there is not
   * @throws OverdueException if {@code overdue} said so
   */
  public static WhatIf of(
      LiveCluster cluster,
      List<Supposition> suppositions,
      BiFunction<String, Long, PolicyFactory> policies,
      Duration unknown,
      BooleanSupplier overdue) {
    LiveCluster changed = cluster;
    for (Supposition supposition : suppositions) {
      changed = supposition.in(changed);
    }
    PolicyFactory policy = policies.apply(cluster.policy(), cluster.seed());
    Future now = Future.of(cluster, policy, unknown, overdue);
    if (suppositions.isEmpty()) {
      return new WhatIf(cluster, suppositions, now, now);
    }
    PolicyFactory other = policies.apply(changed.policy(), changed.seed());
    return new WhatIf(cluster, suppositions, now, Future.of(changed, other, unknown, overdue));
  }

  /** The answer as a document. */
  public Answer answer() {
    return new Answer(
        new Sentence(this).text(),
        cluster.now().toString(),
        cluster.policy(),
        suppositions.stream().map(Supposition::text).toList(),
        added().stream()
            .map(fate ->
                new Answer.AddedJob(
                    fate.job().namespace(),
                    fate.job().name(),
                    text(fate.start()),
                    text(fate.trains()),
                    fate.replicas(),
                    text(fate.end())))
            .toList(),
        differences().stream().map(WhatIf::told).toList(),
        finite(meanSeconds(false)),
        finite(meanSeconds(true)),
        assumptions());
  }

  private static Answer.OtherJob told(Difference difference) {
    Fate now = difference.now();
    Fate then = difference.then();
    return new Answer.OtherJob(
        now.job().namespace(),
        now.job().name(),
        now.runs(),
        text(now.start()),
        text(then.start()),
        text(now.end()),
        text(then.end()),
        finite(difference.laterSeconds()));
  }

  private static @Nullable String text(Optional<Instant> at) {
    return at.map(Instant::toString).orElse(null);
  }

  private static @Nullable Double finite(double number) {
    return Double.isFinite(number) ? number : null;
  }

  /** Jobs that the changes add. */
  public List<Fate> added() {
    return then.fates().sequencedValues().stream()
        .filter(fate -> !now.fates().containsKey(fate.job()))
        .toList();
  }

  /** What becomes of the other jobs, in submission order. */
  public List<Difference> differences() {
    return now.fates().sequencedValues().stream()
        .map(fate -> difference(fate, Objects.requireNonNull(then.fates().get(fate.job()))))
        .toList();
  }

  private Difference difference(Fate before, Fate after) {
    if (before.end().isEmpty() || after.end().isEmpty()) {
      double later =
          before.end().isEmpty() == after.end().isEmpty()
              ? 0
              : after.end().isEmpty() ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
      return new Difference(before, after, later);
    }
    double left = seconds(Duration.between(cluster.now(), before.end().get()));
    double later = seconds(Duration.between(before.end().get(), after.end().get()));
    return new Difference(before, after, Math.abs(later) < Math.max(1, SHARE * left) ? 0 : later);
  }

  /**
   * Mean seconds from now to the end, of the jobs that are there without the changes and end in
   * both futures; not a number where there are none.
   *
   * @param changed whether with the changes
   */
  public double meanSeconds(boolean changed) {
    return differences().stream()
        .filter(each -> each.now().end().isPresent() && each.then().end().isPresent())
        .map(each -> changed ? each.then() : each.now())
        .mapToDouble(fate -> seconds(Duration.between(cluster.now(), fate.end().orElseThrow())))
        .average()
        .orElse(Double.NaN);
  }

  /** What was assumed, a sentence part each. */
  public List<String> assumptions() {
    return Stream.concat(
            Stream.of("no other job comes", "jobs go on as fast as they were measured"),
            Stream.concat(
                cluster.held() == 0
                    ? Stream.of()
                    : Stream.of(
                        "%d jobs that may not start for now are left out"
                            .formatted(cluster.held())),
                Stream.concat(now.assumptions().stream(), then.assumptions().stream()).distinct()))
        .toList();
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() * 1e-9;
  }
}
