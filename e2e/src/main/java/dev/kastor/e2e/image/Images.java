package dev.kastor.e2e.image;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Makes the images of operator and agent from what the build left, and the one that holds pods
 * together.
 */
public final class Images {
  private static final String VERSION = "0.1.0-SNAPSHOT";
  private static final String EXAMPLES = "/app";
  private static final String PYTHON_PATH = "PATH=/opt/python/bin";

  /**
   * What the JVM, oneDNN and OR-Tools link against; nothing else of a distribution is in the
   * images.
   */
  private static final List<String> NEEDED =
      List.of(
          "libc.so.6",
          "libdl.so.2",
          "libgcc_s.so.1",
          "libgomp.so.1",
          "libm.so.6",
          "libpthread.so.0",
          "libresolv.so.2",
          "librt.so.1",
          "libstdc++.so.6",
          "libz.so.1");

  private static final List<String> JVM =
      List.of(
          "/opt/jre/bin/java",
          "-XX:+ExitOnOutOfMemoryError",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  /**
   * What an operator with thousands of jobs needs besides: a heap that is mostly for what stays,
   * and is marked while jobs are decided on (a full collection of four hundred megabytes would stop
   * it for two seconds once a minute); small objects, one copy of each of the few texts that
   * conditions and pods are made of, and native memory given back once a minute. What a request is
   * made of ends in the survivor spaces; what lasts for seconds is old soon, and not looked for at
   * each collection. Old garbage is collected along with young one in several pauses; were the
   * young generation as small as G1 makes it then, ten thousand jobs' reports would fill it in a
   * tenth of a second, and the pauses would follow each other.
   */
  public static final List<String> OPERATOR_JVM =
      List.of(
          "-XX:+UseG1GC",
          "-XX:ParallelGCThreads=2",
          "-XX:ConcGCThreads=1",
          "-XX:GCTimeRatio=5",
          "-XX:-G1UseAdaptiveIHOP",
          "-XX:InitiatingHeapOccupancyPercent=70",
          "-XX:MaxTenuringThreshold=2",
          "-XX:G1ConcRefinementThreads=0",
          "-XX:NewSize=128m",
          "-XX:MaxNewSize=192m",
          "-XX:SurvivorRatio=4",
          "-XX:TargetSurvivorRatio=90",
          "-XX:MetaspaceSize=128m",
          "-XX:SweeperThreshold=50",
          "-XX:+UseCompactObjectHeaders",
          "-XX:+UseStringDeduplication",
          "-XX:TrimNativeHeapInterval=60000",
          "-Xss512k",
          "--add-opens=java.base/java.lang=ALL-UNNAMED");

  private final Platform platform;
  private final Path root;
  private final Path jre;
  private final Path base;
  private final Layer system;
  private final Layer java;

  private Images(Platform platform, Path root, Path base, Path jre) throws IOException {
    this.platform = platform;
    this.root = root;
    this.jre = jre;
    this.base = base;
    system = system();
    java = new Layer().folder(jre, Bill.RUNTIME.replaceFirst("/$", ""));
  }

  /**
   * Writes them as a layout.
   *
   * @param args checkout; empty folder for the layout; {@code --pause-alone} if operator and agent
   *     are to be left out; {@code --base} folder with unpacked packages; {@code --jre} folder;
   *     {@code --pause} program, if its image is wanted too; {@code --python} root folder of
   *     Python, if its image is; {@code --pytorch} root folder of Python and PyTorch with {@code
   *     --wheel} of the Python client, if the image of the PyTorch examples is; {@code --work}
   *     folder for what is of no use later; {@code --caches} folder for what the next run can use
   *     again; {@code --bill} Maven's bill of materials, if each image is to have its own; {@code
   *     --aarch64} folder with {@code base}, {@code jre} and {@code natives} (jars) for that
   *     architecture, if operator and agent are to run there as well
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    Path root = Path.of(args[0]);
    Path work = option(args, "--work");
    Path caches = option(args, "--caches");
    Images images =
        new Images(Platform.X86_64, root, option(args, "--base"), option(args, "--jre"));
    boolean pauseAlone = List.of(args).contains("--pause-alone");
    List<Image> operators = new ArrayList<>();
    List<Image> agents = new ArrayList<>();
    if (!pauseAlone) {
      operators.add(images.operator());
      agents.add(images.agent(work, List.of(), caches));
    }
    if (List.of(args).contains("--aarch64")) {
      Path parts = option(args, "--aarch64");
      Images others =
          new Images(
              Platform.AARCH64,
              root,
              parts.resolve("base").toRealPath(),
              parts.resolve("jre").toRealPath());
      operators.add(others.operator());
      agents.add(others.agent(work.resolve("aarch64"), List.of(parts.resolve("natives")), caches));
    }
    List<List<Image>> all = new ArrayList<>(pauseAlone ? List.of() : List.of(operators, agents));
    if (List.of(args).contains("--pause")) {
      all.add(List.of(pause(option(args, "--pause"))));
    }
    if (List.of(args).contains("--python")) {
      all.add(
          List.of(
              new Image(
                  "kastor.dev/e2e/python:1",
                  List.of(python(option(args, "--python"))),
                  List.of(),
                  List.of(PYTHON_PATH),
                  "/",
                  Platform.X86_64)));
    }
    if (List.of(args).contains("--pytorch")) {
      Path client = work.resolve("client");
      all.add(List.of(images.pytorch(option(args, "--pytorch"), option(args, "--wheel"), client)));
    }
    Bill bill = List.of(args).contains("--bill") ? new Bill(option(args, "--bill")) : null;
    Layout layout = new Layout(Path.of(args[1]));
    for (List<Image> variants : all) {
      String digest = variants.size() == 1 ? layout.add(variants.getFirst()) : layout.add(variants);
      System.out.printf("        %s %s%n", variants.getFirst().name(), digest);
      if (bill != null) {
        for (Image image : variants) {
          bill.write(image, digest, Path.of(args[1]).resolve(billName(image)));
        }
      }
    }
    layout.finish();
  }

  private static String billName(Image image) {
    String name = image.repository().substring(image.repository().lastIndexOf('/') + 1);
    Platform platform = image.platform();
    return name + (platform == Platform.X86_64 ? "" : "-" + platform.architecture()) + ".cdx.json";
  }

  private Image operator() throws IOException {
    Path app = built("operator/target/quarkus-app");
    List<String> command = new ArrayList<>(JVM);
    command.addAll(OPERATOR_JVM);
    command.addAll(List.of("-XX:MaxRAMPercentage=60", "-jar", "/app/quarkus-run.jar"));
    Layer libraries = new Layer();
    Layer own = new Layer();
    try (Stream<Path> files = Files.walk(app)) {
      // All of them, whatever they are for: Quarkus has a list and starts with nothing less.
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        boolean ours = !file.startsWith(app.resolve("lib")) || name(file).startsWith("dev.kastor.");
        (ours ? own : libraries).file(file, "app/" + app.relativize(file));
      }
    }
    return new Image(
        "docker.io/kastor/operator:" + VERSION,
        List.of(system, java, libraries, own),
        command,
        platform);
  }

  private Image agent(Path work, List<Path> natives, Path caches)
      throws IOException, InterruptedException {
    List<Path> folders = new ArrayList<>(natives);
    folders.add(built("training-agent/target/lib"));
    SequencedMap<String, Path> libraries = new TreeMap<>();
    SequencedMap<String, Path> own = new TreeMap<>();
    for (Path folder : folders) {
      try (Stream<Path> files = Files.list(folder)) {
        for (Path jar : files.filter(platform::uses).sorted().toList()) {
          if (platform.isNative(jar) && name(jar).matches("(dnnl|javacpp)-.*")) {
            // Whoever finds them there need not unpack 90 MB at each start.
            unpackNatives(jar, work.resolve("native"))
                .forEach(file -> libraries.put("app/native/" + name(file), file));
          } else if (name(jar).matches("(scheduler-core|plugin-jars|engine)-.*")) {
            own.put("app/" + name(jar), jar);
          } else {
            libraries.put("app/lib/" + name(jar), jar);
          }
        }
      }
    }
    Path jar = built("training-agent/target/training-agent-" + VERSION + ".jar");
    own.put("app/" + name(jar), jar);
    SequencedMap<String, Path> all = new TreeMap<>(libraries);
    all.putAll(own);
    List<String> command = agentCommand("/opt/jre/bin/java", "", all);
    Layer code = new Layer().files(own);
    // The cache is recorded while an agent runs, and one for another processor does not run here.
    if (platform == Platform.X86_64) {
      command.add(1, "-XX:AOTCache=/app/agent.aot");
      AgentClasses classes = new AgentClasses(jre, all, work.resolve("rehearsal"));
      code.file(
          classes.cached(
              caches,
              agentCommand(jre.resolve("bin/java").toString(), classes.staged().toString(), all)),
          "app/agent.aot");
    }
    return new Image(
        "docker.io/kastor/training-agent:" + VERSION,
        List.of(system, java, new Layer().files(libraries), code),
        command,
        platform);
  }

  /**
   * What starts an agent.
   *
   * @param root what comes before the paths of the image
   */
  private static List<String> agentCommand(
      String java, String root, SequencedMap<String, Path> files) {
    List<String> command = new ArrayList<>(JVM);
    command.set(0, java);
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-Xmx256m",
            "-Dorg.bytedeco.javacpp.cachedir=/tmp/javacpp",
            "-Dorg.bytedeco.javacpp.pathsFirst=true",
            "-Djava.library.path=" + root + "/app/native",
            "-cp",
            files.keySet().stream()
                .filter(path -> path.endsWith(".jar"))
                .map(path -> root + "/" + path)
                .collect(Collectors.joining(":")),
            "dev.kastor.agent.Agent"));
    return command;
  }

  private static List<Path> unpackNatives(Path jar, Path to) throws IOException {
    Path all = Files.createDirectories(to).resolve(name(jar));
    List<Path> unpacked = new ArrayList<>();
    for (Path file : unpack(jar, entry -> entry.matches(".*\\.so[.0-9]*"), all)) {
      Path here = to.resolve(name(file));
      unpacked.add(Files.move(file, here, StandardCopyOption.REPLACE_EXISTING));
    }
    return unpacked;
  }

  /** Unpacks those files of an archive whose names are wanted. */
  private static List<Path> unpack(Path archive, Predicate<String> wanted, Path to)
      throws IOException {
    List<Path> unpacked = new ArrayList<>();
    try (ZipFile zip = new ZipFile(archive.toFile())) {
      for (ZipEntry entry : Collections.list(zip.entries())) {
        Path file = to.resolve(entry.getName()).normalize();
        if (wanted.test(entry.getName()) && file.startsWith(to)) {
          Files.createDirectories(Objects.requireNonNull(file.getParent()));
          try (InputStream in = zip.getInputStream(entry)) {
            Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
          }
          unpacked.add(file);
        }
      }
    }
    return unpacked;
  }

  private static Image pause(Path program) {
    return new Image(
        "kastor.dev/e2e/pause:1", List.of(new Layer().file(program, "pause")), List.of("/pause"));
  }

  /** Image of the PyTorch examples, with the Python client as users install it. */
  private Image pytorch(Path rootFolder, Path wheel, Path client) throws IOException {
    unpack(wheel, name -> !name.endsWith("/"), client);
    Layer own =
        new Layer()
            .folder(client, "opt/client")
            .folder(built("examples/pytorch"), EXAMPLES.substring(1));
    return new Image(
        "kastor.dev/e2e/pytorch-examples:1",
        List.of(python(rootFolder), own),
        List.of(),
        List.of(PYTHON_PATH, "PYTHONPATH=/opt/client:/opt/packages"),
        EXAMPLES,
        Platform.X86_64);
  }

  private static Layer python(Path rootFolder) throws IOException {
    Layer python = new Layer().writable("tmp");
    for (String part : List.of("etc", "lib", "lib64", "opt")) {
      python.folder(rootFolder.resolve(part), part);
    }
    return python;
  }

  private Layer system() throws IOException {
    Layer layer =
        new Layer().writable("tmp").file(base.resolve("etc/os-release"), "etc/os-release");
    // Scanners of images look for these.
    layer.folder(base.resolve(Bill.PACKAGES), Bill.PACKAGES.replaceFirst("/$", ""));
    for (String name : NEEDED) {
      layer.file(library(name), "lib/" + platform.folder() + "/" + name);
    }
    String loader = platform.loader();
    return layer.file(library(loader.substring(loader.lastIndexOf('/') + 1)), loader);
  }

  private Path library(String name) throws IOException {
    for (String folder : List.of("lib", "usr/lib")) {
      Path file = base.resolve(folder).resolve(platform.folder()).resolve(name);
      if (Files.isRegularFile(file)) {
        return file.toRealPath();
      }
    }
    throw new IOException("there is no %s below %s".formatted(name, base));
  }

  private Path built(String path) throws IOException {
    Path file = root.resolve(path).normalize();
    if (!Files.exists(file)) {
      throw new IOException(file + " does not exist. Run ./kastor build.");
    }
    return file;
  }

  private static String name(Path file) {
    return String.valueOf(file.getFileName());
  }

  private static Path option(String[] args, String name) {
    for (int i = 2; i < args.length - 1; i++) {
      if (args[i].equals(name)) {
        return Path.of(args[i + 1]);
      }
    }
    throw new IllegalArgumentException(name + " is missing");
  }
}
