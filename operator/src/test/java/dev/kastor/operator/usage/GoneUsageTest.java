package dev.kastor.operator.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

// As in the operator's other tests.
@NullUnmarked
class GoneUsageTest {
  private static final LocalDate DAY = LocalDate.parse("2026-03-01");
  private static final Usage SOME = new Usage(1, 2, 3, 4, 5, 6);

  private final GoneUsage gone = new GoneUsage();

  @Test
  void jobsOfOneOwnerAreAddedUp() {
    gone.add(row(0, "red", "a"));
    gone.add(row(0, "red", "a"));
    gone.add(row(0, "red", "b"));
    assertThat(gone.rows())
        .containsExactly(
            new UsageRow(
                new QueueDay(DAY, "red"), new UsageOwner("team", "a", "bert"), SOME.plus(SOME)),
            row(0, "red", "b"));
  }

  @Test
  void itsTextTellsAllOfIt() {
    gone.add(row(0, "", "ä \"b\""));
    gone.add(row(1, "red", "b"));
    GoneUsage read = new GoneUsage();
    read.addAll(gone.text());
    assertThat(read.rows()).isEqualTo(gone.rows());
  }

  @Test
  void itsTextTellsWhatItCost() {
    Usage paid = SOME.costing(new Cost(1_234_567, 20));
    gone.add(new UsageRow(new QueueDay(DAY, "red"), new UsageOwner("team", "a", "bert"), paid));
    gone.add(row(0, "red", "a"));
    GoneUsage read = new GoneUsage();
    read.addAll(gone.text());
    assertThat(read.rows()).isEqualTo(gone.rows());
    UsageReport.Row row =
        UsageReport.of(UsageReport.By.QUEUE, DAY, Instant.EPOCH, gone.rows()).rows().getFirst();
    assertThat(row.costMicros()).isEqualTo(1_234_567);
    assertThat(row.unpriced()).isEqualTo(2 * SOME.held() - 20);
  }

  @Test
  void aTextOfOtherHandsIsRefusedAsAWhole() {
    for (String bad :
        List.of("x", "[[]]", "[[\"2026-03-01\",\"\",\"\",\"\",\"\",1,1,1,1,1,-1]]", "[1]")) {
      assertThatThrownBy(() -> gone.addAll(bad)).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(gone.rows()).isEmpty();
  }

  @Test
  void beyondItsBoundTheFirstDaysNoLongerTellOwnersApart() {
    for (int owner = 0; owner < GoneUsage.MOST_ROWS - 1; owner++) {
      gone.add(row(owner % 2, "red", "u" + owner));
    }
    gone.add(row(2, "red", "late"));
    gone.add(row(2, "red", "later"));
    assertThat(gone.rows().size()).isLessThan(GoneUsage.MOST_ROWS);
    assertThat(gone.rows().getFirst().owner()).isEqualTo(UsageOwner.all("team"));
    assertThat(gone.rows().getLast().owner().user()).isEqualTo("later");
    assertThat(gone.rows().stream().mapToLong(row -> row.usage().held()).sum())
        .isEqualTo((GoneUsage.MOST_ROWS + 1) * SOME.held());
  }

  @Test
  void aReportAddsUpWhatIsNotBeforeItsFirstDay() {
    gone.add(row(-1, "red", "a"));
    gone.add(row(0, "red", "a"));
    gone.add(row(1, "blue", "a"));
    UsageReport report = UsageReport.of(UsageReport.By.USER, DAY, Instant.EPOCH, gone.rows());
    assertThat(report.rows()).containsExactly(UsageReport.Row.of("a", SOME.plus(SOME)));
    assertThat(UsageReport.of(UsageReport.By.QUEUE, DAY, Instant.EPOCH, gone.rows()).rows())
        .extracting(UsageReport.Row::name)
        .containsExactly("blue", "red");
  }

  @Test
  void manyRowsOfOneNamespaceTakeNothingFromOthers() {
    for (int day = 0; day < 20; day++) {
      for (String namespace : List.of("bank", "lab", "evil")) {
        gone.add(row(day, "", new UsageOwner(namespace, "u", "bert")));
      }
    }
    for (int owner = 0; owner < 2600; owner++) {
      gone.add(row(20, "", new UsageOwner("evil", "u" + owner, "bert")));
    }
    for (int day = 0; day < 20; day++) {
      assertThat(gone.rows())
          .contains(
              row(day, "", new UsageOwner("bank", "u", "bert")),
              row(day, "", new UsageOwner("lab", "u", "bert")));
    }
    assertThat(gone.rows().size()).isLessThanOrEqualTo(GoneUsage.MOST_ROWS);
  }

  @Test
  void whatBudgetsCountIsKeptHoweverManyQueuesThereAre() {
    for (int day = 0; day < 31; day++) {
      for (int queue = 0; queue < 100; queue++) {
        gone.add(row(day, "q" + queue, "a"));
      }
    }
    for (int queue = 0; queue < 100; queue++) {
      assertThat(heldOf("q" + queue)).isEqualTo(31 * SOME.held());
    }
    gone.add(row(100, "q0", "a"));
    assertThat(gone.rows().getFirst().when().day()).as("older days end").isAfter(DAY);
  }

  @Test
  void ofMoreQueuesThanThatTheDaysOfAMonthBecomeOne() {
    for (int day = 0; day < 31; day++) {
      for (int queue = 0; queue < 200; queue++) {
        gone.add(row(day, "q" + queue, "a"));
      }
    }
    assertThat(gone.rows().size()).isLessThanOrEqualTo(GoneUsage.MOST_SUMS);
    assertThat(gone.text().length()).isLessThan(1 << 20);
    for (int queue = 0; queue < 200; queue++) {
      assertThat(heldOf("q" + queue)).isEqualTo(31 * SOME.held());
    }
    assertThat(
            gone.rows().stream()
                .filter(row -> !row.when().day().isBefore(DAY.plusDays(24)))
                .count())
        .as("the last week is told by day")
        .isEqualTo(7 * 200);
  }

  private long heldOf(String queue) {
    return gone.rows().stream()
        .filter(row -> row.when().queue().equals(queue))
        .mapToLong(row -> row.usage().held())
        .sum();
  }

  private static UsageRow row(int day, String queue, UsageOwner owner) {
    return new UsageRow(new QueueDay(DAY.plusDays(day), queue), owner, SOME);
  }

  private static UsageRow row(int day, String queue, String user) {
    return new UsageRow(
        new QueueDay(DAY.plusDays(day), queue), new UsageOwner("team", user, "bert"), SOME);
  }
}
