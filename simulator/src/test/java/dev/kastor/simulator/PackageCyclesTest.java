package dev.kastor.simulator;

import dev.kastor.simulator.run.Simulate;
import dev.kastor.testkit.PackageCycles;
import org.junit.jupiter.api.Test;

class PackageCyclesTest {
  @Test
  void noPackagesNeedEachOther() {
    PackageCycles.check(Simulate.class);
  }
}
