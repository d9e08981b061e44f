package dev.kastor.cli;

import dev.kastor.testkit.PackageCycles;
import org.junit.jupiter.api.Test;

class PackageCyclesTest {
  @Test
  void noPackagesNeedEachOther() {
    PackageCycles.check(Kastor.class);
  }
}
