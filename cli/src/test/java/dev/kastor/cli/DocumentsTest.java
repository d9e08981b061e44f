package dev.kastor.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Promises of documents: the commands that they show exist with these options, links lead to pages
 * and headings, and sources are readable without a wide window.
 */
final class DocumentsTest {
  private static final Path ROOT = Path.of(System.getProperty("kastor.root", ".."));
  private static final int LONGEST_LINE = 120;
  private static final String GENERATED = "<!-- Below is generated";

  private static final Pattern SHELL = Pattern.compile("(?ms)^ *```sh\\n(.*?)^ *```");
  private static final Pattern COMMAND =
      Pattern.compile("^(?:[A-Z_]+=\\S+ +)*(?:(\\S*/)?kastor|kubectl kastor) +(.*)$");
  private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*)$");
  private static final Pattern LAUNCHED = Pattern.compile("(?m)^ {2}([a-z0-9]+)\\)$");

  private static List<Path> documents() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().endsWith(".md"))
          .filter(file -> {
            String inside = ROOT.relativize(file).toString();
            return !inside.matches("(.*/)?(target|node_modules|\\..+)/.*");
          })
          .toList();
    }
  }

  /** The text of a document without what tests generate from the code. */
  private static String written(Path document) throws IOException {
    String text = Files.readString(document);
    int generated = text.indexOf(GENERATED);
    return generated < 0 ? text : text.substring(0, generated);
  }

  @Tag("slow")
  @Test
  void commandsExistWithTheirOptions() throws IOException {
    Set<String> launched =
        LAUNCHED
            .matcher(Files.readString(ROOT.resolve("kastor")))
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toSet());
    assertThat(launched).contains("test", "build", "e2e");
    List<String> wrong = new ArrayList<>();
    int commands = 0;
    for (Path document : documents()) {
      Matcher block = SHELL.matcher(Files.readString(document));
      while (block.find()) {
        for (String line : block.group(1).replace("\\\n", " ").split("\n", -1)) {
          for (String part : line.replaceAll("(^| )#.*", "").split("&&?|\\||;|>", -1)) {
            Matcher command = COMMAND.matcher(part.strip());
            if (command.matches()) {
              commands++;
              List<String> words = words(command.group(2));
              if (!launched.contains(words.getFirst())) {
                check(document + ": " + part.strip(), words, wrong);
              }
            }
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(commands).isGreaterThan(60);
  }

  private static List<String> words(String text) {
    return WORD.matcher(text)
        .results()
        .map(word ->
            Stream.of(word.group(1), word.group(2), word.group(3))
                .filter(each -> each != null)
                .findFirst()
                .orElse(""))
        .toList();
  }

  private static void check(String what, List<String> words, List<String> wrong) {
    try {
      Kastor.commandLine().parseArgs(words.toArray(String[]::new));
    } catch (UnmatchedArgumentException e) {
      wrong.add(what + ": " + e.getMessage());
    } catch (CommandLine.ParameterException e) {
      // A placeholder such as N is no number, and … stands for arguments.
    }
  }

  @Tag("slow")
  @Test
  void linksLeadSomewhere() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path document : documents()) {
      Matcher link = LINK.matcher(withoutCode(Files.readString(document)));
      while (link.find()) {
        String target = link.group(1);
        if (target.matches("[a-z]+:.*")) {
          continue;
        }
        String[] parts = target.split("#", 2);
        Path file =
            parts[0].isEmpty()
                ? document
                : document.resolve("..").resolve(parts[0]).toAbsolutePath().normalize();
        if (!Files.exists(file)) {
          broken.add("%s: %s: there is no such file".formatted(document, target));
        } else if (parts.length == 2
            && file.toString().endsWith(".md")
            && !anchors(file).contains(parts[1])) {
          broken.add("%s: %s: there is no such heading".formatted(document, target));
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  private static String withoutCode(String text) {
    return text.replaceAll("(?ms)^ *```.*?^ *```", "").replaceAll("`[^`\n]*`", "code");
  }

  /** The names that GitHub gives headings. */
  private static Set<String> anchors(Path file) throws IOException {
    String text = Files.readString(file).replaceAll("(?ms)^ *```.*?^ *```", "");
    Set<String> anchors = new HashSet<>();
    HEADING
        .matcher(text)
        .results()
        .forEach(heading -> {
          String name =
              heading
                  .group(1)
                  .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
                  .strip()
                  .toLowerCase(Locale.ROOT)
                  .replaceAll("[^\\p{L}\\p{N} _-]", "")
                  .replace(' ', '-');
          for (int copy = 0; !anchors.add(copy == 0 ? name : name + "-" + copy); copy++) {}
        });
    return anchors;
  }

  @Test
  void linesFitAWindow() throws IOException {
    List<String> longLines = new ArrayList<>();
    for (Path document : documents()) {
      // Tables cannot be broken, and the reference pages are generated.
      if (document.toString().contains("/docs/reference/")) {
        continue;
      }
      List<String> lines = Arrays.asList(written(document).split("\n", -1));
      for (int i = 0; i < lines.size(); i++) {
        String line = lines.get(i);
        if (line.length() > LONGEST_LINE && !line.strip().startsWith("|")) {
          longLines.add("%s:%d: %d characters".formatted(document, i + 1, line.length()));
        }
      }
    }
    assertThat(longLines).isEmpty();
  }
}
