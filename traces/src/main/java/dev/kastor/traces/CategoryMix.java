package dev.kastor.traces;

import dev.kastor.traces.Workload.Category;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * How likely a job is to be of each category: workloads that do not say so get one at random (Sia,
 * SOSP 2023, section 5.4).
 *
 * @param weights at least 0, not all 0; they need not sum to 1
 */
public record CategoryMix(Map<Category, Double> weights) {
  public CategoryMix {
    Map<Category, Double> copy = new EnumMap<>(Category.class);
    copy.putAll(weights);
    weights = Map.copyOf(copy);
    double sum = 0;
    for (double weight : weights.values()) {
      if (!(weight >= 0 && Double.isFinite(weight))) {
        throw new IllegalArgumentException("a weight must be at least 0, not " + weight);
      }
      sum += weight;
    }
    if (!(sum > 0)) {
      throw new IllegalArgumentException("at least one category needs a weight above 0");
    }
  }

  /**
   * Parses {@code adaptive=0.5,scale-gpus=0.3,rigid=0.2}; what is not named has no weight.
   *
   * @throws IllegalArgumentException with what is wrong and how it should look
   */
  public static CategoryMix parse(String text) {
    Map<Category, Double> weights = new EnumMap<>(Category.class);
    for (String part : text.split(",", -1)) {
      int equals = part.indexOf('=');
      try {
        Category category =
            Category.valueOf(
                part.substring(0, equals).strip().toUpperCase(Locale.ROOT).replace('-', '_'));
        weights.put(category, Double.parseDouble(part.substring(equals + 1)));
      } catch (IllegalArgumentException | StringIndexOutOfBoundsException e) {
        throw new IllegalArgumentException(
            "'%s' must be CATEGORY=WEIGHT with adaptive, scale-gpus, rigid or restart, joined by commas"
                .formatted(part),
            e);
      }
    }
    return new CategoryMix(weights);
  }

  /** The same jobs, each of a category drawn anew. */
  public Workload draw(Workload workload, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double sum = 0;
    for (Category category : Category.values()) {
      sum += weights.getOrDefault(category, 0.0);
    }
    double total = sum;
    return new Workload(
        workload.name(),
        workload.jobs().stream().map(job -> job.in(category(random.nextDouble(total)))).toList());
  }

  private Category category(double drawn) {
    double left = drawn;
    Category last = Category.ADAPTIVE;
    for (Category category : Category.values()) {
      double weight = weights.getOrDefault(category, 0.0);
      if (weight > 0) {
        last = category;
        if (left < weight) {
          return category;
        }
        left -= weight;
      }
    }
    return last;
  }
}
