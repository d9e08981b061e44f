package dev.kastor.cli.metrics;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * File of a job's points that only grows: what it has stays, although the operator thins out or
 * forgets; a record that was cut off is taken away. Locked while it is open.
 */
final class PointFile implements AutoCloseable {
  private final Path path;
  private final PointFormat format;
  private final FileChannel channel;

  private final NewestPoints newest = new NewestPoints();

  private PointFile(Path path, PointFormat format, FileChannel channel) {
    this.path = path;
    this.format = format;
    this.channel = channel;
  }

  /**
   * Opens a file, which need not exist.
   *
   * @throws CliException if another process writes it, or it is of another kind or damaged
   */
  static PointFile open(Path path, PointFormat format) throws IOException {
    if (path.getParent() != null) {
      Files.createDirectories(path.getParent());
    }
    FileChannel channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    PointFile file = new PointFile(path, format, channel);
    try {
      file.lock();
      file.resume();
      return file;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private void lock() throws IOException {
    boolean free;
    try {
      free = channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      free = false;
    }
    if (!free) {
      throw new CliException(
          ExitCode.FAILED,
          "%s is being written by another kastor metrics. End it, or name another --out"
              .formatted(path));
    }
  }

  private void resume() throws IOException {
    long whole;
    try {
      // Not closed: that would close the channel.
      var in = new BufferedInputStream(Channels.newInputStream(channel));
      whole = format.read(in, newest::take);
    } catch (DamagedFileException e) {
      throw new CliException(
          ExitCode.FAILED,
          "%s cannot be continued: %s. Move it away, or name another --out"
              .formatted(path, e.getMessage()),
          e);
    }
    channel.truncate(whole);
    channel.position(whole);
    if (whole == 0) {
      write(format.head());
    }
  }

  /**
   * Adds the points that are newer than what the file has of their series.
   *
   * @return how many
   */
  int add(List<Point> points) throws IOException {
    List<Point> newer = newest.newer(points);
    var records = new ByteArrayOutputStream();
    newer.forEach(point -> records.writeBytes(format.encode(point)));
    write(records.toByteArray());
    newer.forEach(newest::take);
    return newer.size();
  }

  Path path() {
    return path;
  }

  private void write(byte[] bytes) throws IOException {
    long before = channel.position();
    ByteBuffer left = ByteBuffer.wrap(bytes);
    try {
      while (left.hasRemaining()) {
        channel.write(left);
      }
    } catch (IOException e) {
      // As on a full disk: what was there stays.
      channel.truncate(before);
      FileSystemException named =
          new FileSystemException(path.toString(), null, String.valueOf(e.getMessage()));
      named.initCause(e);
      throw named;
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
