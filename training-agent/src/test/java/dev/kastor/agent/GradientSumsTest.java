package dev.kastor.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.ring.Sums;
import dev.kastor.engine.program.SumsParameter;
import java.util.HashMap;
import org.junit.jupiter.api.Test;

class GradientSumsTest {
  @Test
  void theRingUnlessAskedFor() throws Exception {
    assertThat(GradientSums.maker(SumsParameter.take(new HashMap<>()))).isSameAs(Sums.Maker.RING);
  }
}
