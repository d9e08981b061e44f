package dev.kastor.cli.terminal;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.PrintWriter;
import java.util.stream.Stream;
import picocli.CommandLine.TypeConversionException;

/** Format in which a command prints what it read. */
public enum Output {
  /** For a person. */
  TABLE,
  /** For a person with a wide terminal. */
  WIDE,
  /** Names alone, one a line, as kubectl takes them. */
  NAME,
  JSON,
  YAML;

  private static final ObjectMapper AS_LINE = json();
  private static final ObjectMapper AS_JSON = json().enable(SerializationFeature.INDENT_OUTPUT);
  private static final ObjectMapper AS_YAML =
      YAMLMapper.builder()
          .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
          .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
          .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
          .build();

  /** JSON that holds every text as it is, and prints none that a terminal acts on. */
  private static ObjectMapper json() {
    ObjectMapper json = new ObjectMapper();
    json.getFactory().setCharacterEscapes(new UnprintableEscapes());
    return json;
  }

  /**
   * The format of that name.
   *
   * @throws TypeConversionException if there is none
   */
  public static Output of(String name) {
    return Stream.of(values())
        .filter(output -> output.name().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(() ->
            new TypeConversionException(
                "expected json, yaml, wide or name but was '%s'".formatted(name)));
  }

  /** Whether the answer is a document for a program. */
  public boolean document() {
    return this == JSON || this == YAML;
  }

  /** Writes a document in one line of JSON. */
  public static void line(Object document, PrintWriter out) {
    try {
      out.println(AS_LINE.writeValueAsString(document));
      out.flush();
    } catch (JsonProcessingException e) {
      throw new CliException(ExitCode.FAILED, "the answer cannot be written as JSON", e);
    }
  }

  /** Writes a document. */
  public void print(Object document, PrintWriter out) {
    try {
      if (this == YAML) {
        out.print(AS_YAML.writeValueAsString(document));
      } else {
        out.println(AS_JSON.writeValueAsString(document));
      }
      out.flush();
    } catch (JsonProcessingException e) {
      throw new CliException(ExitCode.FAILED, "the answer cannot be written as " + this, e);
    }
  }
}
