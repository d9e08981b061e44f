package dev.kastor.agent.trainer;

/** The declared work of a job, each kind convertible to scale-invariant steps. */
public sealed interface Work {
  /**
   * The steps that training at the initial batch takes for it.
   *
   * @param initialBatch M0 in examples
   * @param trainingExamples examples of one epoch
   */
  double totalSteps(int initialBatch, int trainingExamples);

  /** Optimizer steps at the initial batch. */
  record Steps(long steps) implements Work {
    @Override
    public double totalSteps(int initialBatch, int trainingExamples) {
      return steps;
    }
  }

  /** Examples at the initial batch. */
  record Examples(long examples) implements Work {
    @Override
    public double totalSteps(int initialBatch, int trainingExamples) {
      return (double) examples / initialBatch;
    }
  }

  /** Passes over the training data at the initial batch. */
  record Epochs(long epochs) implements Work {
    @Override
    public double totalSteps(int initialBatch, int trainingExamples) {
      return (double) epochs * trainingExamples / initialBatch;
    }
  }
}
