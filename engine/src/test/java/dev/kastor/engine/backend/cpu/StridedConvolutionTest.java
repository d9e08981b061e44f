package dev.kastor.engine.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Convolutions with 1x1 kernels and a stride, as in the shortcuts of residual networks. */
class StridedConvolutionTest {
  private static final CpuBackend CPU =
      ((CpuBackend.Availability.Available) CpuBackend.load(1)).backend();

  /**
   * Many times: a kernel that writes beyond its scratchpad ends the process (glibc finds the heap
   * corrupted) only where the scratchpad begins in the second half of 128 bytes.
   */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 6, 12, 16, 20})
  void anyNumberOfChannelsAgreesWithTheReference(int channels) {
    Node image = Node.input("image", Type.f32(2, 8, 8, channels));
    Node kernel = Node.input("kernel", Type.f32(1, 1, channels, 2 * channels));
    Node result = Node.of(new Primitive.Convolution(2, 0), image, kernel);
    Graph graph =
        Graph.of(
            result,
            Node.of(new Primitive.ConvolutionImage(2, 0, 8, 8), result, kernel),
            Node.of(new Primitive.ConvolutionKernel(2, 0, 1, 1), image, result));
    List<Node> inputs = List.of(image, kernel);
    List<float[]> expected = Runs.twice(new ReferenceBackend(), graph, inputs);
    for (int i = 0; i < 50; i++) {
      List<float[]> ours = Runs.twice(CPU, graph, inputs);
      for (int output = 0; output < expected.size(); output++) {
        assertThat(ours.get(output)).containsExactly(expected.get(output), within(1e-3f));
      }
    }
  }
}
