package dev.kastor.engine.nn;

import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.tensor.DType;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Prints a digest of the parameters after a few steps of each network. */
final class ProcessBits {
  private ProcessBits() {}

  public static void main(String[] arguments) {
    System.out.println(digest());
  }

  static String digest() {
    StringBuilder digests = new StringBuilder();
    for (Network network :
        List.of(
            new Mlp(64, List.of(33), 10),
            new ConvNet(1, 16, 16, 10, List.of(16, 32)),
            TransformerLanguageModel.ofBytes(16, 32, 2, 1))) {
      digests.append(Integer.toHexString(train(network))).append(' ');
    }
    return digests.toString().strip();
  }

  private static int train(Network network) {
    SplittableRandom random = new SplittableRandom(4);
    try (GraphModel model = new GraphModel(network, Backends.fastest(1).backend(), 3)) {
      float[] gradient = new float[model.parameters().length];
      float[] statistics = new float[model.statistics().length];
      for (int step = 0; step < 20; step++) {
        model.pass(batch(network, random), gradient, statistics);
        for (int i = 0; i < gradient.length; i++) {
          model.parameters()[i] -= 0.05f * gradient[i];
        }
        model.applyStatistics(statistics);
      }
      return 31 * Arrays.hashCode(model.parameters()) + Arrays.hashCode(model.statistics());
    }
  }

  private static Batch batch(Network network, SplittableRandom random) {
    float[] features = new float[8 * network.example().shape().elements()];
    boolean tokens = network.example().dtype() == DType.I32;
    for (int i = 0; i < features.length; i++) {
      features[i] = tokens ? random.nextInt(256) : (float) random.nextDouble();
    }
    int[] targets = random.ints(8L * network.positions(), 0, network.classes()).toArray();
    return new Batch(8, features, targets);
  }
}
