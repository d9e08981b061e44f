package dev.kastor.cli.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kastor.engine.export.ProtoWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * TensorBoard's event files: TFRecords, each a message {@code Event}, the first of which tells the
 * version. A scalar is the {@code simple_value} of an event's summary, a float.
 *
 * <p>Source: TensorFlow, {@code tensorflow/core/util/event.proto} and {@code
 * tensorflow/core/framework/summary.proto}.
 *
 * @param created when the job was created: TensorBoard lists runs by it
 */
record EventFormat(Instant created) implements PointFormat {
  private static final String VERSION = "brain.Event:2";

  /** Of {@code Event}. */
  private static final int WALL_TIME = 1;

  private static final int STEP = 2;
  private static final int FILE_VERSION = 3;
  private static final int SUMMARY = 5;

  /** Of {@code Summary}. */
  private static final int VALUE = 1;

  /** Of {@code Summary.Value}. */
  private static final int TAG = 1;

  private static final int SIMPLE_VALUE = 2;

  private static final double MILLIS_PER_SECOND = 1e3;

  @Override
  public String ending() {
    // TensorBoard looks for files whose name has "tfevents", and takes a folder for a run.
    return "/events.out.tfevents.%d.kastor".formatted(created.getEpochSecond());
  }

  @Override
  public byte[] head() {
    return TfRecords.record(
        new ProtoWriter()
            .number(WALL_TIME, seconds(created.toEpochMilli()))
            .bytes(FILE_VERSION, VERSION.getBytes(UTF_8))
            .end());
  }

  private static double seconds(long millis) {
    return millis / MILLIS_PER_SECOND;
  }

  @Override
  public byte[] encode(Point point) {
    byte[] value =
        new ProtoWriter()
            .bytes(TAG, point.name().getBytes(UTF_8))
            .number(SIMPLE_VALUE, (float) point.value())
            .end();
    return TfRecords.record(
        new ProtoWriter()
            .number(WALL_TIME, seconds(point.epochMillis()))
            .number(STEP, point.step())
            .bytes(SUMMARY, new ProtoWriter().bytes(VALUE, value).end())
            .end());
  }

  @Override
  public long read(InputStream file, Consumer<Point> found)
      throws IOException, DamagedFileException {
    long whole = 0;
    for (byte[] data = TfRecords.next(file); data != null; data = TfRecords.next(file)) {
      try {
        Point point = point(data);
        if (point != null) {
          found.accept(point);
        }
      } catch (BufferUnderflowException | IllegalArgumentException e) {
        throw new DamagedFileException("the record at byte %d is no event".formatted(whole));
      }
      whole += TfRecords.framed(data.length);
    }
    return whole;
  }

  private static @Nullable Point point(byte[] event) {
    double seconds = 0;
    long step = 0;
    byte[] summary = null;
    for (var fields = new ProtoReader(event); fields.next(); ) {
      switch (fields.number()) {
        case WALL_TIME -> seconds = Double.longBitsToDouble(fields.bits());
        case STEP -> step = fields.bits();
        case SUMMARY -> summary = fields.bytes();
        default -> {
          // The version, or what a newer TensorBoard may add.
        }
      }
    }
    byte[] value = summary == null ? null : only(summary, VALUE);
    if (value == null) {
      return null;
    }
    String tag = "";
    float number = 0;
    for (var fields = new ProtoReader(value); fields.next(); ) {
      switch (fields.number()) {
        case TAG -> tag = new String(fields.bytes(), UTF_8);
        case SIMPLE_VALUE -> number = Float.intBitsToFloat((int) fields.bits());
        default -> {
          // As above.
        }
      }
    }
    return new Point(tag, Math.round(seconds * MILLIS_PER_SECOND), step, number);
  }

  private static byte @Nullable [] only(byte[] message, int field) {
    byte[] found = null;
    for (var fields = new ProtoReader(message); fields.next(); ) {
      found = fields.number() == field ? fields.bytes() : found;
    }
    return found;
  }
}
