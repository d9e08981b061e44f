package dev.kastor.agent.trainer;

import java.util.function.DoubleUnaryOperator;

/** The declared work of a job, each kind convertible to scale-invariant steps. */
public sealed interface Work {
  /**
   * The steps that training at the initial batch takes for it.
   *
   * @param initialBatch M0 in examples
   * @param trainingExamples examples of one epoch
   * @param trained how many examples are trained while so many are judged
   */
  double totalSteps(int initialBatch, int trainingExamples, DoubleUnaryOperator trained);

  /** Optimizer steps at the initial batch. */
  record Steps(long steps) implements Work {
    @Override
    public double totalSteps(int initialBatch, int trainingExamples, DoubleUnaryOperator trained) {
      return steps;
    }
  }

  /** Examples at the initial batch. */
  record Examples(long examples) implements Work {
    @Override
    public double totalSteps(int initialBatch, int trainingExamples, DoubleUnaryOperator trained) {
      return (double) examples / initialBatch;
    }
  }

  /** Passes over the training data at the initial batch, be its examples trained or judged. */
  record Epochs(long epochs) implements Work {
    @Override
    public double totalSteps(int initialBatch, int trainingExamples, DoubleUnaryOperator trained) {
      return trained.applyAsDouble((double) epochs * trainingExamples) / initialBatch;
    }
  }
}
