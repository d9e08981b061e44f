package dev.kastor.engine.data;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Files of a folder of images: {@code train/CLASS/NAME.png}, and {@code test/CLASS/NAME.png} or
 * {@code val/CLASS/NAME.png} if held-out images are separate. Without a folder {@code train} the
 * classes are in the folder itself.
 *
 * <p>Names that begin with a dot are left out. Links are followed. Classes and files are in the
 * order of their names, byte by byte, so that every machine has the same.
 *
 * @param names names of the classes
 * @param training images to train with
 * @param heldOut images that only evaluation sees
 * @param complete whether these are all that there are
 */
record ImageFiles(
    List<String> names, List<Labelled> training, List<Labelled> heldOut, boolean complete) {
  private static final String LAYOUT = "train/CLASS/NAME.png (or .jpg), and test/CLASS/NAME.png";
  private static final int MAX_CLASSES = 1000;
  private static final int DEEPEST = 16;
  private static final Pattern IMAGE = Pattern.compile(".*\\.(png|jpg|jpeg)");
  private static final Pattern OTHER_IMAGE =
      Pattern.compile(".*\\.(gif|bmp|webp|tif|tiff|heic|heif|avif|jp2|svg)");

  /**
   * Image of a class.
   *
   * @param file where it is
   * @param label number of its class
   */
  record Labelled(Path file, int label) {}

  ImageFiles {
    names = List.copyOf(names);
    training = List.copyOf(training);
    heldOut = List.copyOf(heldOut);
  }

  /** How many classes there are. */
  int classes() {
    return names.size();
  }

  /**
   * Lists a folder.
   *
   * @param holdOutEvery images of each class that are held out where there is no folder of them
   * @param most files that are looked at of each class; {@code complete} says whether there are
   *     more
   */
  static ImageFiles list(Path folder, int holdOutEvery, int most) throws DataException {
    if (!Files.isDirectory(folder)) {
      throw Files.exists(folder)
          ? new DataException(folder, "is a file, but a folder of images is needed")
          : new DataException(folder, new NoSuchFileException(folder.toString()));
    }
    Path train = folder.resolve("train");
    boolean parts = Files.isDirectory(train);
    @Nullable Path test = heldOutFolder(folder);
    if (test != null && !parts) {
      throw new DataException(
          folder, "has a folder %s but no folder train".formatted(test.getFileName()));
    }
    List<Path> classes = classes(parts ? train : folder);
    List<Labelled> training = new ArrayList<>();
    List<Labelled> heldOut = new ArrayList<>();
    boolean complete = true;
    for (int label = 0; label < classes.size(); label++) {
      Listing listing = Listing.of(classes.get(label), most);
      if (listing.files.isEmpty()) {
        throw new DataException(
            classes.get(label), "has no image (*.png, *.jpg or *.jpeg), but is a class");
      }
      complete &= listing.complete;
      for (int i = 0; i < listing.files.size(); i++) {
        boolean out = test == null && (i + 1) % holdOutEvery == 0;
        (out ? heldOut : training).add(new Labelled(listing.files.get(i), label));
      }
    }
    if (test != null) {
      List<Path> names = classes.stream().map(Path::getFileName).toList();
      for (Path of : classes(test)) {
        int label = names.indexOf(of.getFileName());
        if (label < 0) {
          throw new DataException(of, "is a class that %s does not have".formatted(train));
        }
        Listing listing = Listing.of(of, most);
        complete &= listing.complete;
        listing.files.forEach(file -> heldOut.add(new Labelled(file, label)));
      }
    }
    if (heldOut.isEmpty() && complete) {
      throw new DataException(
          folder,
          test == null
              ? "no class has %d images, of which one would be held out. Lower holdOutEvery, or add a folder test"
                  .formatted(holdOutEvery)
              : "%s has no image".formatted(test));
    }
    return new ImageFiles(
        classes.stream().map(each -> each.getFileName().toString()).toList(),
        training,
        heldOut,
        complete);
  }

  private static @Nullable Path heldOutFolder(Path folder) {
    for (String name : List.of("test", "val")) {
      if (Files.isDirectory(folder.resolve(name))) {
        return folder.resolve(name);
      }
    }
    return null;
  }

  private static List<Path> classes(Path folder) throws DataException {
    List<Path> classes = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        if (hidden(entry)) {
          continue;
        }
        if (Files.isDirectory(entry)) {
          classes.add(entry);
        } else if (matches(IMAGE, entry)) {
          throw new DataException(
              entry, "is in no folder of a class. Images are expected as " + LAYOUT);
        }
      }
    } catch (IOException e) {
      throw new DataException(folder, e);
    }
    Collections.sort(classes);
    if (classes.size() < 2 || classes.size() > MAX_CLASSES) {
      throw new DataException(
          folder,
          "has %d folders of classes; a classifier needs 2 to %d. Images are expected as %s"
              .formatted(classes.size(), MAX_CLASSES, LAYOUT));
    }
    return classes;
  }

  private static boolean hidden(Path entry) {
    return entry.getFileName().toString().startsWith(".");
  }

  private static boolean matches(Pattern names, Path file) {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    // Names may hold line breaks.
    return names.matcher(name.replace('\n', ' ').replace('\r', ' ')).matches();
  }

  /** Walk through the folders of a class. */
  private static final class Listing extends SimpleFileVisitor<Path> {
    private final List<Path> files = new ArrayList<>();
    private final int most;
    private boolean complete = true;
    private @Nullable DataException problem;

    private Listing(int most) {
      this.most = most;
    }

    static Listing of(Path folder, int most) throws DataException {
      Listing listing = new Listing(most);
      try {
        Files.walkFileTree(folder, EnumSet.of(FileVisitOption.FOLLOW_LINKS), DEEPEST, listing);
      } catch (IOException e) {
        throw new DataException(folder, e);
      }
      if (listing.problem != null) {
        throw listing.problem;
      }
      Collections.sort(listing.files);
      return listing;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
      return hidden(folder) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      if (hidden(file)) {
        return FileVisitResult.CONTINUE;
      }
      if (attributes.isDirectory()) {
        return end(new DataException(file, "is more than %d folders deep".formatted(DEEPEST)));
      }
      if (matches(OTHER_IMAGE, file)) {
        return end(new DataException(file, "is of a format that is not read. Make it PNG or JPEG"));
      }
      if (!matches(IMAGE, file)) {
        return FileVisitResult.CONTINUE;
      }
      if (attributes.isSymbolicLink()) {
        return end(new DataException(file, "is a link to a file that is not there"));
      }
      if (!attributes.isRegularFile()) {
        return end(new DataException(file, "is no regular file"));
      }
      if (files.size() == most) {
        complete = false;
        return FileVisitResult.TERMINATE;
      }
      files.add(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException cause) {
      return end(
          cause instanceof FileSystemLoopException
              ? new DataException(file, "is a link to a folder that it is in")
              : new DataException(file, cause));
    }

    private FileVisitResult end(DataException why) {
      problem = why;
      return FileVisitResult.TERMINATE;
    }
  }
}
