package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.cuda.InterpretedGpu;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.pass.PassPipeline;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.optim.Adam;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class SentenceClassifierTest {
  private static final String[] SENTENCES = {"a", "to be", "or not", "", "that is the question"};

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Passed(double loss, float[] gradient) {}

  private static SentenceClassifier network(int context, Recurrent.Cell cell) {
    return new SentenceClassifier(context, 5, 4, cell, 3, true);
  }

  private static Batch batch(int context) {
    float[] tokens = new float[SENTENCES.length * context];
    int[] targets = new int[SENTENCES.length];
    for (int i = 0; i < SENTENCES.length; i++) {
      for (int j = 0; j < Math.min(context, SENTENCES[i].length()); j++) {
        tokens[i * context + j] = SENTENCES[i].charAt(j) + 1;
      }
      targets[i] = i % 3;
    }
    return new Batch(SENTENCES.length, tokens, targets);
  }

  private static Passed pass(Network network, Backend backend, Batch batch) {
    try (GraphModel model = new GraphModel(network, backend, 3)) {
      float[] gradient = new float[model.layout().elements()];
      double loss = model.pass(batch, gradient, new float[0]);
      Scores scores = model.score(batch);
      assertThat(scores.meanLoss()).isCloseTo(loss, within(1e-5));
      return new Passed(loss, gradient);
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void aLoopComputesWhatAStepForEachPositionDoes(Recurrent.Cell cell) {
    SentenceClassifier network = network(20, cell);
    for (Backend backend : List.of(new ReferenceBackend(), Backends.fastest(1).backend())) {
      Passed loop = pass(network, backend, batch(20));
      Passed steps = pass(network.withoutControlFlow(), backend, batch(20));
      assertThat(loop.loss).isCloseTo(steps.loss, within(1e-5));
      assertThat(loop.gradient).containsExactly(steps.gradient, within(1e-5f));
    }
  }

  @Tag("slow")
  @Test
  void whatFollowsTheEndOfASentenceChangesNoBit() {
    Backend backend = Backends.fastest(1).backend();
    Passed narrow = pass(network(20, Recurrent.Cell.LSTM), backend, batch(20));
    Passed wide = pass(network(60, Recurrent.Cell.LSTM), backend, batch(60));
    assertThat(wide.loss).isEqualTo(narrow.loss);
    assertThat(wide.gradient).isEqualTo(narrow.gradient);
  }

  @Test
  void theGradientOfTheLastLayerIsThereBeforeTheLoopRunsBackward() {
    try (GraphModel model =
        new GraphModel(network(20, Recurrent.Cell.LSTM), Backends.fastest(1).backend(), 3)) {
      List<Integer> ready = new ArrayList<>();
      float[] gradient = new float[model.layout().elements()];
      int embedding = model.layout().entries().getFirst().end();
      float[] early = new float[1];
      model.pass(
          batch(20),
          gradient,
          new float[0],
          from -> {
            if (ready.isEmpty()) {
              early[0] = gradient[gradient.length - 1];
              assertThat(gradient).startsWith(new float[embedding]);
            }
            ready.add(from);
          });
      assertThat(early[0]).isNotZero().isEqualTo(gradient[gradient.length - 1]);
      assertThat(ready).hasSizeGreaterThan(1).endsWith(0).isSortedAccordingTo((a, b) -> b - a);
    }
  }

  @Tag("slow")
  @Test
  void warmingUpCompilesTheLoop() {
    Session session = new Session(Backends.fastest(1).backend(), Long.MAX_VALUE, 1);
    try (GraphModel model =
        new GraphModel(network(20, Recurrent.Cell.LSTM), session, PassPipeline.USUAL, 3)) {
      Batch batch = batch(20);
      model.warmUp(batch.examples());
      long compiled = session.memory().compiledBytes();
      model.pass(batch, new float[model.layout().elements()], new float[0]);
      assertThat(session.memory().compiledBytes()).isEqualTo(compiled);
    }
  }

  @Tag("slow")
  @Test
  void onADeviceWithMemoryOfItsOwnTheHostHasTheParameters() {
    SentenceClassifier network = network(3, Recurrent.Cell.GRU);
    Passed expected = pass(network, new ReferenceBackend(), batch(3));
    try (GraphModel model = new GraphModel(network, InterpretedGpu.backend(), 3)) {
      Adam adam = new Adam(0.9, 0.999, 1e-8, 0);
      assertThat(model.onDevice(adam.elementwise().orElseThrow(), adam.newSlots(model.layout())))
          .isEmpty();
      float[] gradient = new float[model.layout().elements()];
      assertThat(model.pass(batch(3), gradient, new float[0]))
          .isCloseTo(expected.loss, within(1e-5));
      assertThat(gradient).containsExactly(expected.gradient, within(1e-5f));
    }
  }
}
