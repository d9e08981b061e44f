package dev.kastor.crds;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.testkit.PackageCycles;
import org.junit.jupiter.api.Test;

class PackageCyclesTest {
  @Test
  void noPackagesNeedEachOther() {
    PackageCycles.check(TrainingJob.class);
  }
}
