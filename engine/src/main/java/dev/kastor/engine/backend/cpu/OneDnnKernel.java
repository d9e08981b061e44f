package dev.kastor.engine.backend.cpu;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.dnnl.IntMemoryMap;
import org.bytedeco.dnnl.memory;
import org.bytedeco.dnnl.primitive;
import org.bytedeco.dnnl.reorder;
import org.bytedeco.javacpp.Pointer;

/** A oneDNN primitive with the reorders before and after it that its layouts need. */
final class OneDnnKernel implements Kernel {
  private record Call(primitive work, IntMemoryMap arguments) {}

  /** A memory object of oneDNN that follows a place. */
  private static final class Operand {
    private final memory bound;
    private final Place place;
    private final long offset;
    private long address;

    Operand(memory bound, Place place, long offset) {
      this.bound = bound;
      this.place = place;
      this.offset = offset;
    }

    void follow() {
      MemorySegment segment = place.segment();
      if (segment.address() != address) {
        address = segment.address();
        bound.set_data_handle(OneDnn.pointer(segment.asSlice(offset)));
      }
    }
  }

  private final OneDnn oneDnn;
  private final List<Call> calls = new ArrayList<>();
  private final List<Pointer> owned = new ArrayList<>();
  private final IntMemoryMap arguments = new IntMemoryMap();
  private final List<Call> after = new ArrayList<>();
  private final List<Operand> operands = new ArrayList<>();

  OneDnnKernel(OneDnn oneDnn) {
    this.oneDnn = oneDnn;
  }

  /**
   * Adds an input that the primitive reads as it lies, so many bytes from where its place begins.
   */
  OneDnnKernel input(int argument, memory.desc layout, Place place, long offset) {
    arguments.put(argument, bound(layout, place, offset));
    return this;
  }

  /** Adds an input, reordered first if the primitive wants another layout than ours. */
  OneDnnKernel input(int argument, memory.desc ours, memory.desc wanted, Place place) {
    memory bound = bound(ours, place);
    if (ours.equals(wanted)) {
      arguments.put(argument, bound);
    } else {
      memory reordered = own(new memory(wanted, oneDnn.engine()));
      calls.add(reorder(bound, reordered));
      arguments.put(argument, reordered);
    }
    return this;
  }

  /** Adds the result, reordered last if the primitive gives another layout than ours. */
  OneDnnKernel output(int argument, memory.desc ours, memory.desc given, Place place) {
    memory bound = bound(ours, place);
    if (ours.equals(given)) {
      arguments.put(argument, bound);
    } else {
      memory raw = own(new memory(given, oneDnn.engine()));
      after.add(reorder(raw, bound));
      arguments.put(argument, raw);
    }
    return this;
  }

  /** Finishes the kernel with its primitive. */
  OneDnnKernel of(primitive work) {
    calls.add(new Call(own(work), own(arguments)));
    calls.addAll(after);
    return this;
  }

  private memory bound(memory.desc layout, Place place) {
    return bound(layout, place, 0);
  }

  private memory bound(memory.desc layout, Place place, long offset) {
    memory bound = own(oneDnn.unbound(layout));
    operands.add(new Operand(bound, place, offset));
    return bound;
  }

  private Call reorder(memory from, memory to) {
    IntMemoryMap fromTo = own(new IntMemoryMap());
    fromTo.put(org.bytedeco.dnnl.global.dnnl.DNNL_ARG_FROM, from);
    fromTo.put(org.bytedeco.dnnl.global.dnnl.DNNL_ARG_TO, to);
    return new Call(own(new reorder(from, to)), fromTo);
  }

  private <P extends Pointer> P own(P pointer) {
    owned.add(pointer);
    return pointer;
  }

  @Override
  public void run() {
    operands.forEach(Operand::follow);
    for (Call call : calls) {
      call.work.execute(oneDnn.stream(), call.arguments);
    }
    oneDnn.stream()._wait();
  }

  @Override
  public void close() {
    owned.reversed().forEach(Pointer::close);
  }
}
