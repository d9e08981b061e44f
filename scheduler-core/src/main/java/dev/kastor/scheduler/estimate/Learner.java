package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.goodput.NoiseCurve;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.model.JobSpec;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one job: its own reports, and its family's memory until they say otherwise.
 *
 * <p>Its first reports on each GPU type are compared with the memory. One that is off by more than
 * {@value #STEP_TIME_FACTOR} in step time is no longer used for this job and GPU type, one that is
 * off by more than {@value #NOISE_FACTOR} in noise scale not for its noise, and the family's
 * confidence falls. What was not contradicted is added to the memory. Owned by one thread; the
 * memory may be shared.
 */
public final class Learner {
  /** By how much a remembered step time may be wrong: what layouts of one shape differ by. */
  static final double STEP_TIME_FACTOR = 1.5;

  /** The same of noise scales, which depend on the batch and on the run besides. */
  static final double NOISE_FACTOR = 4;

  /** Pauses of each kind that a job keeps. */
  public static final int PAUSES_KEPT = 64;

  private final String family;
  private final int initialBatch;
  private final GoodputEstimator estimator;
  private final @Nullable FamilyMemory memory;
  private final Map<String, Probation> byType = new HashMap<>();
  private final UndatedNoise undated = new UndatedNoise();
  private @Nullable Probation noise;
  private boolean confirmed;
  private boolean contradicted;
  private int life;
  private final Pauses pauses;
  private @Nullable Progress progress;
  private @Nullable Instant saved;
  private @Nullable Recollection used;
  private Optional<GoodputModel> model = Optional.empty();
  private boolean changed = true;

  /**
   * A learner of a job that has not reported yet.
   *
   * @param estimator of this job alone, from now on the learner's own
   * @param memory of all families; empty where jobs learn alone. It is not asked for a job of no
   *     family
   */
  public Learner(JobSpec spec, GoodputEstimator estimator, Optional<FamilyMemory> memory) {
    this(spec, estimator, memory, new Pauses(PAUSES_KEPT), Optional.empty());
  }

  /**
   * The same of a job that reported to an earlier operator.
   *
   * @param pauses those of the job's changes that are known, from now on the learner's own
   * @param saved when the job last saved its state; empty before the first time
   */
  public Learner(
      JobSpec spec,
      GoodputEstimator estimator,
      Optional<FamilyMemory> memory,
      Pauses pauses,
      Optional<Instant> saved) {
    this.pauses = pauses;
    this.saved = saved.orElse(null);
    family = spec.family();
    initialBatch = spec.batchLimits().initialGlobalBatch();
    this.estimator = estimator;
    this.memory = family.isEmpty() ? null : memory.orElse(null);
  }

  /** Takes in a report whose changes were not reported before. */
  public void observe(TelemetryReport report, Instant now) {
    progress = report.progress();
    report.profiles().forEach(profile -> observe(profile, now));
    if (report.gradient() != null) {
      observe(report.gradient(), report.progress(), now);
    }
    report.switches().forEach(change -> observe(change, now));
    if (report.checkpoint() != null) {
      saved = Instant.ofEpochMilli(report.checkpoint().savedAtEpochMillis());
    }
  }

  /** Takes in one profile. */
  public void observe(StepProfile profile, Instant now) {
    String gpuType = profile.typeOrEmpty();
    StepProfile merged = estimator.observe(profile);
    changed = true;
    if (memory == null) {
      return;
    }
    if (settled(byType.get(gpuType))) {
      memory.observe(family, profile, now);
      return;
    }
    Recollection known = recall(now);
    RememberedProfiles remembered = known == null ? null : known.profilesByType().get(gpuType);
    Probation probation = begun(byType.get(gpuType), remembered != null, STEP_TIME_FACTOR);
    byType.put(gpuType, probation);
    if (remembered != null && probation.verdict() == Probation.Verdict.OPEN) {
      double error = remembered.logRatio(merged);
      judged(probation.hear(ProfileKey.of(profile), error), memory, known);
      if (probation.verdict() != Probation.Verdict.OPEN && mayTeach(probation, known)) {
        estimator.merged(gpuType).forEach(own -> memory.observe(family, own, now));
      }
    } else if (mayTeach(probation, known)) {
      memory.observe(family, profile, now);
    }
  }

  /** Takes in a change of the replicas and its pause. */
  public void observe(Switch change, Instant now) {
    pauses.observe(change);
    if (memory != null) {
      memory.observe(family, change, now);
    }
  }

  /** Takes in newer noise statistics, which hold at this progress. */
  public void observe(GradientStats gradient, Progress at, Instant now) {
    estimator.observe(gradient);
    progress = at;
    changed = true;
    if (memory == null) {
      return;
    }
    if (settled(noise) && Outlook.NONE.knowsTotal(at)) {
      memory.observe(family, gradient, Outlook.NONE.fraction(at), now);
      return;
    }
    Recollection known = recall(now);
    Outlook outlook = outlook(known, 0);
    if (!outlook.knowsTotal(at)) {
      undated.add(at.scaleInvariantSteps(), gradient);
      return;
    }
    double fraction = outlook.fraction(at);
    NoiseCurve curve = known == null ? null : known.noise().orElse(null);
    noise = begun(noise, curve != null, NOISE_FACTOR);
    if (curve != null && noise.verdict() == Probation.Verdict.OPEN) {
      double own = NoiseBuckets.bounded(gradient.noiseScale());
      double error = Math.log(own / curve.noiseScale(fraction));
      judged(noise.hear(at.scaleInvariantSteps(), error), memory, known);
    } else if (mayTeach(noise, known)) {
      memory.observe(family, gradient, fraction, now);
    }
  }

  /** Its work is done. */
  public void finished(Progress at, Instant now) {
    double total = at.scaleInvariantSteps();
    if (memory == null || contradicted || total <= 0) {
      return;
    }
    memory.finished(family, total, now);
    for (UndatedNoise.Sample sample : undated.take()) {
      memory.observe(family, sample.gradient(), sample.steps() / total, now);
    }
  }

  /** The model as of now; empty where neither reports nor memory suffice for one. */
  @SuppressWarnings("ReferenceEquality") // The same object is a promise; equal ones may be large.
  public Optional<GoodputModel> model(Instant now) {
    Recollection known = memory == null ? null : recall(now);
    if (changed || known != used) {
      estimator.remember(
          usable(known),
          known == null ? 0 : known.maxProfiledReplicas(),
          curve(known).map(curve -> curve.at(outlook(known, 0).fraction(progressOrNone()))));
      model = estimator.model();
      used = known;
      changed = false;
    }
    return model;
  }

  /** The model as of the last {@link #model}: nothing is fitted for it. */
  public Optional<GoodputModel> latestModel() {
    return model;
  }

  /** Most replicas ever measured, remembered ones included as of the last {@link #model}. */
  public int maxProfiledReplicas() {
    return estimator.maxProfiledReplicas();
  }

  private Progress progressOrNone() {
    return progress == null ? Progress.NONE : progress;
  }

  /** Pauses that the job itself has measured. */
  public Pauses pauses() {
    return pauses;
  }

  /** Measurements as of now; of a live change or a start first the job's own, then its family's. */
  public Measured measured(Instant now) {
    Optional<GoodputModel> known = model(now);
    Recollection family = recall(now);
    return new Measured(
        known,
        maxProfiledReplicas(),
        Optional.ofNullable(progress),
        pauses.rescale().or(() -> family == null ? Optional.empty() : family.rescalePause()),
        pauses.restart().or(() -> family == null ? Optional.empty() : family.restartPause()),
        Optional.ofNullable(saved),
        outlook(now));
  }

  /** What the family's past says of this job's future. */
  public Outlook outlook(Instant now) {
    Recollection known = memory == null ? null : recall(now);
    return known == null || memory == null
        ? Outlook.NONE
        : outlook(known, memory.confidence(family, now));
  }

  private Outlook outlook(@Nullable Recollection known, double confidence) {
    return known == null
        ? Outlook.NONE
        : new Outlook(curve(known), known.finishedSteps(), confidence);
  }

  /**
   * The first report decides whether there is a memory to compare with, since later it may be the
   * job's own; none is left to compare with where the family has begun anew.
   */
  private static Probation begun(@Nullable Probation before, boolean remembered, double tolerance) {
    boolean open = before != null && before.verdict() == Probation.Verdict.OPEN;
    if (before == null || (open && !remembered)) {
      return remembered ? new Probation(tolerance) : Probation.over();
    }
    return before;
  }

  /**
   * Whether the memory was compared with, or never could be, and is not in the wrong: then what is
   * reported is only added to it. To recall it for each report of thousands of jobs would mean to
   * put it together anew each time.
   */
  private static boolean settled(@Nullable Probation probation) {
    return probation != null
        && (probation.verdict() == Probation.Verdict.CONFIRMED
            || probation.verdict() == Probation.Verdict.UNKNOWN);
  }

  private @Nullable Recollection recall(Instant now) {
    return memory == null ? null : memory.recall(family, now).orElse(null);
  }

  private Optional<NoiseCurve> curve(@Nullable Recollection known) {
    return known == null || !mayUse(noise, known)
        ? Optional.empty()
        : known.noise().map(curve -> curve.withInitialBatch(initialBatch));
  }

  private SequencedMap<String, RememberedProfiles> usable(@Nullable Recollection known) {
    SequencedMap<String, RememberedProfiles> usable = new LinkedHashMap<>();
    if (known != null) {
      known
          .profilesByType()
          .forEach((type, profiles) -> {
            if (mayUse(byType.get(type), known)) {
              usable.put(type, profiles);
            }
          });
    }
    return usable;
  }

  /** A family that began anew after this job contradicted it may be used again, and taught. */
  private boolean mayUse(@Nullable Probation probation, Recollection known) {
    return probation == null
        || probation.verdict() != Probation.Verdict.CONTRADICTED
        || known.life() > life;
  }

  private boolean mayTeach(@Nullable Probation probation, @Nullable Recollection known) {
    return probation == null || known == null || mayUse(probation, known);
  }

  private void judged(
      Probation.Verdict verdict, FamilyMemory families, @Nullable Recollection compared) {
    if (verdict == Probation.Verdict.CONTRADICTED) {
      life = compared == null ? life : compared.life();
      if (!contradicted) {
        families.contradict(family);
      }
      contradicted = true;
    } else if (verdict == Probation.Verdict.CONFIRMED && !confirmed && !contradicted) {
      families.confirm(family);
      confirmed = true;
    }
  }
}
