package dev.kastor.agent.trainer;

import dev.kastor.engine.train.AuditDigest;
import dev.kastor.engine.train.ElasticSampler;
import dev.kastor.engine.train.ExampleSelector;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.plugin.Chosen;
import dev.kastor.protocol.BatchPlan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Examples of a replica's steps: its place in the endless sequence of examples, what is chosen of
 * them, and the evidence of the audit.
 *
 * <p>Where nothing chooses, each step takes the next positions and the audit proves that each was
 * trained once. Where a selector chooses, the same evidence proves that each was judged once, and a
 * second one that exactly those were trained that were chosen. Only {@link #applied} changes what
 * is state. One thread owns it.
 */
final class ExampleStream {
  private final ElasticSampler sampler;

  /** Empty where no selector uses them. */
  private final Optional<Trainable.ExampleLosses> losses;

  private final @Nullable ExampleSelector selector;
  private final String selectorName;
  private long cursor;
  private AuditDigest judged = AuditDigest.EMPTY;
  private AuditDigest trained = AuditDigest.EMPTY;
  private AuditDigest chosen = AuditDigest.EMPTY;

  /** Of the step or round in progress, where a selector chooses. */
  private @Nullable Step step;

  private record Step(ExampleSelector.Choice choice, Looks looks) {}

  ExampleStream(Trainable model, TrainingSettings settings) {
    this.sampler = new ElasticSampler(model.trainingExamples(), settings.seed());
    this.selector =
        settings.method().selector(model.trainingExamples(), settings.seed()).orElse(null);
    this.losses =
        settings
            .method()
            .select()
            .filter(each -> each.plugin().usesLosses())
            .flatMap(_ -> model.exampleLosses());
    this.selectorName = settings.method().select().map(Chosen::name).orElse("");
  }

  /** Examples that are trained, on average over data, while so many are judged. */
  double trained(double examples) {
    return selector == null ? examples : selector.trained(examples);
  }

  /** Examples trained so far. */
  long trained() {
    return selector == null ? cursor : trained.count();
  }

  /** Full passes over the data so far, be its examples trained or judged. */
  long epoch() {
    return sampler.epoch(cursor);
  }

  /** Counts of both ledgers in words; empty where all examples are trained. */
  Optional<String> told() {
    return selector == null
        ? Optional.empty()
        : Optional.of(
            "judged %d examples and trained %d of them".formatted(judged.count(), trained.count()));
  }

  /** Examples that were lost or repeated, as the audit sees it. */
  long lostOrRepeated() {
    return judged.lostOrRepeated(sampler.expected(cursor)) + trained.lostOrRepeated(chosen);
  }

  /** Pays what a first look would pay for. */
  void warmUp(int atomicBatchSize) {
    int[] examples = new int[Looks.share(atomicBatchSize)];
    losses.ifPresent(reader -> reader.read(examples, new float[examples.length]));
  }

  /**
   * Chooses the examples of the next step or round, together with the other replicas.
   *
   * @param steps of the round; 1 for a step
   * @param gather where losses are shared
   */
  void select(BatchPlan plan, int steps, int replicas, int rank, Looks.Gather gather)
      throws IOException {
    if (selector != null) {
      int wanted = Math.multiplyExact(steps, plan.globalBatchSize(replicas));
      Looks looks = new Looks(losses, sampler, cursor, plan, replicas, rank, gather);
      ExampleSelector.Choice choice = selector.choose(cursor, wanted, looks);
      step = new Step(choice.check(cursor, wanted), looks);
    }
  }

  private Step step() {
    Step now = step;
    if (now == null) {
      throw new IllegalStateException("the examples of the step are not chosen yet");
    }
    return now;
  }

  /** Goes to a position, where others have the state. */
  void at(long position) {
    cursor = position;
  }

  /** The examples of one of our passes. */
  ElasticSampler.Take take(Passes.Place place, int pass) {
    BatchPlan plan = place.plan();
    long from = (long) place.step() * plan.globalBatchSize(place.replicas());
    return selector == null
        ? sampler.take(cursor + from, plan, place.replicas(), place.rank(), pass)
        : sampler.take(
            step().choice().positions(), Math.toIntExact(from), plan, place.rank(), pass);
  }

  /** The examples of all of our passes of a step. */
  int[] take(Passes.Place place) {
    return IntStream.range(0, place.passes())
        .mapToObj(pass -> take(place, pass).examples())
        .flatMapToInt(Arrays::stream)
        .toArray();
  }

  /**
   * Evidence of what we judged in this step.
   *
   * @param passed that of what our passes trained
   */
  AuditDigest judged(AuditDigest passed) {
    return selector == null ? passed : step().looks().judged(step().choice().cursor());
  }

  /** Time that we looked at examples of this step before we trained some. */
  double lookSeconds() {
    return selector == null ? 0 : step().looks().seconds();
  }

  /**
   * Goes on behind a step or a round that was applied.
   *
   * @param all what each replica's passes gave
   * @param taken its examples
   */
  void applied(List<LocalStep> all, long taken) {
    for (LocalStep each : all) {
      judged = judged.plus(each.judged());
    }
    if (selector == null) {
      cursor += taken;
      return;
    }
    for (LocalStep each : all) {
      trained = trained.plus(each.trained());
    }
    ExampleSelector.Choice choice = step().choice();
    chosen = chosen.plus(AuditDigest.of(sampler.take(choice.positions())));
    cursor = choice.cursor();
    selector.commit();
    step = null;
  }

  /** Sections that every state has. */
  List<Section> sections() {
    return List.of(Section.of(TrainingState.CURSOR, cursor), section(TrainingState.AUDIT, judged));
  }

  /** Sections of a state whose examples are chosen. */
  List<Section> selection() {
    List<Section> sections = new ArrayList<>();
    if (selector != null) {
      sections.add(section(TrainingState.TRAINED, trained));
      sections.add(section(TrainingState.CHOSEN, chosen));
      sections.addAll(TrainingState.named(TrainingState.SELECTOR, selectorName, selector.state()));
    }
    return sections;
  }

  private static Section section(String name, AuditDigest digest) {
    return Section.of(name, digest.count(), digest.sum());
  }

  /** Reads the numbers of a state that was copied into {@link #selection}'s arrays. */
  void restore(TrainingState state) {
    cursor = state.section(TrainingState.CURSOR).longs()[0];
    judged = digest(state, TrainingState.AUDIT);
    if (selector != null) {
      trained = digest(state, TrainingState.TRAINED);
      chosen = digest(state, TrainingState.CHOSEN);
      step = null;
    }
  }

  private static AuditDigest digest(TrainingState state, String name) {
    long[] numbers = state.section(name).longs();
    return new AuditDigest(numbers[0], numbers[1]);
  }
}
