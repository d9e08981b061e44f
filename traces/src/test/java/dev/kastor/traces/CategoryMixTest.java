package dev.kastor.traces;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.traces.Workload.Category;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class CategoryMixTest {
  private static Workload jobs(int count) {
    return new Workload(
        "made",
        IntStream.range(0, count)
            .mapToObj(i -> new Workload.Job("j" + i, i, "a", 1, 8, 4, 128, Category.ADAPTIVE))
            .toList());
  }

  private static long count(Workload workload, Category category) {
    return workload.jobs().stream().filter(job -> job.category() == category).count();
  }

  @Test
  void drawsByWeightAndRepeatsItself() {
    CategoryMix mix = CategoryMix.parse("adaptive=1,rigid=3");
    Workload drawn = mix.draw(jobs(4000), 7);
    assertThat(count(drawn, Category.RIGID)).isBetween(2900L, 3100L);
    assertThat(count(drawn, Category.SCALE_GPUS)).isZero();
    assertThat(mix.draw(jobs(4000), 7)).isEqualTo(drawn);
    assertThat(mix.draw(jobs(4000), 8)).isNotEqualTo(drawn);
  }

  @Test
  void refusesWhatIsNoMix() {
    for (String bad : List.of("", "rigid", "stiff=1", "rigid=x", "rigid=0", "rigid=-1")) {
      assertThatThrownBy(() -> CategoryMix.parse(bad))
          .as(bad)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
