package dev.kastor.e2e.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Blocks of a document that are marked {@code sh}, as somebody who reads it types them. */
public final class CommandBlocks {
  private static final Pattern BLOCK =
      Pattern.compile("^( *)(?:\\d+\\. )?```sh\\n(.*?)^ *```$", Pattern.MULTILINE | Pattern.DOTALL);

  private CommandBlocks() {}

  /** The text of a page of the documentation. */
  public static String document(String name) throws IOException {
    return Files.readString(Shell.ROOT.resolve("docs").resolve(name));
  }

  /**
   * Runs all blocks of a text, one after the other, each of which has to end well.
   *
   * @param folder where they run
   * @return their first lines
   */
  public static List<String> run(String text, Path folder)
      throws IOException, InterruptedException {
    Matcher block = BLOCK.matcher(text);
    List<String> ran = new ArrayList<>();
    while (block.find()) {
      String commands = block.group(2).stripIndent();
      Shell.run(
              Map.of("PATH", Shell.ROOT + ":" + System.getenv("PATH")),
              "",
              List.of("bash", "-euo", "pipefail", "-c", "cd '" + folder + "'\n" + commands))
          .good();
      ran.add(commands.lines().findFirst().orElse(""));
    }
    return ran;
  }
}
