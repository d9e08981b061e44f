package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JobRecordsTest {
  private final JobRecords records = new JobRecords();
  private final List<String> closed = new ArrayList<>();
  private final Map<String, String> words = records.part(closed::add);
  private final Set<String> flags = records.flags();

  @Test
  void aRecordEndsAsAWhole() {
    words.put("a", "of a");
    words.put("b", "of b");
    flags.add("a");
    records.close("a");
    assertThat(words).containsOnlyKeys("b");
    assertThat(flags).isEmpty();
    assertThat(closed).containsExactly("of a");
  }

  @Test
  void whatCameAfterTheEndGoesAtTheSecondSweep() {
    words.put("late", "a report that was under way");
    words.put("alive", "stays");
    records.sweep(Set.of("alive"));
    assertThat(words).as("the cache may not show the job yet").containsKey("late");
    records.sweep(Set.of("alive"));
    assertThat(words).containsOnlyKeys("alive");
    assertThat(closed).hasSize(1);
  }

  @Test
  void aJobThatTheCacheShowsInBetweenStays() {
    words.put("new", "of a job that came just now");
    records.sweep(Set.of());
    records.sweep(Set.of("new"));
    records.sweep(Set.of());
    assertThat(words).containsKey("new");
    assertThat(records.size()).isEqualTo(1);
  }
}
