package dev.kastor.operator.api;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.AnnotatedParameter;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.kastor.protocol.StepCount;
import dev.kastor.protocol.TelemetryReport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Executable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads reports and believes nothing: unknown, missing, doubled and null fields, numbers as text,
 * fractions for whole numbers and anything not finite are refused with the field's name.
 */
final class ReportReader {
  private static final int MOST_NESTED = 8;
  private static final int LONGEST_NUMBER = 64;
  private static final int LONGEST_TEXT = 8192;

  private static final ObjectReader REPORTS = reader();
  private static final ObjectReader COUNTS = REPORTS.forType(StepCount.class);

  private ReportReader() {}

  /**
   * The report in a body; of what follows {@link TelemetryReport#MAX_BYTES} bytes none is kept.
   *
   * @param length of the body in bytes; negative if that is not known
   */
  static TelemetryReport read(InputStream body, long length) throws ApiException, IOException {
    return read(REPORTS, TelemetryReport.class, body, length);
  }

  /** The count in a body, as {@link #read(InputStream, long)}. */
  static StepCount readCount(InputStream body, long length) throws ApiException, IOException {
    return read(COUNTS, StepCount.class, body, length);
  }

  private static <T> T read(ObjectReader reader, Class<T> type, InputStream body, long length)
      throws ApiException, IOException {
    // A reader that does not know makes room for many times what most reports take.
    boolean small = length >= 0 && length <= TelemetryReport.MAX_BYTES;
    byte[] bytes = new byte[small ? (int) length : TelemetryReport.MAX_BYTES + 1];
    int read = body.readNBytes(bytes, 0, bytes.length);
    if (read > TelemetryReport.MAX_BYTES) {
      // Else the connection would end before the sender reads why. The server has its own limit.
      body.transferTo(OutputStream.nullOutputStream());
      throw ApiException.tooLarge(
          "a report may have at most %d bytes".formatted(TelemetryReport.MAX_BYTES));
    }
    try {
      T report = type.cast(reader.readValue(bytes, 0, read));
      if (report == null) {
        throw ApiException.badRequest("the body must be a report, not null");
      }
      return report;
    } catch (JsonMappingException e) {
      throw ApiException.badRequest(describe(e));
    } catch (JsonProcessingException e) {
      throw ApiException.badRequest("the body is not JSON: " + e.getOriginalMessage());
    }
  }

  private static String describe(JsonMappingException e) {
    String path =
        e.getPath().stream()
            .map(step -> step.getFieldName() == null ? "" + step.getIndex() : step.getFieldName())
            .collect(Collectors.joining("."));
    if (e instanceof UnrecognizedPropertyException) {
      return "%s: there is no such field".formatted(path);
    }
    if (e instanceof ValueInstantiationException && e.getCause() != null) {
      // The records' own checks name the field themselves.
      return String.valueOf(e.getCause().getMessage());
    }
    return "%s: %s".formatted(path.isEmpty() ? "body" : path, e.getOriginalMessage());
  }

  private static ObjectReader reader() {
    var factory =
        JsonFactory.builder()
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(MOST_NESTED)
                    .maxNumberLength(LONGEST_NUMBER)
                    .maxStringLength(LONGEST_TEXT)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            // What is kept by thread is made anew for each report: each has a thread of its own.
            .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
            .build();
    return JsonMapper.builder(factory)
        .annotationIntrospector(new RequiredUnlessNullable())
        .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
        .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
        .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .build()
        .readerFor(TelemetryReport.class);
  }

  /** A component of a wire record is required and not null unless the record marks it Nullable. */
  private static final class RequiredUnlessNullable extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1;

    @Override
    public @Nullable Boolean hasRequiredMarker(AnnotatedMember member) {
      return member instanceof AnnotatedParameter parameter
          ? Boolean.valueOf(!nullable(parameter))
          : super.hasRequiredMarker(member);
    }

    @Override
    public JsonSetter.Value findSetterInfo(Annotated annotated) {
      return annotated instanceof AnnotatedParameter parameter && !nullable(parameter)
          ? JsonSetter.Value.construct(Nulls.FAIL, Nulls.FAIL)
          : super.findSetterInfo(annotated);
    }

    private static boolean nullable(AnnotatedParameter parameter) {
      return parameter.getOwner().getAnnotated() instanceof Executable constructor
          && constructor.getAnnotatedParameterTypes()[parameter.getIndex()].isAnnotationPresent(
              Nullable.class);
    }
  }
}
