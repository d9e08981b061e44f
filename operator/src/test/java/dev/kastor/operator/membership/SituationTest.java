package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When a job can be left alone until somebody says something. */
class SituationTest {
  private final RuledJob job = new RuledJob();

  @Test
  void aJobWithoutPodsRests() {
    assertThat(job.situation().rests()).isTrue();
    assertThat(job.situation().settled()).isFalse();
  }

  @Test
  void aJobWhosePodsAreOnTheirWayDoesNeither() {
    job.target(1).pod("a", "n1");

    assertThat(job.situation().rests()).isFalse();
    assertThat(job.situation().settled()).isFalse();
  }

  @Test
  void aJobIsSettledOnceAllMembersSayThatTheyTrain() {
    job.target(2).pod("a", "n1").pod("b", "n1").ready("a").ready("b");
    job.publish();
    job.training("a");
    assertThat(job.situation().settled()).isFalse();

    job.training("b");
    assertThat(job.situation().settled()).isTrue();
  }

  @Test
  void whoGrowsShrinksMovesOrBreaksIsNotSettled() {
    job.running("a", "b");
    assertThat(job.situation().settled()).isTrue();

    job.target(3);
    assertThat(job.situation().settled()).isFalse();
    job.target(2).broken("b");
    assertThat(job.situation().settled()).isFalse();
    job.training("b").dies("b");
    assertThat(job.situation().settled()).isFalse();
  }
}
