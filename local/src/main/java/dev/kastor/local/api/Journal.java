package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.JournalReader.Place;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps objects of some types in a file, so that they outlive the server: a line of JSON for every
 * change, without an object where one was removed.
 *
 * <p>A change that cannot be written is refused, and the file is cut back to where it was. When the
 * file is about twice as long as the newest states, these are copied to a new file that takes the
 * old one's place; the file stays below {@value #MAX_LENGTH} bytes. A crash at any point leaves the
 * old file or the new one, and at most one line without its end, which the next start drops. What
 * was accepted survives the end of this process, but not always a power cut.
 *
 * <p>Guarded by the store's lock. No file channel is used, as the interrupt of one client's thread
 * would close it for all.
 */
final class Journal implements AutoCloseable {
  /** A longer line is neither written nor read. */
  static final int MAX_LINE = 16 << 20;

  /** The file's bound in bytes. */
  static final long MAX_LENGTH = 64L << 20;

  private static final Logger LOG = LoggerFactory.getLogger(Journal.class);

  /** Newest states in bytes above which no new object is taken in. */
  private static final long MAX_LIVE = 24L << 20;

  /** Growth that is not worth a rewrite. */
  private static final long SLACK = 1L << 20;

  private static final int INSUFFICIENT_STORAGE = 507;
  private static final byte[] EMPTY_LINE = {'\n'};

  private final Path file;
  private final Predicate<ResourceType> kept;
  private Map<String, Place> live = new LinkedHashMap<>();
  private long liveLength;
  private RandomAccessFile out;
  private long length;
  private long nextRewrite;
  private @Nullable String failure;

  /**
   * Opens a journal, or starts one.
   *
   * @param kept the types to keep
   * @param restored hears of every object that the file holds, in the order of first creation
   */
  Journal(Path file, Predicate<ResourceType> kept, Consumer<ObjectNode> restored)
      throws IOException {
    this.file = file;
    this.kept = kept;
    Files.deleteIfExists(fresh());
    JournalReader reader = new JournalReader(file);
    reader
        .read()
        .forEach((uid, entry) -> {
          restored.accept(entry.object());
          live.put(uid, entry.place());
          liveLength += entry.place().length();
        });
    length = reader.end();
    out = Files.exists(file) ? new RandomAccessFile(file.toFile(), "rw") : create(file);
    rewriteIfLong();
  }

  /**
   * Writes changes that belong together.
   *
   * @throws ApiException if they cannot be kept; the file is as before then
   */
  void append(List<Change> changes) {
    Batch batch = new Batch(length);
    for (Change change : changes) {
      if (kept.test(change.type())) {
        batch.add(change);
      }
    }
    if (batch.bytes.size() == 0) {
      return;
    }
    if (batch.creates && liveLength + batch.bytes.size() > MAX_LIVE) {
      throw full(
          "its objects have %d MiB in all, the bound is %d MiB. Remove ended jobs: kastor rm JOB"
              .formatted(liveLength >> 20, MAX_LIVE >> 20));
    }
    if (length + batch.bytes.size() > MAX_LENGTH) {
      throw full("it has %d MiB, and could not be rewritten".formatted(length >> 20));
    }
    write(batch.bytes.toByteArray());
    batch.places.forEach(this::settle);
    rewriteIfLong();
  }

  /** Why nothing can be written at this moment; looks again where something failed before. */
  Optional<String> failure() {
    if (failure != null) {
      try {
        write(EMPTY_LINE);
      } catch (ApiException e) {
        return Optional.of(failure);
      }
    }
    return Optional.empty();
  }

  private void settle(String uid, Optional<Place> place) {
    Place before = place.isPresent() ? live.put(uid, place.get()) : live.remove(uid);
    liveLength += place.map(Place::length).orElse(0L) - (before == null ? 0 : before.length());
  }

  private void write(byte[] bytes) {
    try {
      if (out.length() != length) {
        out.setLength(length);
      }
      out.seek(length);
      out.write(bytes);
      length += bytes.length;
      failure = null;
    } catch (IOException e) {
      failure = String.valueOf(e.getMessage());
      cutBack();
      throw full(failure + ". Make room on its disk");
    }
  }

  /** Where even this fails, the next write does it first. */
  private void cutBack() {
    try {
      out.setLength(length);
    } catch (IOException e) {
      LOG.warn("{} cannot be cut back to {} bytes: {}", file, length, e.getMessage());
    }
  }

  private ApiException full(String why) {
    return ApiException.of(
        INSUFFICIENT_STORAGE,
        "InsufficientStorage",
        "the change was refused, as the journal %s cannot keep it: %s".formatted(file, why));
  }

  private void rewriteIfLong() {
    if (length < Math.max(2 * liveLength + SLACK, nextRewrite)) {
      return;
    }
    try {
      rewrite();
    } catch (IOException e) {
      nextRewrite = length + SLACK;
      LOG.warn("{} cannot be rewritten yet, and grows: {}", file, e.getMessage());
    }
  }

  private void rewrite() throws IOException {
    Map<String, Place> moved = new LinkedHashMap<>();
    RandomAccessFile target = create(fresh());
    long written = 0;
    try {
      for (Map.Entry<String, Place> entry : live.entrySet()) {
        byte[] line = new byte[Math.toIntExact(entry.getValue().length())];
        out.seek(entry.getValue().offset());
        out.readFully(line);
        target.write(line);
        moved.put(entry.getKey(), new Place(written, line.length));
        written += line.length;
      }
      target.getFD().sync();
      Files.move(
          fresh(), file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      target.close();
      Files.deleteIfExists(fresh());
      throw e;
    }
    RandomAccessFile old = out;
    out = target;
    live = moved;
    length = written;
    nextRewrite = 0;
    old.close();
  }

  private Path fresh() {
    return file.resolveSibling(file.getFileName() + ".new");
  }

  private static RandomAccessFile create(Path path) throws IOException {
    Files.createFile(
        path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return new RandomAccessFile(path.toFile(), "rw");
  }

  @Override
  public void close() throws IOException {
    out.close();
  }

  /** Lines that are written at once, and the places that they will have. */
  private static final class Batch {
    private final long start;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Map<String, Optional<Place>> places = new LinkedHashMap<>();
    private boolean creates;

    Batch(long start) {
      this.start = start;
    }

    void add(Change change) {
      String uid = Json.uid(change.last());
      ObjectNode entry = Json.object().put("uid", uid);
      entry.set("object", change.after());
      byte[] line = (Json.text(entry) + "\n").getBytes(StandardCharsets.UTF_8);
      if (line.length > MAX_LINE) {
        throw ApiException.of(
            413,
            "RequestEntityTooLarge",
            "%s would have %d bytes, the bound is %d"
                .formatted(Json.name(change.last()), line.length, MAX_LINE));
      }
      Place place = new Place(start + bytes.size(), line.length);
      places.put(uid, change.after() == null ? Optional.empty() : Optional.of(place));
      creates |= change.before() == null;
      bytes.writeBytes(line);
    }
  }
}
