package dev.kastor.testkit;

import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** Jar of plug-ins that a test makes of Java sources, as a project of its own would. */
public final class SourceJar {
  private static final Path EXAMPLES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("examples");

  private SourceJar() {}

  /**
   * Makes the jar of one of the projects in the folder {@code examples}.
   *
   * @param folder where the jar is to lie, under the name of the project
   * @param type interface of its plug-ins
   * @return the jar
   * @throws IOException if a source does not compile; the message says why
   */
  public static Path ofExample(Path folder, String project, Class<?> type) throws IOException {
    Path main = EXAMPLES.resolve(project).resolve("src/main");
    Path jar = folder.resolve(project + ".jar");
    try (Stream<Path> sources = Files.walk(main.resolve("java"))) {
      make(
          jar,
          sources.filter(Files::isRegularFile).toList(),
          type.getName(),
          Files.readAllLines(main.resolve("resources/META-INF/services").resolve(type.getName())));
    }
    return jar;
  }

  /**
   * Compiles sources against what this test runs with.
   *
   * @param service name of the interface of the plug-ins
   * @param plugins names of the classes that are plug-ins
   * @throws IOException if a source does not compile; the message says why
   */
  public static void make(Path jar, List<Path> sources, String service, List<String> plugins)
      throws IOException {
    Path classes = Files.createTempDirectory("classes");
    try {
      make(jar, sources, service, plugins, classes);
    } finally {
      try (Stream<Path> all = Files.walk(classes)) {
        for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static void make(
      Path jar, List<Path> sources, String service, List<String> plugins, Path classes)
      throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    try (var files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of("-cp", System.getProperty("java.class.path"), "-d", classes.toString());
      boolean compiled =
          compiler
              .getTask(said, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
              .call();
      if (!compiled) {
        throw new IOException(said.toString());
      }
    }
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(out);
        Stream<Path> all = Files.walk(classes)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        entries.putNextEntry(new JarEntry(classes.relativize(file).toString()));
        entries.write(Files.readAllBytes(file));
      }
      entries.putNextEntry(new JarEntry("META-INF/services/" + service));
      entries.write(String.join("\n", plugins).getBytes(StandardCharsets.UTF_8));
    }
  }
}
