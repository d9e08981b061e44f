package dev.kastor.testkit;

import org.junit.jupiter.api.Test;

class PackageCyclesTest {
  @Test
  void noPackagesNeedEachOther() {
    PackageCycles.check(PackageCycles.class);
  }
}
