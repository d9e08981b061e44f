package dev.kastor.protocol;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Rules of the scalars that a training script logs, such as an accuracy, in a report: mean values
 * since the last report, by name.
 */
public final class Scalars {
  /** Most names in one report, and most that are kept of a job. */
  public static final int MOST = 64;

  /** Characters that a name may have, and how many. */
  public static final String NAME = "[A-Za-z0-9._/-]{1,64}";

  /** Mean training loss: a field of its own in reports. */
  public static final String LOSS = "loss";

  /** Prefix of the names of Kastor's own series, beside which a script's stand. */
  public static final String OWN_PREFIX = "kastor/";

  private static final Pattern NAMES = Pattern.compile(NAME);

  private Scalars() {}

  /** The same scalars, by name in order; throws where a name or a value is not allowed. */
  static SortedMap<String, Double> checked(Map<String, Double> scalars) {
    Check.atLeast("scalars: free entries", MOST - scalars.size(), 0);
    SortedMap<String, Double> checked = new TreeMap<>();
    scalars.forEach((name, value) -> {
      if (!NAMES.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "scalars: each name must match %s, but one does not".formatted(NAME));
      }
      if (name.equals(LOSS) || name.startsWith(OWN_PREFIX)) {
        throw new IllegalArgumentException(
            "scalars.%s: loss is told as trainingLoss, and names that begin with %s are Kastor's own"
                .formatted(name, OWN_PREFIX));
      }
      // JSON may say null.
      if (value == null) {
        throw new IllegalArgumentException("scalars.%s must be a number".formatted(name));
      }
      Check.finite("scalars." + name, value);
      checked.put(name, value);
    });
    return Collections.unmodifiableSortedMap(checked);
  }
}
