package dev.kastor.traces;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;

/**
 * File that a command was told to write, written whole or not at all, also if the process is killed
 * on the way.
 *
 * <p>Links are followed first. A regular file, or one that does not exist, is replaced at once and
 * keeps its mode and, where the user may give files away, its owner. Where its folder lets nobody
 * replace it (read-only folder, file that is mounted by itself, file of another user in {@code
 * /tmp}), and wherever it is a device, a pipe or a descriptor of this process, it is written into,
 * as a shell does. Hard links, access control lists and extended attributes of a replaced file are
 * not kept.
 */
public final class AtomicFile {
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<?>[] USUAL = {};

  /** Bytes that need not be in memory all at once. */
  @FunctionalInterface
  public interface Content {
    /** Writes all of them; the stream is not closed. */
    void writeTo(OutputStream out) throws IOException;
  }

  private AtomicFile() {}

  /**
   * Writes a text; a reader of a regular file sees the old one or the new one, never a part.
   *
   * @throws FileSystemException with file and reason; a regular file is then as it was
   */
  public static void write(Path file, String text) throws IOException {
    write(file, text.getBytes(StandardCharsets.UTF_8));
  }

  /** The same for bytes. */
  public static void write(Path file, byte[] bytes) throws IOException {
    write(file, out -> out.write(bytes));
  }

  /** The same for content that is made while it is written. */
  public static void write(Path file, Content content) throws IOException {
    write(file, content, false);
  }

  /** The same for bytes that only the owner of the file may read. */
  public static void writePrivate(Path file, byte[] bytes) throws IOException {
    write(file, out -> out.write(bytes), true);
  }

  private static void write(Path file, Content content, boolean secret) throws IOException {
    Path target = Links.followed(file);
    try {
      if (Descriptor.named(target)) {
        Descriptor.write(target, content);
      } else if (Files.exists(target) && !Files.isRegularFile(target)) {
        writeInto(target, content, StandardOpenOption.WRITE);
      } else {
        replace(target, content, secret);
      }
    } catch (FileSystemException e) {
      throw e;
    } catch (IOException e) {
      FileSystemException named =
          new FileSystemException(file.toString(), null, String.valueOf(e.getMessage()));
      named.initCause(e);
      throw named;
    }
  }

  /** Writes to a file that is opened with these options. */
  static void writeInto(Path file, Content content, OpenOption... options) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file, options))) {
      content.writeTo(out);
    }
  }

  private static void replace(Path file, Content content, boolean secret) throws IOException {
    Path folder = folder(file);
    Files.createDirectories(folder);
    boolean exists = Files.exists(file);
    if (exists && !Files.isWritable(file)) {
      throw new AccessDeniedException(file.toString());
    }
    if (exists && !Files.isWritable(folder)) {
      overwrite(file, content);
      return;
    }
    // A name that nobody can guess, and never a file that is there: in /tmp it could be a link.
    Path part = folder.resolve(".kastor-%s.part".formatted(UUID.randomUUID()));
    try {
      // A plain file has the permissions that its user's other files have; a temporary one has not.
      Files.createFile(part, secret ? new FileAttribute<?>[] {OWNER_ONLY} : USUAL);
      try (FileChannel channel = FileChannel.open(part, StandardOpenOption.WRITE)) {
        OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel));
        content.writeTo(out);
        out.flush();
        channel.force(true);
      }
      if (exists && !secret) {
        keepRights(file, part);
      }
      move(part, file, content);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private static void move(Path part, Path file, Content content) throws IOException {
    try {
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (FileSystemException e) {
      // Mounted by itself, or another user's in a folder where each may remove only his own.
      if (!Files.isRegularFile(file)) {
        throw e;
      }
      overwrite(file, content);
    }
  }

  private static void overwrite(Path file, Content content) throws IOException {
    writeInto(file, content, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
  }

  private static void keepRights(Path from, Path to) throws IOException {
    PosixFileAttributeView view = Files.getFileAttributeView(to, PosixFileAttributeView.class);
    if (view == null) {
      return;
    }
    PosixFileAttributes before = Files.readAttributes(from, PosixFileAttributes.class);
    PosixFileAttributes now = view.readAttributes();
    try {
      if (!before.group().equals(now.group())) {
        view.setGroup(before.group());
      }
      if (!before.owner().equals(now.owner())) {
        view.setOwner(before.owner());
      }
    } catch (FileSystemException e) {
      // Only root may give a file away; the new one is then the user's own.
    }
    view.setPermissions(before.permissions());
  }

  /**
   * Fails now, rather than after long work, if a file could not be written.
   *
   * @throws IOException whose message names the file and says why
   */
  public static void check(Path file) throws IOException {
    Path target = Links.followed(file);
    if (Files.isDirectory(target)) {
      throw new IOException("%s is a folder. Name a file.".formatted(file));
    }
    if (Descriptor.named(target)) {
      if (!Files.exists(target)) {
        throw new NoSuchFileException(file.toString(), null, "this descriptor is not open");
      }
      return;
    }
    if (Files.exists(target)) {
      if (!Files.isWritable(target)) {
        throw new IOException(
            "%s cannot be written: you may not write to it. Change its mode, or name another file."
                .formatted(file));
      }
      return;
    }
    Path folder = folder(target);
    while (!Files.exists(folder) && folder.getParent() != null) {
      folder = folder.getParent();
    }
    if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
      throw new IOException(
          "%s cannot be written: %s is not a folder that you may write to".formatted(file, folder));
    }
  }

  /** Whether files can lie beside it: it is a regular file, or will be one. */
  public static boolean isPlain(Path file) throws IOException {
    Path target = Links.followed(file);
    return !Descriptor.named(target) && (Files.isRegularFile(target) || !Files.exists(target));
  }

  private static Path folder(Path file) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null) {
      throw new IOException("%s is not a file".formatted(file));
    }
    return folder;
  }
}
