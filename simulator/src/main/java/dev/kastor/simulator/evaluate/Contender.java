package dev.kastor.simulator.evaluate;

import dev.kastor.plugin.Chosen;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.kastor.KastorPlugin;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.event.Adversity;
import dev.kastor.simulator.event.LiveRescale;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Pace;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.tick.TickSettings;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/**
 * A policy as it is tried on workloads.
 *
 * @param name in tables
 * @param policy the policy with its options
 * @param familyMemory whether jobs of one family learn from each other
 * @param events whether it decides from event to event and rescales live; else by the set's mode
 * @param rescale what a change of a size costs where it decides from event to event
 * @param adversity what it does not know
 */
public record Contender(
    String name,
    Chosen<PolicyPlugin> policy,
    boolean familyMemory,
    boolean events,
    LiveRescale rescale,
    Adversity adversity) {

  /** Kastor's own policy by the rules of the published one. */
  public static final Contender KASTOR = of(KastorPlugin.NAME);

  /** The same with family memory. */
  public static final Contender REMEMBERING =
      new Contender(
          "kastor, memory", KASTOR.policy, true, false, LiveRescale.USUAL, Adversity.USUAL);

  /** Besides, it decides when something happens, and most changes of a size take 2 s. */
  public static final Contender LIVE =
      new Contender(
          "kastor, memory, live", KASTOR.policy, true, true, LiveRescale.USUAL, Adversity.USUAL);

  /** A shipped policy, with options as in {@code kastor:hold=1000}. */
  public static Contender of(String policy) {
    return of(Policies.choose(policy));
  }

  /** A policy with options. */
  static Contender of(Chosen<PolicyPlugin> policy) {
    return new Contender(
        policy.toString(), policy, false, false, LiveRescale.USUAL, Adversity.USUAL);
  }

  /** The published policy of a mode. */
  public static Contender baseline(Mode mode) {
    return of(mode.label());
  }

  /** What it is without what sets it apart from {@code kastor} in a table of its own. */
  Contender reference() {
    if (!own()) {
      return KASTOR;
    }
    return events ? LIVE : familyMemory ? REMEMBERING : KASTOR;
  }

  private boolean own() {
    return policy.name().equals(KastorPlugin.NAME);
  }

  /** The same with other options, such as {@code ranking=false}. */
  Contender without(String idea, String options) {
    return new Contender(
        idea,
        Policies.choose(policy.name() + ":" + options),
        familyMemory,
        events,
        rescale,
        adversity);
  }

  /** The same where replicas that a running job adds start for so long before they train. */
  Contender starting(Duration start) {
    return new Contender(
        "%s, starts of %d s".formatted(name, start.toSeconds()),
        policy,
        familyMemory,
        events,
        new LiveRescale(rescale.pause(), start),
        adversity);
  }

  Contender disturbed(String by, Adversity other) {
    return new Contender(name + ": " + by, policy, familyMemory, events, rescale, other);
  }

  /**
   * The published policy under the same rules of time and what it notices of the same disturbance:
   * declared work is nothing to it.
   */
  Contender published(Mode mode) {
    if (!events) {
      return baseline(mode);
    }
    Adversity noticed =
        new Adversity(
            DeclaredWork.EXACT,
            adversity.timingNoise(),
            adversity.reports(),
            adversity.stragglers());
    String named = mode.label() + ", live";
    return new Contender(
        noticed.equals(Adversity.USUAL) ? named : named + ": " + name,
        Policies.choose(mode.label()),
        false,
        true,
        rescale,
        noticed);
  }

  /** The seeds that matter to it: others would give the same replay again. */
  List<Long> seeds(List<Long> all) {
    boolean drawn =
        events || Policies.traits(policy).randomised() || adversity.declaredWork().error() > 0;
    return drawn ? all : all.subList(0, 1);
  }

  /** Its replay of a workload of a set. */
  public Run run(WorkloadSet set, String workload, long seed) {
    Mode mode = events ? Mode.EVENTS : set.mode();
    return new Run(
        mode,
        set.profiles(),
        workload,
        set.cluster(),
        policy,
        seed,
        events
            ? Duration.ofSeconds(60)
            : TickSettings.publishedRound(mode, Policies.traits(policy)),
        set.factor(),
        new Conditions(
            0,
            rescale,
            Optional.empty(),
            List.of(),
            adversity,
            Optional.empty(),
            Conditions.PLAIN.interruptionsPerDay(),
            new LinkedHashMap<>(),
            Pace.USUAL),
        familyMemory,
        set.categories(workload));
  }
}
