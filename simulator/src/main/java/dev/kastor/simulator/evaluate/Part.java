package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.event.Adversity;
import dev.kastor.simulator.event.ReportFaults;
import dev.kastor.simulator.event.Stragglers;
import dev.kastor.simulator.replay.DeclaredWork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A question that the evaluation answers. */
public enum Part {
  /** How the policy does beside the published one. */
  COMPARISON,

  /** Who pays for it. */
  FAIRNESS,

  /** What is lost when it knows less, or knows wrongly. */
  ROBUSTNESS,

  /** What each of its ideas is worth. */
  ABLATION,

  /** How all policies do as load grows. */
  LOADS;

  /** As the command line spells it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The part of a label.
   *
   * @throws IllegalArgumentException if there is none; the message lists all
   */
  public static Part of(String label) {
    return Arrays.stream(values())
        .filter(part -> part.label().equals(label))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "there is no part '%s'. Use some of: %s"
                    .formatted(
                        label,
                        String.join(", ", Arrays.stream(values()).map(Part::label).toList()))));
  }

  /**
   * Who is tried, in the order of its table, without what they are held to.
   *
   * @param policies those that {@link #LOADS} compares
   */
  public List<Contender> contenders(List<TriedPolicy> policies) {
    return switch (this) {
      case COMPARISON -> compared();
      case FAIRNESS -> List.of(Contender.KASTOR, Contender.REMEMBERING, Contender.LIVE);
      case ROBUSTNESS -> disturbed();
      case ABLATION -> ablated();
      case LOADS -> tried(policies);
    };
  }

  /** Whether it is asked of a set. */
  boolean asks(WorkloadSet set) {
    return switch (this) {
      case COMPARISON, FAIRNESS -> true;
      case ROBUSTNESS, ABLATION -> set.dissected();
      case LOADS -> set.load().isPresent();
    };
  }

  /** Replicas of a warmed process begin at once; those that fetch an image take half a minute. */
  private static List<Contender> compared() {
    return List.of(
        Contender.KASTOR,
        Contender.REMEMBERING,
        Contender.LIVE,
        Contender.LIVE.starting(Duration.ofSeconds(10)),
        Contender.LIVE.starting(Duration.ofSeconds(30)));
  }

  private static List<Contender> disturbed() {
    Adversity usual = Adversity.USUAL;
    Contender kastor = Contender.KASTOR;
    Contender memory = Contender.REMEMBERING;
    Contender live = Contender.LIVE;
    Adversity absent = declaring(DeclaredWork.ABSENT);
    Adversity off = declaring(DeclaredWork.parse("0.5"));
    return List.of(
        kastor.disturbed("declared work 50 % too large", declaring(DeclaredWork.parse("x1.5"))),
        kastor.disturbed("declared work 50 % too small", declaring(DeclaredWork.parse("x0.5"))),
        kastor.disturbed("declared work off by up to 50 %", off),
        kastor.disturbed("no declared work", absent),
        memory.disturbed("declared work off by up to 50 %", off),
        memory.disturbed("no declared work", absent),
        live.disturbed("declared work off by up to 50 %", off),
        live.disturbed("no declared work", absent),
        live.disturbed("step times off by 10 %", usual.withTimingNoise(0.1)),
        live.disturbed("30 % of the reports lost", reporting(0.3, Duration.ZERO)),
        live.disturbed("reports 2 min late", reporting(0, Duration.ofMinutes(2))),
        live.disturbed(
            "10 % of the nodes half as fast",
            new Adversity(
                usual.declaredWork(),
                usual.timingNoise(),
                usual.reports(),
                new Stragglers(0.1, 2))));
  }

  private static Adversity declaring(DeclaredWork work) {
    Adversity usual = Adversity.USUAL;
    return new Adversity(work, usual.timingNoise(), usual.reports(), usual.stragglers());
  }

  private static Adversity reporting(double lost, Duration late) {
    Adversity usual = Adversity.USUAL;
    return new Adversity(
        usual.declaredWork(),
        usual.timingNoise(),
        new ReportFaults(lost, late),
        usual.stragglers());
  }

  private static List<Contender> ablated() {
    Contender kastor = Contender.KASTOR;
    return List.of(
        kastor.without("no ranking", "ranking=false"),
        kastor.without("no pricing", "pricing=false"),
        kastor.without("no hysteresis", "hysteresis=false"),
        kastor.without("no fairness", "fairness=infinity"),
        kastor.without("first replicas 1", "firstReplicas=1"),
        kastor.without("growth 2", "growth=2"),
        kastor.without("prices alone", "budget=0"),
        kastor.without("hold x 3", "hold=6000"),
        kastor.without("hold / 3", "hold=" + 2000.0 / 3),
        kastor.without("no layout corrections", "learning=faithful"));
  }

  private static List<Contender> tried(List<TriedPolicy> policies) {
    List<Contender> all = new ArrayList<>();
    for (TriedPolicy one : policies) {
      all.add(Contender.of(one.policy()));
      if (one.policy().equals(Contender.REMEMBERING.policy())) {
        all.add(Contender.REMEMBERING);
      }
    }
    return all;
  }
}
