package dev.kastor.operator;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.testkit.PackageCycles;
import org.junit.jupiter.api.Test;

class PackageCyclesTest {
  @Test
  void noPackagesNeedEachOther() {
    PackageCycles.check(OperatorConfig.class);
  }
}
