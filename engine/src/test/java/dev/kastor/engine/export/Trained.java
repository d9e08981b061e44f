package dev.kastor.engine.export;

import dev.kastor.engine.checkpoint.TrainedParameters;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.nn.Forward;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.train.Model;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Models with values for tests. */
final class Trained {
  private Trained() {}

  /** A network with random parameters, and statistics as after some training. */
  static TrainedModel random(Network network, long seed) throws ExportException {
    Forward forward = Forward.of(network, 1);
    SplittableRandom random = new SplittableRandom(seed);
    float[] parameters = new float[forward.layout().elements()];
    for (int i = 0; i < parameters.length; i++) {
      parameters[i] = (float) random.nextDouble(-0.5, 0.5);
    }
    float[] statistics = new float[forward.statisticsLayout().elements()];
    for (int i = 0; i < statistics.length; i++) {
      statistics[i] = (float) random.nextDouble(0.5, 1.5);
    }
    return of(new Model(network, new Inputs.Features(), List.of()), parameters, statistics);
  }

  static TrainedModel of(Model model, float[] parameters, float[] statistics)
      throws ExportException {
    return TrainedModel.of(
        model,
        new TrainedParameters(7, parameters, statistics),
        new TreeMap<>(Map.of("job", "default/tiny", "program", "tiny")));
  }

  static byte[] bytes(ExportFormat format, TrainedModel model) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    format.of(model).writeTo(out);
    return out.toByteArray();
  }
}
