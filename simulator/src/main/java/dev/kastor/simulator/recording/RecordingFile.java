package dev.kastor.simulator.recording;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.scheduler.live.RecordingDocument;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceInput;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.format.DateTimeParseException;

/** Reader of the files that {@code kastor record} writes, compressed with gzip or not. */
public final class RecordingFile {
  private static final ObjectMapper JSON =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  private RecordingFile() {}

  /** Whether a file of applications is a recording: no other file of them is JSON. */
  public static boolean is(Path file) throws TraceException {
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (BufferedReader text = TraceInput.open(file)) {
      int first = text.read();
      while (first >= 0 && Character.isWhitespace(first)) {
        first = text.read();
      }
      return first == '{';
    } catch (IOException e) {
      throw TraceException.unreadable(file, e);
    }
  }

  /** Reads a file. */
  public static Recording read(Path file) throws TraceException {
    try (BufferedReader text = TraceInput.open(file)) {
      return Recording.of(JSON.readValue(text, RecordingDocument.class));
    } catch (NoSuchFileException e) {
      throw new TraceException("%s does not exist".formatted(file), e);
    } catch (JsonProcessingException e) {
      throw new TraceException(
          "%s, line %d: not a recording as kastor record writes it: %s"
              .formatted(
                  file,
                  e.getLocation() == null ? 1 : e.getLocation().getLineNr(),
                  e.getOriginalMessage()),
          e);
    } catch (IllegalArgumentException | NullPointerException | DateTimeParseException e) {
      throw new TraceException(
          "%s is not a recording as kastor record writes it: %s".formatted(file, e.getMessage()),
          e);
    } catch (IOException e) {
      throw TraceException.unreadable(file, e);
    }
  }
}
