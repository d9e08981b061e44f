package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** JCuda's real binding against a driver that is ours: the calls that we make, and their order. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class JcudaGpuIT {
  private FakeDriver driver;

  @BeforeAll
  void install(@TempDir Path folder) throws Exception {
    assumeThat(Path.of("/proc/driver/nvidia")).as("a driver of NVIDIA's").doesNotExist();
    driver = FakeDriver.install(folder);
  }

  private static JcudaGpu open(@Nullable NativeLibrary products, Precision precision) {
    return open(products, null, precision);
  }

  private static JcudaGpu open(
      @Nullable NativeLibrary products, @Nullable NativeLibrary convolutions, Precision precision) {
    return JcudaGpu.open(0, "gpu", products, convolutions, precision, Long.MAX_VALUE);
  }

  @Test
  void tellsWhatThereIs() {
    assertThat(GpuCheck.look())
        .isEqualTo(
            new GpuCheck.Found.Devices(
                "12.6", List.of(new GpuCheck.Device("Interpreted GPU", 9, 0, FakeDriver.BYTES))));
    assertThat(CudaBackend.load(1))
        .isEqualTo(new CudaBackend.Availability.Absent("There is no GPU 1, only 1."));
  }

  @Test
  void noDeviceIsNoError() {
    driver.devices = 0;
    try {
      assertThat(CudaBackend.load(0))
          .isInstanceOfSatisfying(
              CudaBackend.Availability.Absent.class,
              absent -> assertThat(absent.reason()).contains("no GPU that this process may use"));
    } finally {
      driver.devices = 1;
    }
  }

  @Test
  void computesOnAnyThreadAndLeavesNothing() throws Exception {
    JcudaGpu gpu = open(null, Precision.FP32);
    Node x = Node.input("x", Type.f32(3, 4));
    Node w = Node.parameter("w", Type.f32(4, 2).shape());
    Graph graph = Graph.of(x.matMul(w).sigmoid().sum(0, 1));
    long streams = driver.streams();
    try (Executable executable = new CudaBackend(gpu).compile(graph)) {
      assertThat(driver.streams()).isEqualTo(streams);
      int launches = driver.called.getOrDefault("launch", 0);
      float[] values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
      executable.input(x).write(values, 0);
      executable.input(w).write(new float[] {.1f, .2f, .3f, -.1f, 0, .1f, -.1f, .2f}, 0);
      executable.run();
      float[] first = executable.output(0).floats();
      assertThat(first[0]).isCloseTo(expected(values, 0), within(1e-5f));
      assertThat(first[1]).isCloseTo(expected(values, 1), within(1e-5f));
      values[0] = 5;
      executable.input(x).write(values, 0);
      var seen = new CompletableFuture<float[]>();
      Thread.ofPlatform()
          .start(() -> {
            executable.run();
            seen.complete(executable.output(0).floats());
          });
      assertThat(seen.get()[0]).isCloseTo(expected(values, 0), within(1e-5f));
      // Captured once: no kernel is launched by itself again.
      assertThat(driver.called.get("launch")).isEqualTo(launches);
    }
    assertThat(gpu.memory().heldBytes()).isZero();
    gpu.memory().trim();
    assertThat(driver.memory).isEmpty();
    // Functions belong to their module, and so to nobody.
    assertThat(driver.handles.values().stream().filter(FakeDriver::outlives)).isEmpty();
  }

  @Test
  void productsAreTheLibrarysWhereThereIsOne() {
    FakeCublasLt library = new FakeCublasLt(driver);
    Precision[] precisions = Precision.values();
    int[] computeTypes = {68, 77, 75};
    for (int i = 0; i < precisions.length; i++) {
      JcudaGpu gpu = open(library.library(), precisions[i]);
      assertThat(gpu.name())
          .isEqualTo(
              "gpu, products in %s by cuBLASLt 12.8 (libcublasLt.so.12)".formatted(precisions[i]));
      for (Node product : products()) {
        Graph graph = Graph.of(product.tanh());
        int launches = driver.called.getOrDefault("launch", 0);
        long held = gpu.memory().heldBytes();
        float[] expected = CudaKernelsTest.run(new ReferenceBackend(), graph);
        float[] actual = CudaKernelsTest.run(new CudaBackend(gpu), graph);
        assertThat(actual).as("%s", product).containsExactly(expected, within(1e-5f));
        assertThat(driver.called.get("launch")).as("tanh alone").isEqualTo(launches + 1);
        assertThat(gpu.memory().heldBytes()).as("the workspace").isEqualTo(held);
      }
      assertThat(library.computeType).isEqualTo(computeTypes[i]);
      assertThat(library.alive()).isZero();
      gpu.memory().trim();
    }
    // The workspaces of the three, which live as long as their GPU.
    assertThat(driver.memory).hasSize(precisions.length);
    freeAll();
  }

  /** Of all ways in which matrices lie, alone and many at once; and a kernel of one pixel. */
  private static List<Node> products() {
    Node image = Node.input("image", Type.f32(2, 3, 4, 5));
    Node kernel = Node.parameter("kernel", Type.f32(1, 1, 5, 6).shape());
    Node result = Node.input("result", Type.f32(2, 3, 4, 6));
    return List.of(
        Node.input("a", Type.f32(3, 4)).matMul(Node.input("b", Type.f32(4, 5))),
        Node.input("a", Type.f32(4, 3)).matMul(Node.input("b", Type.f32(4, 5)), true, false),
        Node.input("a", Type.f32(2, 3, 4)).matMul(Node.input("b", Type.f32(2, 5, 4)), false, true),
        Node.input("a", Type.f32(2, 4, 3)).matMul(Node.input("b", Type.f32(2, 5, 4)), true, true),
        image.convolve(kernel, 1, 0),
        Node.of(new Primitive.ConvolutionImage(1, 0, 3, 4), result, kernel),
        Node.of(new Primitive.ConvolutionKernel(1, 0, 1, 1), image, result));
  }

  @Test
  void aProductThatTheLibraryRefusesLeavesNothing() {
    FakeCublasLt library = new FakeCublasLt(driver);
    library.hasAlgorithms = false;
    JcudaGpu gpu = open(library.library(), Precision.TF32);
    assertThatIllegalStateException()
        .isThrownBy(() -> new CudaBackend(gpu).compile(Graph.of(products().getFirst())))
        .withMessageContaining("cublasLtMatmulAlgoGetHeuristic for Gemm")
        .withMessageContaining("cublasStatus_t 15");
    assertThat(library.alive()).isZero();
    gpu.memory().trim();
    assertThat(driver.memory).as("the workspace").hasSize(1);
    driver.free(driver.memory.firstKey());
  }

  @Test
  void aLibraryThatDoesNotOpenLeavesNothing() {
    NativeLibrary none = new NativeLibrary("libcublasLt.so.12", _ -> Optional.empty());
    assertThatIllegalStateException()
        .isThrownBy(() -> open(none, Precision.FP32))
        .withMessage("cublasLtGetVersion is missing.");
    assertThat(driver.memory).isEmpty();
  }

  @Test
  void convolutionsAreTheLibrarysWhereThereIsOne() {
    FakeCudnn library = new FakeCudnn(driver);
    Precision[] precisions = Precision.values();
    int[] mathTypes = {3, 1, 1};
    for (int i = 0; i < precisions.length; i++) {
      JcudaGpu gpu = open(null, library.library(), precisions[i]);
      assertThat(gpu.name())
          .isEqualTo(
              "gpu, products by kernels of its own, convolutions by cuDNN 9.1.5 (libcudnn.so.9)");
      int handles = library.alive();
      for (Node convolution : convolutions()) {
        Graph graph = Graph.of(convolution.tanh());
        int computed = library.computed;
        long held = gpu.memory().heldBytes();
        float[] expected = CudaKernelsTest.run(new ReferenceBackend(), graph);
        float[] actual = CudaKernelsTest.run(new CudaBackend(gpu), graph);
        assertThat(actual).as("%s", convolution).containsExactly(expected, within(1e-5f));
        // Once by itself, and once captured.
        assertThat(library.computed).isEqualTo(computed + 2);
        assertThat(library.mathType).isEqualTo(mathTypes[i]);
        assertThat(gpu.memory().heldBytes()).as("the workspace").isEqualTo(held);
      }
      assertThat(library.alive()).isEqualTo(handles);
    }
    freeAll();
  }

  /** Forward and both gradients, with windows that leave a rest, and more than one example. */
  private static List<Node> convolutions() {
    Node image = Node.input("image", Type.f32(2, 6, 5, 3));
    Node kernel = Node.parameter("kernel", Type.f32(3, 2, 3, 4).shape());
    Node result = Node.input("result", Type.f32(2, 3, 3, 4));
    return List.of(
        image.convolve(kernel, 2, 1),
        Node.of(new Primitive.ConvolutionImage(2, 1, 6, 5), result, kernel),
        Node.of(new Primitive.ConvolutionKernel(2, 1, 3, 2), image, result));
  }

  @Test
  void bothLibrariesShareMemory() {
    FakeCudnn convolutions = new FakeCudnn(driver);
    JcudaGpu gpu = open(new FakeCublasLt(driver).library(), convolutions.library(), Precision.FP32);
    assertThat(driver.memory).as("the workspace").hasSize(1);
    Node rows = convolutions().getFirst().reshape(18, 4);
    Graph graph = Graph.of(rows.matMul(Node.parameter("w", Type.f32(4, 5).shape())));
    assertThat(CudaKernelsTest.run(new CudaBackend(gpu), graph))
        .containsExactly(CudaKernelsTest.run(new ReferenceBackend(), graph), within(1e-4f));
    assertThat(convolutions.computed).isEqualTo(2);
    freeAll();
  }

  @Test
  void aConvolutionWithoutAnAlgorithmIsOurs() {
    FakeCudnn library = new FakeCudnn(driver);
    JcudaGpu gpu = open(null, library.library(), Precision.FP32);
    int handles = library.alive();
    for (boolean has : new boolean[] {false, true}) {
      library.hasAlgorithms = has;
      library.deterministic = false;
      for (Node convolution : convolutions()) {
        Graph graph = Graph.of(convolution);
        assertThat(CudaKernelsTest.run(new CudaBackend(gpu), graph))
            .containsExactly(CudaKernelsTest.run(new ReferenceBackend(), graph), within(1e-5f));
      }
    }
    assertThat(library.computed).isZero();
    assertThat(library.alive()).isEqualTo(handles);
    freeAll();
  }

  @Test
  void aLibraryOfConvolutionsThatRefusesIsDoneWithout() {
    FakeCudnn old = new FakeCudnn(driver);
    old.version = 8907;
    FakeCudnn lacking = new FakeCudnn(driver);
    lacking.missing = "cudnnConvolutionBackwardData";
    for (FakeCudnn library : List.of(old, lacking)) {
      JcudaGpu gpu = open(null, library.library(), Precision.FP32);
      assertThat(gpu.name()).isEqualTo("gpu, products by kernels of its own");
      assertThat(library.alive()).isZero();
    }
    assertThat(driver.memory).isEmpty();
    assertThatIllegalStateException()
        .isThrownBy(() -> Cudnn.open(old.library()))
        .withMessage("libcudnn.so.9 is cuDNN 8.9.7, and 9.0 is needed.");
    assertThat(Cudnn.describe(old.library())).isEqualTo("cuDNN 8.9.7 (libcudnn.so.9)");
    assertThat(Cudnn.describe(lacking.library())).contains("of no use", "is missing");
    assertThatIllegalStateException()
        .isThrownBy(() -> Cudnn.open(lacking.library()))
        .withMessage("cudnnConvolutionBackwardData is missing.");
  }

  /** The workspaces of GPUs, which live as long as those. */
  private void freeAll() {
    List.copyOf(driver.memory.keySet()).forEach(driver::free);
  }

  @Test
  void reducedPrecisionNeedsTheLibrary() {
    assumeThat(CublasLt.find()).as("a library of NVIDIA's").isNull();
    assertThat(CudaBackend.load(0, Precision.BF16))
        .isInstanceOfSatisfying(
            CudaBackend.Availability.Absent.class,
            absent ->
                assertThat(absent.reason())
                    .contains("BF16 need cuBLASLt")
                    .contains("KASTOR_CUDA_LIBRARIES"));
  }

  private static float expected(float[] x, int column) {
    float[][] w = {{.1f, .2f}, {.3f, -.1f}, {0, .1f}, {-.1f, .2f}};
    float sum = 0;
    for (int row = 0; row < 3; row++) {
      float product = 0;
      for (int i = 0; i < 4; i++) {
        product += x[row * 4 + i] * w[i][column];
      }
      sum += (float) (1 / (1 + Math.exp(-product)));
    }
    return sum;
  }

  @Test
  void whatDoesNotFitIsRefusedWithSizes() {
    Node x = Node.input("x", Type.f32(600_000));
    Graph graph = Graph.of(x.exp());
    JcudaGpu gpu = open(null, Precision.FP32);
    assertThatExceptionOfType(OutOfGpuMemoryException.class)
        .isThrownBy(() -> new CudaBackend(gpu).compile(graph))
        .withMessageStartingWith(
            "A graph does not fit: 4800000 bytes of GPU memory are needed, and 1048576 of 1048576 are"
                + " free. Its largest value is ")
        .withMessageContaining("600000")
        .withMessageEndingWith(" with 2400000 bytes.");
    assertThat(driver.memory).isEmpty();
  }

  @Test
  void whatExceedsTheCapIsRefusedAndTheRestGoesOn() {
    JcudaGpu gpu = JcudaGpu.open(0, "gpu", null, null, Precision.FP32, 4096);
    CudaBackend backend = new CudaBackend(gpu);
    Node x = Node.input("x", Type.f32(600));
    assertThatExceptionOfType(OutOfGpuMemoryException.class)
        .isThrownBy(() -> backend.compile(Graph.of(x.exp())))
        .withMessageContaining("0 of the cap of 4096 are in use");
    Node y = Node.input("y", Type.f32(4));
    try (Executable executable = backend.compile(Graph.of(y.exp()))) {
      executable.run();
      assertThat(executable.output(0).floats()).containsOnly(1);
    }
    gpu.memory().trim();
    assertThat(driver.memory).isEmpty();
  }

  /** The driver of the tests does nothing before it is waited for: what is read must have been. */
  @Test
  void outputsAreCopiedPieceByPieceOnAStreamOfTheirOwn() {
    JcudaGpu gpu = open(null, Precision.FP32);
    Node x = Node.input("x", Type.f32(3));
    Node first = x.exp();
    Node second = first.sum(0, 1);
    Node third = second.multiply(second);
    Graph graph = new Graph(List.of(third, first, second, x)).lower(_ -> false);
    Compilation compilation = new Compilation(graph, false, _ -> false);
    try (var arena = Arena.ofShared();
        Executable executable =
            new CudaExecutable(gpu, compilation, Residents.none(graph), arena, 1)) {
      for (float start : new float[] {0, 1}) {
        executable.input(x).write(new float[] {start, 0, 0}, 0);
        List<Integer> order = new ArrayList<>();
        List<Float> then = new ArrayList<>();
        int launches = driver.called.getOrDefault("graphLaunch", 0);
        executable.run(output -> {
          order.add(output);
          then.add(executable.output(output).floats()[0]);
        });
        assertThat(driver.called.getOrDefault("graphLaunch", 0) - launches)
            .as("pieces")
            .isEqualTo(3);
        assertThat(order).containsExactly(3, 1, 2, 0);
        float sum = (float) Math.exp(start) + 2;
        float[] expected = {start, (float) Math.exp(start), sum, sum * sum};
        for (int i = 0; i < expected.length; i++) {
          assertThat(then.get(i)).isCloseTo(expected[i], within(1e-4f));
        }
      }
    }
    gpu.memory().trim();
    assertThat(driver.memory).isEmpty();
    assertThat(driver.handles.values().stream().filter(FakeDriver::outlives)).isEmpty();
  }

  @Test
  void refusedKernelsAreToldWithTheCall() {
    JcudaGpu gpu = open(null, Precision.FP32);
    assertThatIllegalStateException()
        .isThrownBy(() -> gpu.load("no ptx"))
        .withMessageContaining("CUDA_ERROR_INVALID_PTX");
  }

  @Test
  void segmentsOfTensorsAreCopiedAsTheyLie() {
    JcudaGpu gpu = open(null, Precision.FP32);
    try (var arena = Arena.ofShared()) {
      Tensor whole =
          Tensor.allocate(arena, Type.f32(6).shape(), dev.kastor.engine.tensor.DType.F32);
      whole.write(new float[] {1, 2, 3, 4, 5, 6}, 0);
      long address = gpu.allocate(12);
      gpu.copyIn(address, whole.segment().asSlice(8, 12));
      try (Gpu.Event copied = gpu.event()) {
        copied.record();
        gpu.copyOut(whole.segment().asSlice(0, 12), address, copied);
        gpu.awaitCopies();
      }
      gpu.free(address);
      gpu.memory().trim();
      assertThat(whole.floats()).containsExactly(3, 4, 5, 4, 5, 6);
    }
  }
}
