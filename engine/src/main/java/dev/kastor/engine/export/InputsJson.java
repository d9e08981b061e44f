package dev.kastor.engine.export;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.kastor.engine.data.Buckets;
import dev.kastor.engine.data.Inputs;
import java.io.UncheckedIOException;
import java.util.List;

/** JSON of what inputs mean and of labels, as exported models carry them. */
public final class InputsJson {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .addMixIn(Inputs.class, InputsKinds.class)
          .addMixIn(Buckets.class, BucketsKinds.class)
          .build();

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Inputs.Features.class, name = "features"),
    @JsonSubTypes.Type(value = Inputs.Pixels.class, name = "pixels"),
    @JsonSubTypes.Type(value = Inputs.Numbers.class, name = "numbers"),
    @JsonSubTypes.Type(value = Inputs.Bytes.class, name = "bytes"),
    @JsonSubTypes.Type(value = Inputs.Sentences.class, name = "sentences"),
    @JsonSubTypes.Type(value = Inputs.Categories.class, name = "categories")
  })
  private interface InputsKinds {}

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Buckets.Values.class, name = "values"),
    @JsonSubTypes.Type(value = Buckets.Ranges.class, name = "ranges"),
    @JsonSubTypes.Type(value = Buckets.Hashed.class, name = "hashed")
  })
  private interface BucketsKinds {}

  private InputsJson() {}

  static String write(Inputs inputs) {
    try {
      return MAPPER.writerFor(Inputs.class).writeValueAsString(inputs);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String write(List<String> labels) {
    try {
      return MAPPER.writeValueAsString(labels);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * What inputs mean.
   *
   * @throws ExportException if the text does not say it
   */
  public static Inputs inputs(String text) throws ExportException {
    try {
      return MAPPER.readValue(text, Inputs.class);
    } catch (JsonProcessingException e) {
      throw new ExportException("what its inputs mean cannot be read: " + e.getOriginalMessage());
    }
  }

  /**
   * Names of classes.
   *
   * @throws ExportException if the text does not say them
   */
  public static List<String> labels(String text) throws ExportException {
    try {
      return MAPPER.readValue(text, new TypeReference<>() {});
    } catch (JsonProcessingException e) {
      throw new ExportException("its labels cannot be read: " + e.getOriginalMessage());
    }
  }
}
