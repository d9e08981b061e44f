package dev.kastor.engine;

import dev.kastor.engine.graph.Graph;
import dev.kastor.testkit.PackageCycles;
import org.junit.jupiter.api.Test;

class PackageCyclesTest {
  @Test
  void noPackagesNeedEachOther() {
    PackageCycles.check(Graph.class);
  }
}
