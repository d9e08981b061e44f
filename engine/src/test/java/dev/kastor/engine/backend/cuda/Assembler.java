package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import jcuda.nvptxcompiler.JNvPTXCompiler;
import jcuda.nvptxcompiler.nvPTXCompilerHandle;

/** NVIDIA's assembler of PTX as a library, which needs no GPU. */
public final class Assembler {
  /** Turing, Ampere and Hopper. */
  public static final List<String> TARGETS = List.of("sm_75", "sm_80", "sm_90");

  private Assembler() {}

  /** The machine code of a module; fails with what the assembler says. */
  public static byte[] assemble(String ptx, String target) {
    JNvPTXCompiler.setExceptionsEnabled(false);
    nvPTXCompilerHandle compiler = new nvPTXCompilerHandle();
    byte[] text = ptx.getBytes(StandardCharsets.US_ASCII);
    byte[] ended = Arrays.copyOf(text, text.length + 1);
    assertThat(JNvPTXCompiler.nvPTXCompilerCreate(compiler, ended.length, ended)).isZero();
    try {
      String[] options = {"--gpu-name=" + target};
      int result = JNvPTXCompiler.nvPTXCompilerCompile(compiler, options.length, options);
      assertThat(result).as(() -> log(compiler) + ptx).isZero();
      long[] size = new long[1];
      assertThat(JNvPTXCompiler.nvPTXCompilerGetCompiledProgramSize(compiler, size)).isZero();
      byte[] code = new byte[Math.toIntExact(size[0])];
      assertThat(JNvPTXCompiler.nvPTXCompilerGetCompiledProgram(compiler, code)).isZero();
      return code;
    } finally {
      JNvPTXCompiler.nvPTXCompilerDestroy(compiler);
    }
  }

  private static String log(nvPTXCompilerHandle compiler) {
    long[] size = new long[1];
    JNvPTXCompiler.nvPTXCompilerGetErrorLogSize(compiler, size);
    byte[] log = new byte[Math.toIntExact(size[0]) + 1];
    JNvPTXCompiler.nvPTXCompilerGetErrorLog(compiler, log);
    return new String(log, StandardCharsets.US_ASCII).strip() + "\n";
  }
}
