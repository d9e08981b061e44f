package dev.kastor.simulator.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.traces.CategoryMix;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Category;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DrawnCategoriesTest {
  private static final CategoryMix THIRDS = CategoryMix.parse("adaptive=1,scale-gpus=1,rigid=1");

  private static Workload jobs(int count) {
    List<Workload.Job> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      jobs.add(
          new Workload.Job("j" + i, i, "images", 1, Workload.UNBOUNDED, 4, 256, Category.ADAPTIVE));
    }
    return new Workload("jobs", jobs);
  }

  @Test
  void drawsTheSameSharesForEveryone() {
    Workload drawn = new DrawnCategories(THIRDS, 1).of(jobs(3000));
    for (Category category : List.of(Category.ADAPTIVE, Category.SCALE_GPUS, Category.RIGID)) {
      assertThat(drawn.jobs().stream().filter(job -> job.category() == category).count())
          .isBetween(900L, 1100L);
    }
    assertThat(new DrawnCategories(THIRDS, 1).of(jobs(3000))).isEqualTo(drawn);
    assertThat(new DrawnCategories(THIRDS, 2).of(jobs(3000))).isNotEqualTo(drawn);
  }

  @Test
  void onlyStrongScalingIsBoundedByWhatWasAskedFor() {
    for (Workload.Job job : new DrawnCategories(THIRDS, 1).of(jobs(60)).jobs()) {
      assertThat(job.maxReplicas())
          .isEqualTo(job.category() == Category.SCALE_GPUS ? 4 : Workload.UNBOUNDED);
      assertThat(job.requestedReplicas()).isEqualTo(4);
    }
  }

  @Test
  void saysItsWeightsInOneOrder() {
    assertThat(new DrawnCategories(CategoryMix.parse("rigid=2,adaptive=1"), 3))
        .hasToString("ADAPTIVE=1.0,SCALE_GPUS=0.0,RIGID=2.0,RESTART=0.0, seed 3");
  }
}
