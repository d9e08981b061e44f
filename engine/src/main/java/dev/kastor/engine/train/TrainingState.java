package dev.kastor.engine.train;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * All that replicas share, as named sections: copying it makes a new replica identical to the
 * others.
 *
 * <p>Checkpoints, transfers between replicas, digests and restores treat all sections alike: what
 * is to survive a step is one section more.
 *
 * @param sections in the order in which they are written
 */
public record TrainingState(List<Section> sections) {
  /** One whole number: optimizer steps applied. */
  public static final String STEP = "step";

  /** One double: the same in steps of the initial batch. */
  public static final String SCALE_INVARIANT_STEPS = "scale-invariant-steps";

  /** One whole number: examples taken from the endless sequence of shuffled epochs. */
  public static final String CURSOR = "sampler.cursor";

  /** Two whole numbers: count and sum of the {@link AuditDigest}. */
  public static final String AUDIT = "audit";

  /** Two whole numbers, where a selector chooses: the digest of the examples that were trained. */
  public static final String TRAINED = "audit.trained";

  /** Two whole numbers, where a selector chooses: the digest of the examples that it chose. */
  public static final String CHOSEN = "audit.chosen";

  /** Begins the names of the selector's sections. */
  public static final String SELECTOR = "selector.";

  /** Begins the names of the tuner's sections. */
  public static final String TUNER = "tuner.";

  /** Begins the names of the sync policy's sections. */
  public static final String SYNC = "sync.";

  /** The flat parameters. */
  public static final String PARAMETERS = "parameters";

  /** Begins the names of the optimizer's sections. */
  public static final String OPTIMIZER = "optimizer.";

  /** The flat running statistics. */
  public static final String STATISTICS = "statistics";

  /** Doubles: the averages of the {@link NoiseScaleEstimator}. */
  public static final String NOISE = "noise";

  private static final int MOST_TOLD = 8;

  public TrainingState {
    sections = List.copyOf(sections);
    Set<String> names = new HashSet<>();
    for (Section section : sections) {
      if (!names.add(section.name())) {
        throw new IllegalArgumentException(
            "two sections of a training state are called " + section.name());
      }
    }
  }

  /** A state of zeros with these sections. */
  public static TrainingState zeros(List<Section.Form> forms) {
    return new TrainingState(forms.stream().map(Section::zeros).toList());
  }

  /** The name of a section of an optimizer. */
  public static String slot(Optimizer optimizer, String slot) {
    return OPTIMIZER + optimizer.name() + "." + slot;
  }

  /**
   * The sections of a feature under their names in a state.
   *
   * @param kind begins the names
   * @param feature its name
   */
  public static List<Section> named(String kind, String feature, List<Section> own) {
    return own.stream()
        .map(section ->
            new Section(kind + feature + "." + section.name(), section.type(), section.values()))
        .toList();
  }

  /** Optimizer steps applied. */
  public long step() {
    return section(STEP).longs()[0];
  }

  /** The section of this name. */
  public Section section(String name) {
    return sections.stream()
        .filter(section -> section.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException("a training state has no section '%s'".formatted(name)));
  }

  /** Names, types and lengths of all sections. */
  public List<Section.Form> forms() {
    return sections.stream().map(Section::form).toList();
  }

  /**
   * The difference between what a state holds and what a model has, in words; empty where both are
   * the same in any order.
   */
  public static Optional<String> difference(List<Section.Form> held, List<Section.Form> model) {
    List<Section.Form> onlyHeld = new ArrayList<>(held);
    onlyHeld.removeAll(model);
    List<Section.Form> onlyModel = new ArrayList<>(model);
    onlyModel.removeAll(held);
    return onlyHeld.isEmpty() && onlyModel.isEmpty()
        ? Optional.empty()
        : Optional.of("it holds %s and the model %s".formatted(told(onlyHeld), told(onlyModel)));
  }

  private static String told(List<Section.Form> forms) {
    if (forms.isEmpty()) {
      return "nothing instead";
    }
    String first =
        forms.stream()
            .limit(MOST_TOLD)
            .map(Section.Form::toString)
            .collect(Collectors.joining(", "));
    return forms.size() > MOST_TOLD ? first + ", ..." : first;
  }

  /**
   * Overwrites all elements with those of another state.
   *
   * @throws IllegalArgumentException if that has other sections; nothing is changed then
   */
  public void copyFrom(TrainingState other) {
    difference(other.forms(), forms())
        .ifPresent(difference -> {
          throw new IllegalArgumentException(difference);
        });
    for (Section section : sections) {
      section.values().copyFrom(other.section(section.name()).values());
    }
  }

  /** A copy on the heap. */
  public TrainingState copy() {
    TrainingState copy = zeros(forms());
    copy.copyFrom(this);
    return copy;
  }
}
