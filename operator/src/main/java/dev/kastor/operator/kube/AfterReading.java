package dev.kastor.operator.kube;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import java.io.IOException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Reads an object and gives something in its place. */
final class AfterReading extends DelegatingDeserializer {
  private static final long serialVersionUID = 1;

  private final transient UnaryOperator<Object> instead;

  AfterReading(JsonDeserializer<?> delegate, UnaryOperator<Object> instead) {
    super(delegate);
    this.instead = instead;
  }

  @Override
  protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> delegate) {
    return new AfterReading(delegate, instead);
  }

  @Override
  public @Nullable Object deserialize(JsonParser parser, DeserializationContext context)
      throws IOException {
    Object read = super.deserialize(parser, context);
    return read == null ? null : instead.apply(read);
  }
}
