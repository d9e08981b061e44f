package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.backend.KernelObserver;

/** Tells when a kernel runs. */
record ObservedKernel(Kernel kernel, KernelObserver.Runs runs) implements Kernel {
  @Override
  public void run() {
    long start = System.nanoTime();
    kernel.run();
    runs.ran(start, System.nanoTime());
  }

  @Override
  public void close() {
    kernel.close();
  }
}
