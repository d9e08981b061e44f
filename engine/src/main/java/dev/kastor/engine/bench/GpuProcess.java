package dev.kastor.engine.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.cuda.CudaBackend;
import dev.kastor.engine.backend.cuda.GpuCheck;
import dev.kastor.engine.backend.cuda.Nccl;
import dev.kastor.engine.backend.cuda.Precision;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.ConvNet;
import dev.kastor.engine.nn.DeviceUpdate;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.nn.Mlp;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.nn.RecurrentLanguageModel;
import dev.kastor.engine.nn.TransformerLanguageModel;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.optim.Adam;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.train.Update;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * The program that {@code kastor gpu check} starts: which GPUs there are, and for small networks
 * how far the gradients that each computes are from those of plain loops in double precision, and
 * the parameters that it updates from those that the host does.
 *
 * <p>Prints one document of JSON.
 */
public final class GpuProcess {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final double NANOS = 1e9;
  private static final long SEED = 1;
  private static final int EXAMPLES = 5;
  private static final int STEPS = 3;
  private static final double RATE = 0.01;

  /** Less than two neighbouring numbers differ. */
  private static final double SAME_BITS = 1e-9;

  private GpuProcess() {}

  /** Looks and tries, and ends. */
  public static void main(String[] arguments) {
    ObjectNode json = MAPPER.createObjectNode();
    ArrayNode devices = json.putArray("devices");
    switch (GpuCheck.look()) {
      case GpuCheck.Found.None none -> json.put("reason", none.reason());
      case GpuCheck.Found.Devices found -> {
        json.put("driver", found.driver());
        for (int i = 0; i < found.devices().size(); i++) {
          GpuCheck.Device device = found.devices().get(i);
          ObjectNode each = devices.addObject();
          each.put("name", device.name());
          each.put("capability", device.major() + "." + device.minor());
          each.put("memoryBytes", device.bytes());
          each.put("served", device.served());
          switch (CudaBackend.loadWithoutLibrary(i)) {
            case CudaBackend.Availability.Available _ -> {
              ArrayNode trials = each.putArray("trials");
              int number = i;
              ways(device).forEach(way -> tryOut(way, number, trials));
            }
            case CudaBackend.Availability.Absent absent -> each.put("reason", absent.reason());
          }
        }
      }
    }
    CudaBackend.library().ifPresent(library -> json.put("library", library));
    CudaBackend.convolutionLibrary().ifPresent(library -> json.put("convolutionLibrary", library));
    Nccl.library().ifPresent(library -> json.put("sumLibrary", library));
    System.out.println(json);
  }

  /**
   * How products and convolutions are computed.
   *
   * @param libraries which of NVIDIA's are used
   * @param tolerance how far gradients may be off, as a share of the largest: single precision sums
   *     in another order, the others round operands to 10 or 7 bits after the point
   */
  private record Way(String products, Precision precision, Libraries libraries, double tolerance) {
    CudaBackend.Availability open(int number) {
      return switch (libraries) {
        case NONE -> CudaBackend.loadWithoutLibrary(number);
        case PRODUCTS -> CudaBackend.loadWithProducts(number, precision);
        case CONVOLUTIONS -> CudaBackend.loadWithConvolutions(number);
        case ALL -> CudaBackend.loadWithLibrary(number, precision);
      };
    }
  }

  private enum Libraries {
    NONE,
    PRODUCTS,
    CONVOLUTIONS,
    ALL
  }

  private static List<Way> ways(GpuCheck.Device device) {
    List<Way> ways = new ArrayList<>();
    ways.add(new Way("own kernels, fp32", Precision.FP32, Libraries.NONE, 1e-4));
    boolean products = CudaBackend.library().isPresent();
    boolean convolutions = CudaBackend.convolutionLibrary().isPresent();
    if (products) {
      add(ways, device, "cuBLASLt", Libraries.PRODUCTS);
    }
    if (convolutions) {
      ways.add(new Way("cuDNN, fp32", Precision.FP32, Libraries.CONVOLUTIONS, 1e-4));
    }
    if (products && convolutions) {
      add(ways, device, "cuBLASLt and cuDNN", Libraries.ALL);
    }
    return ways;
  }

  private static void add(
      List<Way> ways, GpuCheck.Device device, String name, Libraries libraries) {
    ways.add(new Way(name + ", fp32", Precision.FP32, libraries, 1e-4));
    if (device.roundsOperands()) {
      ways.add(new Way(name + ", tf32", Precision.TF32, libraries, 1e-2));
      ways.add(new Way(name + ", bf16", Precision.BF16, libraries, 1e-1));
    }
  }

  private static void tryOut(Way way, int number, ArrayNode trials) {
    switch (way.open(number)) {
      case CudaBackend.Availability.Available available -> tryOut(way, available.backend(), trials);
      case CudaBackend.Availability.Absent absent ->
          trials
              .addObject()
              .put("network", "all")
              .put("products", way.products())
              .put("failure", absent.reason());
    }
  }

  private static void tryOut(Way way, Backend backend, ArrayNode trials) {
    networks()
        .forEach((name, network) ->
            tryOut(
                trials.addObject().put("network", name),
                way.products(),
                way.tolerance(),
                () -> gradient(network, backend),
                () -> gradient(network, new ReferenceBackend())));
    if (way.libraries() == Libraries.NONE) {
      tryOut(
          trials.addObject().put("network", "mlp, updated by adam"),
          way.products(),
          SAME_BITS,
          () -> trained(backend, true),
          () -> trained(backend, false));
    }
  }

  private static void tryOut(
      ObjectNode trial,
      String products,
      double tolerance,
      Supplier<float[]> computed,
      Supplier<float[]> wanted) {
    trial.put("products", products);
    trial.put("tolerance", tolerance);
    try {
      long start = System.nanoTime();
      float[] values = computed.get();
      trial.put("seconds", (System.nanoTime() - start) / NANOS);
      trial.put("error", distance(values, wanted.get()));
    } catch (RuntimeException e) {
      trial.put("failure", e.getMessage());
    }
  }

  private static SequencedMap<String, Network> networks() {
    SequencedMap<String, Network> networks = new LinkedHashMap<>();
    networks.put("mlp", new Mlp(20, List.of(17, 9), 5));
    networks.put("cnn", new ConvNet(2, 8, 8, 4, List.of(6, 16)));
    networks.put("transformer", TransformerLanguageModel.ofBytes(12, 16, 4, 2));
    networks.put("lstm", new RecurrentLanguageModel(7, 20, 6, 16, Recurrent.Cell.LSTM));
    return networks;
  }

  private static Batch batch(Network network) {
    SplittableRandom random = new SplittableRandom(SEED);
    float[] features = new float[EXAMPLES * network.example().shape().elements()];
    for (int i = 0; i < features.length; i++) {
      features[i] =
          network.example().dtype() == DType.I32
              ? random.nextInt(network.classes())
              : (float) random.nextDouble(-1, 1);
    }
    int[] targets = new int[EXAMPLES * network.positions()];
    for (int i = 0; i < targets.length; i++) {
      targets[i] = random.nextInt(network.classes());
    }
    return new Batch(EXAMPLES, features, targets);
  }

  private static float[] gradient(Network network, Backend backend) {
    try (GraphModel model = new GraphModel(network, backend, SEED)) {
      float[] gradient = new float[model.parameters().length];
      model.pass(batch(network), gradient, new float[model.statistics().length]);
      return gradient;
    }
  }

  /** Parameters after steps whose update is the device's or, from its gradients, the host's. */
  private static float[] trained(Backend backend, boolean onDevice) {
    Network network = networks().firstEntry().getValue();
    Adam adam = new Adam(0.9, 0.999, 1e-8, 0.01);
    try (GraphModel model = new GraphModel(network, backend, SEED)) {
      SequencedMap<String, float[]> slots = adam.newSlots(model.layout());
      Optional<DeviceUpdate> update = onDevice ? model.onDevice(adam, slots) : Optional.empty();
      float[] gradient = new float[model.parameters().length];
      float[] statistics = new float[model.statistics().length];
      for (int step = 0; step < STEPS; step++) {
        if (update.isPresent()) {
          update.get().pass(batch(network), statistics, 0, 1);
          update.get().apply(RATE, step);
        } else {
          model.pass(batch(network), gradient, statistics);
          adam.apply(new Update(model.layout(), model.parameters(), gradient, slots, RATE, step));
        }
      }
      return model.readParameters();
    }
  }

  /** The largest difference, as a share of the largest element; not a number if one is none. */
  private static double distance(float[] gradient, float[] wanted) {
    double largest = 0;
    double distance = 0;
    for (int i = 0; i < wanted.length; i++) {
      largest = Math.max(largest, Math.abs(wanted[i]));
      distance = Math.max(distance, Math.abs(gradient[i] - wanted[i]));
    }
    return distance / largest;
  }
}
