package dev.kastor.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;

import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.Tidy;
import dev.kastor.e2e.watch.WatcherProcess;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A tenant with all rights of the tenant role attacks his neighbour and the operator, one strategy
 * after the other; meanwhile the neighbour's jobs hold what his quota and priority are good for,
 * and nobody reads, loses or stops what is not his.
 *
 * <p>The system property {@code kastor.e2e.minutes} makes it go on for so long, with the settings
 * of the chart and strategies in pairs, drawn from {@code kastor.e2e.seed}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(4)
@Tag("never-retried")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(Tidy.class)
final class AttackScenario {
  private static final int MINUTES = Integer.getInteger("kastor.e2e.minutes", 0);
  private static final long SEED =
      Long.getLong("kastor.e2e.seed", System.currentTimeMillis() % 1_000_000);

  /** Between two rounds of the scheduler; the long form keeps the chart's own. */
  private static final Duration ROUND = Duration.ofSeconds(MINUTES == 0 ? 2 : 30);

  /** Shortest limit for pods to end and to start after a decision. */
  private static final Duration SETTLE = Duration.ofSeconds(15);

  /** Limit on a slow machine, in times of what the first jobs took without an attack. */
  private static final int SLOWER = 3;

  private static final Duration READY = Duration.ofMinutes(2);
  private static final long LOOK_MILLIS = 250;

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Lab lab = new Lab(client, new Namespaces(client));
  private final Chart chart =
      new Chart(
          Lab.SYSTEM,
          "replicas=1",
          "roundInterval=%ds".formatted(ROUND.toSeconds()),
          "summaryInterval=2s",
          "terminationGrace=2s",
          "admission.enabled=" + (MINUTES > 0));
  private WatcherProcess watcher;
  private Honest honest;
  private OperatorSeen operator;
  private Hostile hostile;
  private Duration settle = SETTLE;

  @BeforeAll
  void install() throws Exception {
    lab.namespaced();
    chart.install();
    lab.clusterWide();
    watcher = WatcherProcess.start();
    honest = new Honest(client, watcher);
    operator = new OperatorSeen(client);
    hostile = new Hostile(client, watcher, honest, operator, new Stranger(operator.address()));
    long begun = System.nanoTime();
    honest.settle();
    Await.until(
        "the honest tenant's jobs run",
        READY,
        honest::describe,
        () -> honest.lacking().isEmpty() && honest.step() > 0);
    Duration unhindered = Duration.ofNanos(System.nanoTime() - begun).multipliedBy(SLOWER);
    settle = Collections.max(List.of(SETTLE, unhindered));
  }

  @AfterAll
  void end() throws Exception {
    hostile.close();
    watcher.close();
    chart.uninstall();
    lab.remove();
    client.close();
  }

  @TestFactory
  @Order(1)
  Stream<DynamicTest> withstandsOneOfEachKind() {
    return MINUTES > 0 ? Stream.empty() : tests(Strategies.typical());
  }

  @TestFactory
  @Order(2)
  @Tag("nightly")
  Stream<DynamicTest> withstandsTheOthers() {
    if (MINUTES == 0) {
      return tests(Strategies.others());
    }
    Progress.say("seed %d: the same strategies come with --seed %d".formatted(SEED, SEED));
    Instant end = Instant.now().plus(Duration.ofMinutes(MINUTES));
    List<Strategy> deck = new ArrayList<>();
    Random random = new Random(SEED);
    return Stream.generate(() -> test(List.of(draw(deck, random), draw(deck, random))))
        .takeWhile(_ -> Instant.now().isBefore(end));
  }

  private Stream<DynamicTest> tests(List<Strategy> strategies) {
    // Who may keep GPUs for longer would take as long as many others.
    return strategies.stream()
        .filter(strategy -> strategy.patience().isZero())
        .map(strategy -> test(List.of(strategy)));
  }

  /** Every strategy comes once before any comes twice. */
  private static Strategy draw(List<Strategy> deck, Random random) {
    if (deck.isEmpty()) {
      deck.addAll(Strategies.all());
      Collections.shuffle(deck, random);
    }
    return deck.removeLast();
  }

  private DynamicTest test(List<Strategy> strategies) {
    return DynamicTest.dynamicTest(
        strategies.toString(), () -> assertAll(() -> withstand(strategies), this::calm));
  }

  @Test
  @Order(3)
  @DisplayName("the watcher was awake and saw nothing that must not be")
  void nothingWasSeen() throws Exception {
    assertThat(watcher.awake()).as("the watcher is awake").isTrue();
    assertThat(watcher.violations()).isEmpty();
  }

  private void withstand(List<Strategy> strategies) throws Exception {
    Instant begun = Instant.now();
    int seen = watcher.violations().size();
    for (Strategy strategy : strategies) {
      strategy.strike().by(hostile);
    }
    Instant struck = Instant.now();
    boolean claims = strategies.stream().anyMatch(Strategy::forGpus);
    if (claims) {
      honest.claim(strategies.stream().allMatch(strategy -> strategy.aim() != Strategy.Aim.RANK));
    }
    Duration patience =
        strategies.stream().map(Strategy::patience).max(Duration::compareTo).orElseThrow();
    Await.until(
        "the honest tenant has what is his",
        ROUND.plus(settle).plus(patience),
        () -> honest.lacking() + honest.describe() + hostile.jobs().describe(),
        () -> honest.lacking().isEmpty());
    Instant rounded = struck.plus(ROUND).plusSeconds(1);
    while ((claims || hostile.waitsForARound()) && Instant.now().isBefore(rounded)) {
      assertThat(honest.lacking()).as("what the honest tenant had and lost").isEmpty();
      Thread.sleep(LOOK_MILLIS);
    }
    if (hostile.waitsForARound()) {
      Await.until(
          "all promises are kept", settle, () -> broken().toString(), () -> broken().isEmpty());
    }
    assertThat(broken()).as("promises that were not kept").isEmpty();
    assertThat(operator.complaints(begun)).as("what is wrong with the operator").isEmpty();
    List<String> violations = watcher.violations();
    assertThat(violations.subList(seen, violations.size())).as("what the watcher saw").isEmpty();
  }

  /** All is as it was before. */
  private void calm() throws Exception {
    hostile.undo();
    honest.release();
    honest.restore();
    Await.until(
        "the honest tenant's jobs run on",
        READY,
        honest::describe,
        () -> honest.lacking().isEmpty());
  }

  private List<String> broken() {
    try {
      return hostile.broken();
    } catch (Exception e) {
      return List.of(e.toString());
    }
  }
}
