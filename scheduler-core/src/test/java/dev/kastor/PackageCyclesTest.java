package dev.kastor;

import dev.kastor.scheduler.loop.SchedulingLoop;
import dev.kastor.testkit.PackageCycles;
import org.junit.jupiter.api.Test;

class PackageCyclesTest {
  @Test
  void noPackagesNeedEachOther() {
    PackageCycles.check(SchedulingLoop.class);
  }
}
