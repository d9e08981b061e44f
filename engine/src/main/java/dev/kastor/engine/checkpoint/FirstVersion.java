package dev.kastor.engine.checkpoint;

import static dev.kastor.engine.train.TrainingState.AUDIT;
import static dev.kastor.engine.train.TrainingState.CURSOR;
import static dev.kastor.engine.train.TrainingState.NOISE;
import static dev.kastor.engine.train.TrainingState.OPTIMIZER;
import static dev.kastor.engine.train.TrainingState.PARAMETERS;
import static dev.kastor.engine.train.TrainingState.SCALE_INVARIANT_STEPS;
import static dev.kastor.engine.train.TrainingState.STATISTICS;
import static dev.kastor.engine.train.TrainingState.STEP;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.Section.Form;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Version 1 of the byte form of a training state, which is read and no longer written.
 *
 * <p>It has no names: five numbers of 8 bytes, the lengths of the four arrays (4 bytes each), then
 * parameters, optimizer, statistics and noise estimator. So its sections are those of the model at
 * hand where the lengths are the same.
 */
final class FirstVersion {
  static final int VERSION = 1;

  /** Bytes before the arrays. */
  static final int FIXED_BYTES = 56;

  /** The lengths of the arrays, which stand in the file like a section. */
  static final Form LENGTHS = new Form("lengths", Section.Type.I64, 2);

  /** The values of an optimizer that is not the one at hand. */
  private static final String OTHER_OPTIMIZER = "optimizer";

  private FirstVersion() {}

  /** Bytes of a state of these sections. */
  static long encodedBytes(List<Form> model) {
    return LENGTHS.bytes() + StateCodec.elementBytes(model);
  }

  /**
   * The sections as they follow each other, with {@link #LENGTHS}.
   *
   * @param fixed the bytes before the arrays
   * @param stateBytes of the whole state
   * @param model sections of the model at hand
   * @throws CheckpointException if the arrays do not make so many bytes
   */
  static List<Form> forms(ByteBuffer fixed, long stateBytes, List<Form> model)
      throws CheckpointException {
    ByteBuffer lengths = fixed.slice(40, 4 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    int parameters = lengths.getInt();
    int optimizer = lengths.getInt();
    int statistics = lengths.getInt();
    int noise = lengths.getInt();
    if (parameters < 0 || optimizer < 0 || statistics < 0 || noise < 0) {
      throw new CheckpointException("an array of it has a negative length");
    }
    List<Form> forms = new ArrayList<>();
    forms.add(new Form(STEP, Section.Type.I64, 1));
    forms.add(new Form(SCALE_INVARIANT_STEPS, Section.Type.F64, 1));
    forms.add(new Form(CURSOR, Section.Type.I64, 1));
    forms.add(new Form(AUDIT, Section.Type.I64, 2));
    forms.add(LENGTHS);
    forms.add(new Form(PARAMETERS, Section.Type.F32, parameters));
    forms.addAll(optimizer(optimizer, model));
    forms.add(new Form(STATISTICS, Section.Type.F32, statistics));
    forms.add(new Form(NOISE, Section.Type.F64, noise));
    if (StateCodec.elementBytes(forms) != stateBytes) {
      throw new CheckpointException(
          "its arrays have %d bytes together and not %d"
              .formatted(StateCodec.elementBytes(forms), stateBytes));
    }
    return forms;
  }

  /** One vector without names: the slots of the optimizer at hand follow each other in it. */
  private static List<Form> optimizer(int length, List<Form> model) {
    List<Form> slots = model.stream().filter(form -> form.name().startsWith(OPTIMIZER)).toList();
    boolean fit =
        slots.stream().mapToLong(Form::length).sum() == length
            && slots.stream().allMatch(form -> form.type() == Section.Type.F32);
    if (fit) {
      return slots;
    }
    return length == 0 ? List.of() : List.of(new Form(OTHER_OPTIMIZER, Section.Type.F32, length));
  }
}
