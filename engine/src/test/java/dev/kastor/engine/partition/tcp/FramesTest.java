package dev.kastor.engine.partition.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.partition.Rendezvous;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FramesTest {
  private static final Rendezvous.Key KEY = new Rendezvous.Key("run 1", "value 2/3");

  private final Arena arena = Arena.ofShared();
  private final Memory memory = new Memory(1 << 20);
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);

  @AfterEach
  void close() {
    memory.close();
    arena.close();
  }

  private DataInputStream in() {
    return new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
  }

  private Tensor tensor(Shape shape, DType type) {
    Tensor tensor = Tensor.allocate(arena, shape, type);
    SplittableRandom random = new SplittableRandom(shape.elements());
    byte[] content = new byte[4 * shape.elements()];
    random.nextBytes(content);
    MemorySegment.copy(MemorySegment.ofArray(content), 0, tensor.segment(), 0, content.length);
    return tensor;
  }

  private static byte[] content(Tensor tensor) {
    long length = 4L * tensor.shape().elements();
    return tensor.segment().asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  private Frames.Frame.Arrival arrival(DataInputStream in) throws IOException {
    if (Frames.read(in, name -> name.equals("cpu:0") ? memory : null)
        instanceof Frames.Frame.Arrival arrival) {
      return arrival;
    }
    throw new AssertionError("a value did not arrive");
  }

  @Test
  void anyValueArrivesAsItWas() throws IOException {
    for (Shape shape : new Shape[] {Shape.of(), Shape.of(7), Shape.of(2, 3), Shape.of(300, 70)}) {
      for (DType type : DType.values()) {
        bytes.reset();
        Tensor sent = tensor(shape, type);
        assertThat(Frames.value(out, KEY, "cpu:0", sent)).isEqualTo(4L * shape.elements());
        Frames.Frame.Arrival arrival = arrival(in());
        assertThat(arrival.key()).isEqualTo(KEY);
        assertThat(arrival.device()).isEqualTo("cpu:0");
        assertThat(arrival.value().tensor().shape()).isEqualTo(shape);
        assertThat(arrival.value().tensor().dtype()).isEqualTo(type);
        assertThat(content(arrival.value().tensor())).isEqualTo(content(sent));
        arrival.value().release();
      }
    }
    assertThat(memory.usedBytes()).isZero();
  }

  @Test
  void rowsOfZerosDoNotTravel() throws IOException {
    int rows = 1000;
    int width = 8;
    Tensor sent = tensor(Shape.of(rows, width), DType.F32);
    byte[] zeros = new byte[4 * width];
    for (int row = 0; row < rows; row++) {
      if (row % 10 != 3) {
        MemorySegment.copy(
            MemorySegment.ofArray(zeros), 0, sent.segment(), (long) row * 4 * width, 4L * width);
      }
    }
    assertThat(Frames.value(out, KEY, "cpu:0", sent)).isEqualTo(rows / 8 + rows / 10 * 4 * width);
    Frames.Frame.Arrival arrival = arrival(in());
    assertThat(content(arrival.value().tensor())).isEqualTo(content(sent));
  }

  @Test
  void aNegativeZeroIsNoZero() throws IOException {
    Tensor sent = Tensor.allocate(arena, Shape.of(4, 2), DType.F32);
    sent.write(new float[] {0, -0f, 0, 0, 0, 0, 0, 0}, 0);
    var _ = Frames.value(out, KEY, "cpu:0", sent);
    assertThat(content(arrival(in()).value().tensor())).isEqualTo(content(sent));
  }

  @Test
  void whatThereIsNoRoomForFailsItsRunAndTheNextArrives() throws IOException {
    Tensor large = tensor(Shape.of(600, 1000), DType.F32);
    Tensor mostlyZeros = Tensor.allocate(arena, Shape.of(600, 1000), DType.F32);
    mostlyZeros.segment().setAtIndex(ValueLayout.JAVA_FLOAT, 5000, 1);
    for (Tensor tooMuch : new Tensor[] {large, mostlyZeros}) {
      var _ = Frames.value(out, KEY, "cpu:0", tooMuch);
    }
    Tensor small = tensor(Shape.of(3), DType.F32);
    var _ = Frames.value(out, KEY, "cpu:0", small);
    DataInputStream in = in();
    for (int i = 0; i < 2; i++) {
      assertThat(Frames.read(in, _ -> memory))
          .isInstanceOfSatisfying(
              Frames.Frame.Failure.class,
              failure -> {
                assertThat(failure.run()).isEqualTo("run 1");
                assertThat(failure.why()).contains("value 2/3").contains("1,048,576");
              });
    }
    assertThat(content(arrival(in).value().tensor())).isEqualTo(content(small));
    assertThat(Frames.read(in, _ -> memory)).as("the end").isNull();
  }

  @Test
  void aFailureIsCutToALengthThatFits() throws IOException {
    Frames.failure(out, "run 9", "x".repeat(100_000));
    assertThat(Frames.read(in(), _ -> memory))
        .isEqualTo(new Frames.Frame.Failure("run 9", "x".repeat(4000)));
  }

  @Test
  void everyTruncationAndWrongHeaderIsRefused() throws IOException {
    var _ = Frames.value(out, KEY, "cpu:0", tensor(Shape.of(2, 3), DType.F32));
    byte[] whole = bytes.toByteArray();
    for (int length = 1; length < whole.length; length++) {
      byte[] part = Arrays.copyOf(whole, length);
      assertThatThrownBy(
              () -> Frames.read(new DataInputStream(new ByteArrayInputStream(part)), _ -> memory))
          .as("the first %d bytes", length)
          .isInstanceOf(IOException.class);
    }
    assertThatThrownBy(() -> Frames.read(in(), _ -> null)).hasMessageContaining("'cpu:0'");
    int header = 1 + 2 + 5 + 2 + 9 + 2 + 5;
    byte[] dtype = whole.clone();
    dtype[header] = 9;
    byte[] axes = whole.clone();
    axes[header + 1] = 99;
    byte[] extent = whole.clone();
    extent[header + 2] = -1;
    for (byte[] wrong : new byte[][] {dtype, axes, extent}) {
      assertThatThrownBy(
              () -> Frames.read(new DataInputStream(new ByteArrayInputStream(wrong)), _ -> memory))
          .hasMessageContaining("a value");
    }
    assertThat(memory.usedBytes()).as("bytes of values that did not arrive").isZero();
  }
}
