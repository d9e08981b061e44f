package dev.kastor.engine.program;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.cpu.CpuBackend;
import dev.kastor.engine.backend.cuda.CudaBackend;
import dev.kastor.engine.backend.cuda.Precision;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.devices.DeviceLayouts;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.train.DevicesPlugin;
import dev.kastor.engine.train.PassSettings;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Selection;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parameters {@code backend} and {@code precision}, the same in all programs.
 *
 * <p>The number of threads is the host's to choose, not the job's: it comes from {@code
 * KASTOR_THREADS} and is 1 where that is absent.
 */
final class BackendParameter {
  private static final Logger LOG = LoggerFactory.getLogger(BackendParameter.class);

  private static final List<String> NAMES = List.of("auto", "cpu", "cuda", "reference");

  private BackendParameter() {}

  /** Checks both without loading what they name. */
  static void check(Parameters parameters) throws ProgramException {
    String backend = parameters.text("backend");
    if (!NAMES.contains(backend)) {
      throw parameters.wrong("backend", "one of " + String.join(", ", NAMES));
    }
    if (precision(parameters) != Precision.FP32 && !backend.equals("cuda")) {
      throw ProgramException.of(
          "precision",
          "Parameter 'precision' is %s, which only backend cuda has, but 'backend' is '%s'."
              .formatted(parameters.text("precision"), backend));
    }
  }

  /**
   * A network with its first parameters, on the backend that is chosen.
   *
   * @throws ProgramException if there is no such backend, too few devices, or the network has too
   *     many parameters
   */
  static GraphModel model(Network network, Parameters parameters, PassSettings settings)
      throws ProgramException {
    check(parameters);
    Chosen<DevicesPlugin> layout =
        settings.devices().orElseGet(() -> DeviceLayouts.BUILT_IN.choose(Selection.parse("whole")));
    try {
      int devices = layout.plugin().devices(settings.slots());
      List<Backend> backends = new ArrayList<>();
      for (int device = 0; device < devices; device++) {
        backends.add(
            device == 0 || parameters.text("backend").equals("cuda")
                ? choose(parameters, device)
                : backends.getFirst());
      }
      GraphExecutor executor = layout.plugin().executor(backends, layout.options());
      return new GraphModel(network, executor, settings.rewrites(), parameters.seed());
    } catch (IllegalArgumentException e) {
      throw new ProgramException(String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * A backend.
   *
   * @param gpu number of the GPU, of those that the process may see: a pod sees its own
   */
  private static Backend choose(Parameters parameters, int gpu) throws ProgramException {
    return switch (parameters.text("backend")) {
      case "auto", "cpu" ->
          switch (CpuBackend.load(threads())) {
            case CpuBackend.Availability.Available available -> {
              LOG.info("backend cpu: oneDNN with {} thread(s)", threads());
              yield available.backend();
            }
            case CpuBackend.Availability.Absent absent ->
                // Nobody would notice that a job trains with plain loops instead, but for its time.
                throw new ProgramException(
                    absent.reason()
                        + " Mend that, or set the parameter 'backend' to reference: plain loops,"
                        + " some thirty times slower.");
          };
      case "cuda" ->
          switch (CudaBackend.load(gpu, precision(parameters))) {
            case CudaBackend.Availability.Available available -> {
              LOG.info("backend cuda: {}", available.backend().device());
              yield available.backend();
            }
            case CudaBackend.Availability.Absent absent ->
                throw new ProgramException(absent.reason() + " Use backend cpu instead.");
          };
      case "reference" -> new ReferenceBackend();
      default -> throw new IllegalStateException("checked above");
    };
  }

  private static Precision precision(Parameters parameters) throws ProgramException {
    return switch (parameters.text("precision")) {
      case "fp32" -> Precision.FP32;
      case "tf32" -> Precision.TF32;
      case "bf16" -> Precision.BF16;
      default -> throw parameters.wrong("precision", "one of fp32, tf32, bf16");
    };
  }

  private static int threads() throws ProgramException {
    String threads = System.getenv("KASTOR_THREADS");
    if (threads == null || threads.isEmpty()) {
      return 1;
    }
    try {
      int count = Integer.parseInt(threads);
      if (count >= 1) {
        return count;
      }
    } catch (NumberFormatException e) {
      // Answered below, like a number that is too small.
    }
    throw new ProgramException("KASTOR_THREADS must be a positive number but is " + threads);
  }
}
