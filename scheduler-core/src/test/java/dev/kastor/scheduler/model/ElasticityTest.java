package dev.kastor.scheduler.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Elasticity.Adaptive;
import dev.kastor.scheduler.model.Elasticity.Elastic;
import dev.kastor.scheduler.model.Elasticity.Restarting;
import dev.kastor.scheduler.model.Elasticity.Rigid;
import org.junit.jupiter.api.Test;

final class ElasticityTest {
  private static final AllowedReplicas ANY = new AllowedReplicas.Any();
  private static final AllowedReplicas POWERS = new AllowedReplicas.PowersOfTwo();

  @Test
  void aBoundBelowTheMostLowersIt() {
    assertThat(new Adaptive(1, 8, POWERS).atMost(5)).isEqualTo(new Adaptive(1, 5, POWERS));
    assertThat(new Elastic(2, 8, ANY).atMost(2)).isEqualTo(new Elastic(2, 2, ANY));
    assertThat(new Restarting(2, 8, ANY).atMost(3)).isEqualTo(new Restarting(2, 3, ANY));
  }

  @Test
  void aBoundAboveTheMostChangesNothing() {
    Elasticity job = new Adaptive(1, 8, ANY);
    assertThat(job.atMost(8)).isSameAs(job);
    assertThat(job.atMost(Integer.MAX_VALUE)).isSameAs(job);
  }

  @Test
  void aBoundBelowTheLeastLowersBoth() {
    assertThat(new Adaptive(4, 4, ANY).atMost(2)).isEqualTo(new Adaptive(2, 2, ANY));
    assertThat(new Rigid(4).atMost(2)).isEqualTo(new Rigid(2));
  }
}
