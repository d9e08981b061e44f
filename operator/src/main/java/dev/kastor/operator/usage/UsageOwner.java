package dev.kastor.operator.usage;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.text.PrintableText;
import java.util.Comparator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Owner of usage, as far as reports tell owners apart.
 *
 * @param namespace of the job
 * @param user label {@value #USER} of the job; empty for none
 * @param family {@code spec.family}, else what the job runs
 */
public record UsageOwner(String namespace, String user, String family)
    implements Comparable<UsageOwner> {
  /** Label of a job that says whose it is. */
  public static final String USER = "user";

  /** All owners of a day that was long ago. */
  static final UsageOwner ALL = new UsageOwner("*", "*", "*");

  private static final int MOST_CHARACTERS = 100;
  private static final Comparator<UsageOwner> ORDER =
      Comparator.comparing(UsageOwner::namespace)
          .thenComparing(UsageOwner::user)
          .thenComparing(UsageOwner::family);

  /** All owners of a namespace, of a day that no longer tells them apart. */
  static UsageOwner all(String namespace) {
    return new UsageOwner(namespace, "*", "*");
  }

  static UsageOwner of(TrainingJob job) {
    Map<String, String> labels = job.getMetadata().getLabels();
    String user = labels == null ? null : labels.get(USER);
    String family = job.getSpec().family();
    return new UsageOwner(
        job.getMetadata().getNamespace(),
        bounded(user),
        bounded(family == null ? job.getSpec().runsKey() : family));
  }

  private static String bounded(@Nullable String text) {
    String line = text == null ? "" : PrintableText.line(text);
    return line.length() <= MOST_CHARACTERS ? line : line.substring(0, MOST_CHARACTERS);
  }

  @Override
  public int compareTo(UsageOwner other) {
    return ORDER.compare(this, other);
  }
}
