package dev.kastor.operator.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Cost of jobs: the price of a slot times the time for which it was held. */
// As in the operator's other tests.
@NullUnmarked
class JobCostTest {
  private static final double CENT = 0.01;
  private static final double HOUR_MILLIS = 3_600_000;

  private final Map<String, Double> prices = new HashMap<>();
  private Instant now = Instant.parse("2026-03-01T12:00:00Z");
  private AllocationStatus allocation;
  private JobMeter meter = new JobMeter(JobMeterTest.job(null, null, null), this::price, now);

  /** The other account: price times held time, added up allocation by allocation. */
  private double money;

  private long pricedMillis;
  private long heldMillis;

  @Tag("slow")
  @RepeatedTest(20)
  void theSumIsPriceTimesHeldTimeToTheCent(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    prices.putAll(Map.of("a", 2.48 / 8, "b", 1 / 3.0, "c", 0.0, "d", 12.7 / 7));
    for (int event = 0; event < 2_000; event++) {
      switch (random.nextInt(8)) {
        case 0, 1 -> allocate(random);
        case 2 ->
            meter.reported(random.nextInt(20), random.nextInt(100), random.nextBoolean(), now);
        case 3 -> meter.entered(random.nextBoolean() ? Phase.Running : Phase.Starting, now);
        case 4 -> meter.measured(random.nextDouble(), now);
        case 5 -> operatorRestarts();
        case 6 -> {
          prices.put("b", random.nextInt(500) / 100.0);
          meter.repriced(now);
        }
        default -> meter.days(now);
      }
      hold(random.nextLong(120_000));
    }
    Usage sum = sum();
    assertThat(sum.held()).isEqualTo(heldMillis);
    assertThat(sum.cost().pricedMillis()).isEqualTo(pricedMillis);
    assertThat(sum.cost().micros() / 1e6).isCloseTo(money, within(CENT / 2));
    assertThat(money).as("money that was spent at all").isGreaterThan(10);
  }

  @Test
  void aNodeThatGoesCostsWhatItCostUntilItsSlotsAreTaken() {
    prices.put("a", 3.6);
    allocate(Map.of("a", 2), 1);
    hold(10_000);
    prices.clear();
    meter.repriced(now);
    hold(10_000);
    assertThat(sum().cost()).isEqualTo(new Cost(40_000, 40_000));
  }

  @Test
  void timeThatNoOperatorSawCostsWhatTheNodesTellAtItsEnd() {
    prices.put("a", 3.6);
    allocate(Map.of("a", 2), 1);
    hold(10_000);
    String text = meter.text(now);
    hold(20_000);
    meter = new JobMeter(JobMeterTest.job(allocation, Phase.Running, text), this::price, now);
    assertThat(sum().unknown()).isEqualTo(40_000);
    assertThat(sum().cost()).isEqualTo(new Cost(60_000, 60_000));
    meter = new JobMeter(JobMeterTest.job(allocation, Phase.Running, "lost"), this::price, now);
    assertThat(sum().held()).isEqualTo(60_000);
    assertThat(sum().cost()).as("it may have been held elsewhere").isEqualTo(Cost.NONE);
  }

  @Test
  void aTextWithAPriceIsReadAsItWasWritten() {
    prices.put("a", 3.6);
    allocate(Map.of("a", 2, "c", 1), 2);
    hold(10_000);
    String text = meter.text(now);
    assertThat(text).endsWith(" 60000 0 0 0 40000 40000");
    assertThat(UsageText.read(text).orElseThrow().days()).isEqualTo(meter.days(now));
    assertThat(UsageText.read(text + " 1")).isEmpty();
  }

  private OptionalDouble price(String node) {
    Double price = node.equals("c") ? Double.valueOf(0) : prices.get(node);
    return price == null ? OptionalDouble.empty() : OptionalDouble.of(price);
  }

  private void allocate(SplittableRandom random) {
    Map<String, Integer> replicas = new LinkedHashMap<>();
    for (String node : prices.keySet()) {
      if (random.nextInt(3) == 0) {
        replicas.put(node, 1 + random.nextInt(4));
      }
    }
    allocate(replicas, 1 + random.nextInt(3));
  }

  private void allocate(Map<String, Integer> replicas, int slotsPerReplica) {
    Instant begin = meter.stop(now);
    long version = allocation == null ? 1 : allocation.version() + 1;
    meter.deciding(version);
    allocation =
        AllocationWriter.status(
            allocation,
            new Allocation(new LinkedHashMap<>(replicas), slotsPerReplica),
            null,
            version,
            begin,
            Reason.of("Test", "The test wants it so."),
            "red");
    meter.decided(allocation);
  }

  private void operatorRestarts() {
    String text = meter.text(now);
    hold(5_000);
    meter = new JobMeter(JobMeterTest.job(allocation, Phase.Running, text), this::price, now);
  }

  private void hold(long millis) {
    now = now.plus(Duration.ofMillis(millis));
    if (allocation != null) {
      int each = allocation.slotsPerReplica() == null ? 1 : allocation.slotsPerReplica();
      allocation
          .nodes()
          .forEach((node, replicas) -> {
            double price = price(node).orElse(prices.getOrDefault(node, 0.0));
            long held = millis * replicas * each;
            heldMillis += held;
            pricedMillis += price > 0 ? held : 0;
            money += price * held / HOUR_MILLIS;
          });
    }
  }

  private Usage sum() {
    return meter.days(now).values().stream().reduce(Usage.NONE, Usage::plus);
  }
}
