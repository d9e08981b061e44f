package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * What jobs taught their families, for later jobs of the same.
 *
 * <p>Jobs write and read it through their {@link Learner}. It knows no clock; its memory is bounded
 * by {@value #MAX_FAMILIES} families, of which the owner of most loses the one heard of longest
 * ago, and as {@link GoodputEstimator} bounds keys. All methods lock the object, since an
 * operator's jobs report on several threads.
 */
public final class FamilyMemory {
  /** Most families kept. */
  public static final int MAX_FAMILIES = 256;

  private final SequencedMap<String, Family> families = new LinkedHashMap<>();

  /** To whom a family belongs: its name up to the first slash; nobody's without one. */
  public static String owner(String family) {
    return family.substring(0, Math.max(0, family.indexOf('/')));
  }

  /** A memory of nothing. */
  public FamilyMemory() {}

  /** What {@link #stored} said. */
  public static FamilyMemory from(List<RememberedFamily> stored) {
    FamilyMemory memory = new FamilyMemory();
    memory.restore(stored);
    return memory;
  }

  /** Adds what an earlier memory held of families that this one has not met. */
  public synchronized void restore(List<RememberedFamily> stored) {
    SequencedMap<String, Family> met = new LinkedHashMap<>(families);
    families.clear();
    for (RememberedFamily family : stored) {
      if (!met.containsKey(family.name())) {
        families.putLast(family.name(), Family.from(family));
      }
    }
    families.putAll(met);
    bound();
  }

  /** All families, the one heard of longest ago first. */
  public synchronized List<RememberedFamily> stored() {
    return families.values().stream().map(Family::stored).toList();
  }

  /** How far a family's memory can be trusted, from 0 (it is not known) to 1. */
  public synchronized double confidence(String family, Instant now) {
    Family known = families.get(family);
    return known == null ? 0 : known.confidence(now);
  }

  /** What a family knows; empty if that is nothing or too doubtful to use. */
  synchronized Optional<Recollection> recall(String family, Instant now) {
    Family known = families.get(family);
    return known == null || known.confidence(now) < Family.LEAST_CONFIDENCE
        ? Optional.empty()
        : Optional.of(known.recollection());
  }

  synchronized void observe(String family, StepProfile profile, Instant now) {
    heard(family, now).observe(profile, now);
  }

  synchronized void observe(String family, Switch change, Instant now) {
    heard(family, now).observe(change, now);
  }

  synchronized void observe(String family, GradientStats gradient, double fraction, Instant now) {
    heard(family, now).observe(gradient, fraction, now);
  }

  synchronized void finished(String family, double scaleInvariantSteps, Instant now) {
    heard(family, now).finished(scaleInvariantSteps, now);
  }

  /** A job compared its first reports with the memory, which was right. */
  synchronized void confirm(String family) {
    Family known = families.get(family);
    if (known != null) {
      known.confirm();
    }
  }

  /** A job compared its first reports with the memory, which was wrong. */
  synchronized void contradict(String family) {
    Family known = families.get(family);
    if (known != null) {
      known.contradict();
    }
  }

  private Family heard(String name, Instant now) {
    Family family = families.remove(name);
    if (family == null) {
      family = new Family(name, now);
    }
    families.putLast(name, family);
    bound();
    return family;
  }

  private void bound() {
    if (families.size() > MAX_FAMILIES) {
      FairEviction.surplus(families.keySet(), FamilyMemory::owner, name -> 1, MAX_FAMILIES)
          .forEach(families::remove);
    }
  }
}
