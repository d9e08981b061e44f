package dev.kastor.engine.program;

import dev.kastor.engine.optim.Optimizers;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.ProgramException;

/** The parameters that choose an optimizer, the same in all programs. */
final class OptimizerParameters {
  private OptimizerParameters() {}

  static Optimizer create(Parameters parameters) throws ProgramException {
    double momentum = parameters.decimal("momentum", 0, 0.9999);
    double weightDecay = parameters.decimal("weightDecay", 0, 0.9999);
    try {
      return Optimizers.create(parameters.text("optimizer"), momentum, weightDecay);
    } catch (IllegalArgumentException e) {
      throw new ProgramException("Parameter 'optimizer': " + e.getMessage(), e);
    }
  }
}
