package dev.kastor.local;

import dev.kastor.testkit.PackageCycles;
import org.junit.jupiter.api.Test;

class PackageCyclesTest {
  @Test
  void noPackagesNeedEachOther() {
    PackageCycles.check(LocalCluster.class);
  }
}
