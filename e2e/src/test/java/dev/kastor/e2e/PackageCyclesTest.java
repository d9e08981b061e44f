package dev.kastor.e2e;

import dev.kastor.e2e.suite.Suite;
import dev.kastor.testkit.PackageCycles;
import org.junit.jupiter.api.Test;

class PackageCyclesTest {
  @Test
  void noPackagesNeedEachOther() {
    PackageCycles.check(Suite.class);
  }
}
