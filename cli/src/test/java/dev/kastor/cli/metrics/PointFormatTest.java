package dev.kastor.cli.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class PointFormatTest {
  private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");
  private static final Point LOSS = new Point("loss", CREATED.toEpochMilli() + 1500, 300, 0.5);

  /** Values that a float holds, so that event files keep them too. */
  private static final List<Point> POINTS =
      List.of(
          new Point("val/top-1_acc.", CREATED.toEpochMilli(), 0, -0.0),
          LOSS,
          new Point("kastor/replicas", CREATED.toEpochMilli() + 2001, (1L << 52), 16),
          new Point("loss", CREATED.toEpochMilli() + 2001, 301, 0x1p-120));

  /**
   * Length 24 and its checksum; field 1 (key 09): 1767225600.0 as a double; field 3 (key 1a): 13
   * bytes, brain.Event:2; checksum. The checksums are CRC-32C (Castagnoli) by its polynomial
   * 0x82F63B78 bit by bit, turned right by 15 bits, plus 0xA282EAD8.
   */
  private static final String HEAD =
      "180000000000 0000 a37f4b22 09 000000406e55da41 1a0d 627261696e2e4576656e743a32 c3486dfc";

  /**
   * Length 27; field 1: 1767225601.5; field 2 (key 10): 300 as the varint ac 02; field 5 (key 2a):
   * a summary of 13 bytes, whose field 1 is a value of 11: field 1 the 4 bytes of "loss", field 2
   * (key 15) 0.5 as a float.
   */
  private static final String EVENT =
      "1b00000000000000 1a0d9e13 09 000060406e55da41 10ac02 2a0d 0a0b 0a04 6c6f7373 15 0000003f"
          + " 57401ba8";

  @Test
  void eventsAreTheBytesThatTheirSpecificationSays() {
    PointFormat events = MetricsOutput.TENSORBOARD.format(CREATED);
    assertThat(events.head()).isEqualTo(bytes(HEAD));
    assertThat(events.encode(LOSS)).isEqualTo(bytes(EVENT));
  }

  @Test
  void pointsAreLines() {
    PointFormat csv = MetricsOutput.CSV.format(CREATED);
    assertThat(new String(csv.head(), UTF_8)).isEqualTo("time,step,name,value\n");
    assertThat(new String(csv.encode(LOSS), UTF_8))
        .isEqualTo("2026-01-01T00:00:01.500Z,300,loss,0.5\n");
    PointFormat json = MetricsOutput.JSON.format(CREATED);
    assertThat(json.head()).isEmpty();
    assertThat(new String(json.encode(LOSS), UTF_8))
        .isEqualTo(
            "{\"time\":\"2026-01-01T00:00:01.500Z\",\"step\":300,\"name\":\"loss\",\"value\":0.5}\n");
  }

  @ParameterizedTest
  @EnumSource
  void readsWhatItWrote(MetricsOutput output) throws Exception {
    PointFormat format = output.format(CREATED);
    byte[] file = file(format);
    List<Point> found = new ArrayList<>();
    assertThat(format.read(new ByteArrayInputStream(file), found::add)).isEqualTo(file.length);
    assertThat(found).isEqualTo(POINTS);
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void aFileThatIsCutOffAnywhereHasItsWholeRecords(MetricsOutput output) throws Exception {
    PointFormat format = output.format(CREATED);
    byte[] file = file(format);
    for (int length = 0; length <= file.length; length++) {
      List<Point> found = new ArrayList<>();
      long whole = format.read(new ByteArrayInputStream(Arrays.copyOf(file, length)), found::add);

      assertThat(whole).isLessThanOrEqualTo(length);
      assertThat(found).isEqualTo(POINTS.subList(0, found.size()));
      var again = new ByteArrayOutputStream();
      again.write(whole == 0 ? new byte[0] : format.head());
      found.forEach(point -> again.writeBytes(format.encode(point)));
      assertThat(again.size()).isEqualTo((int) whole);
      int next = found.size() < POINTS.size() ? format.encode(POINTS.get(found.size())).length : 0;
      assertThat(length - whole).isLessThan(Math.max(next, format.head().length) + 1L);
    }
  }

  @Test
  void anyFlippedBitOfAnEventIsSeen() throws IOException {
    PointFormat format = MetricsOutput.TENSORBOARD.format(CREATED);
    byte[] file = file(format);
    for (int bit = 0; bit < Byte.SIZE * file.length; bit++) {
      byte[] damaged = file.clone();
      damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);

      assertThatThrownBy(() -> format.read(new ByteArrayInputStream(damaged), point -> {}))
          .as("bit %d", bit)
          .isInstanceOf(DamagedFileException.class);
    }
  }

  @Test
  void aRecordThatIsNoEventIsSeen() {
    PointFormat format = MetricsOutput.TENSORBOARD.format(CREATED);
    // A text of 100 bytes in a message of 2; a number without end; a group, which no event has.
    for (String message : List.of("2a64", "10ffffffffffffffffffffff", "0b", "09ff")) {
      byte[] record = TfRecords.record(bytes(message));
      assertThatThrownBy(() -> format.read(new ByteArrayInputStream(record), point -> {}))
          .as(message)
          .isInstanceOf(DamagedFileException.class);
    }
  }

  @Test
  void aLineThatIsNoPointIsSeen() {
    for (String text :
        List.of(
            "a,b\n",
            "time,step,name,value\n1,2,3\n",
            "time,step,name,value\n2026-01-01T00:00:00Z,x,loss,1\n",
            "time,step,name,value\nnow,1,loss,1\n")) {
      assertDamaged(MetricsOutput.CSV, text);
    }
    for (String text : List.of("x\n", "{}\n", "\n", "{\"time\":\"now\",\"step\":1}\n", "[]\n")) {
      assertDamaged(MetricsOutput.JSON, text);
    }
  }

  private static void assertDamaged(MetricsOutput output, String text) {
    var in = new ByteArrayInputStream(text.getBytes(UTF_8));
    assertThatThrownBy(() -> output.format(CREATED).read(in, point -> {}))
        .as(text)
        .isInstanceOf(DamagedFileException.class);
  }

  private static byte[] file(PointFormat format) throws IOException {
    var file = new ByteArrayOutputStream();
    file.write(format.head());
    for (Point point : POINTS) {
      file.write(format.encode(point));
    }
    return file.toByteArray();
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }
}
