package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** What the jobs of one family taught; owned by the memory. */
final class Family {
  /** Confidence below which nothing is recalled, and after which a family begins anew. */
  static final double LEAST_CONFIDENCE = 0.2;

  private static final double FIRST_TRUST = 0.5;
  private static final double HALF_LIFE_DAYS = 30;
  private static final int MAX_TYPES = 16;
  private static final int MAX_FINISHED = 9;
  private static final int MAX_PAUSES = 9;

  private final String name;
  private final SequencedMap<String, TypeProfiles> types = new LinkedHashMap<>();
  private final SequencedMap<String, RememberedProfiles> remembered = new LinkedHashMap<>();
  private final Deque<Double> finished = new ArrayDeque<>();
  private NoiseBuckets noise = new NoiseBuckets();
  private Pauses pauses = new Pauses(MAX_PAUSES);
  private int maxProfiledReplicas;
  private double trust = FIRST_TRUST;
  private Instant heard;
  private int life;
  private @Nullable Recollection recollection;

  Family(String name, Instant now) {
    this.name = name;
    heard = now;
  }

  void observe(StepProfile profile, Instant now) {
    hear(now);
    String gpuType = profile.typeOrEmpty();
    TypeProfiles profiles = types.remove(gpuType);
    if (profiles == null) {
      profiles = new TypeProfiles(GoodputEstimator.Merging.NEWEST);
    }
    types.putLast(gpuType, profiles);
    if (types.size() > MAX_TYPES) {
      remembered.remove(types.pollFirstEntry().getKey());
    }
    profiles.observe(profile);
    maxProfiledReplicas = Math.max(maxProfiledReplicas, profile.replicas());
    recollection = null;
  }

  void observe(Switch change, Instant now) {
    hear(now);
    pauses.observe(change);
    recollection = null;
  }

  void observe(GradientStats gradient, double fraction, Instant now) {
    hear(now);
    noise.observe(fraction, gradient);
    recollection = null;
  }

  void finished(double steps, Instant now) {
    hear(now);
    finished.addLast(steps);
    if (finished.size() > MAX_FINISHED) {
      finished.removeFirst();
    }
    recollection = null;
  }

  /** A job found the memory right. */
  void confirm() {
    trust += (1 - trust) / 4;
  }

  /** A job found the memory wrong. */
  void contradict() {
    trust /= 2;
    if (trust < LEAST_CONFIDENCE) {
      beginAnew();
    }
  }

  double confidence(Instant now) {
    double days = Math.max(0, Duration.between(heard, now).toSeconds() / 86_400.0);
    return trust * Math.pow(2, -days / HALF_LIFE_DAYS);
  }

  private void hear(Instant now) {
    if (confidence(now) < LEAST_CONFIDENCE) {
      beginAnew();
    }
    heard = now.isAfter(heard) ? now : heard;
  }

  private void beginAnew() {
    types.clear();
    remembered.clear();
    finished.clear();
    noise = new NoiseBuckets();
    pauses = new Pauses(MAX_PAUSES);
    maxProfiledReplicas = 0;
    trust = FIRST_TRUST;
    life++;
    recollection = null;
  }

  /** What it knows now. */
  Recollection recollection() {
    Recollection known = recollection;
    if (known == null) {
      types.forEach(
          (type, profiles) -> remembered.put(type, profiles.toRemember(remembered.get(type))));
      known =
          new Recollection(
              Collections.unmodifiableMap(new LinkedHashMap<>(remembered)),
              maxProfiledReplicas,
              noise.curve(),
              List.copyOf(finished),
              pauses.rescale(),
              pauses.restart(),
              life);
      recollection = known;
    }
    return known;
  }

  RememberedFamily stored() {
    SequencedMap<String, List<StepProfile>> profiles = new LinkedHashMap<>();
    types.forEach((type, known) -> profiles.put(type, known.merged()));
    return new RememberedFamily(
        name,
        profiles,
        maxProfiledReplicas,
        noise.initialBatch(),
        noise.buckets(),
        List.copyOf(finished),
        pauses.rescales(),
        pauses.restarts(),
        trust,
        heard);
  }

  static Family from(RememberedFamily stored) {
    Family family = new Family(stored.name(), stored.heard());
    stored
        .profilesByType()
        .forEach((type, profiles) ->
            profiles.forEach(profile -> family.observe(profile.onType(type), stored.heard())));
    family.noise = new NoiseBuckets(stored.initialBatch(), stored.noise());
    stored.finishedSteps().forEach(steps -> family.finished(steps, stored.heard()));
    family.pauses.restore(stored.rescalePauses(), stored.restartPauses());
    family.maxProfiledReplicas = Math.max(family.maxProfiledReplicas, stored.maxProfiledReplicas());
    family.trust = stored.trust();
    return family;
  }
}
