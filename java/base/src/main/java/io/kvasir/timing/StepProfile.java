package io.kvasir.timing;

import java.util.Locale;

/**
 * Step times of known engines.
 *
 * <p>Apart from {@link #MOCKER}, the time of 1,000 prefill tokens and that of a decode step without
 * KV are measured and published, and with Vidur's also that of each decoding request and of
 * all-reduce. The others are computed: the quadratic term is causal attention at half of the peak
 * of the GPUs, and reading KV takes 79 % of their memory bandwidth, with 1,048,576 KV tokens. That
 * each prefill step takes 5 ms more is assumed.
 */
public enum StepProfile {
  /** The mocker engine of NVIDIA Dynamo: a fast engine of a small model. */
  MOCKER(StepTiming.DEFAULT),

  /**
   * Llama-3-8B on an A100 (312 TFLOPS, 2.04 TB/s, 128 KiB of KV per token). Measured by Vidur
   * (Agrawal et al., MLSys 2024): 66.6 ms for 1,000 prefill tokens, 9.7 ms for a decode step and
   * 0.027 ms for each request in it.
   */
  LLAMA3_8B_A100(profile(1.7e-6, 0.0666, 86, 9.7).with(measured(0.027, 0, 0))),

  /**
   * Llama-2-70B on four H100 (989 TFLOPS, 3.35 TB/s each, 320 KiB of KV per token). Measured by
   * Vidur: 54.2 ms for 1,000 prefill tokens, 14.3 ms for a decode step and 0.013 ms for each
   * request in it, without the 160 all-reduces, of which each takes 0.03 ms and 5 ms per GB.
   */
  LLAMA2_70B_4H100(profile(6.6e-7, 0.0542, 33, 14.3).with(measured(0.013, 4.8, 0.013))),

  /**
   * A rank of DeepSeek-V3 with attention data parallelism on an H800 (989 TFLOPS, 3.35 TB/s, 70,272
   * bytes of KV per token). From a published profile, rounded: 248 ms for 1,000 prefill tokens and
   * 28 ms for a decode step.
   */
  DSV3_H800_RANK(profile(5.1e-6, 0.248, 28, 28));

  @SuppressWarnings("ImmutableEnumChecker") // a record of numbers
  private final StepTiming timing;

  StepProfile(StepTiming timing) {
    this.timing = timing;
  }

  private static StepTiming profile(
      double prefillQuadratic, double prefillLinear, double decodeLinear, double decodeMs) {
    return new StepTiming(
        prefillQuadratic, prefillLinear, 5, 0, decodeLinear, decodeMs, 1, 1L << 20);
  }

  /**
   * Vidur's measurements of the layers. Those of prompt and decoded tokens together take about as
   * long as those of the prompt tokens alone, which hides about half of a decode step. Engines
   * capture graphs for multiples of 8 requests.
   */
  private static StepOverheads measured(
      double requestMs, double allReduceMs, double allReduceTokenMs) {
    return new StepOverheads(requestMs, 8, allReduceMs, allReduceTokenMs, 0.5);
  }

  /** {@return the name that options and documents use} */
  public String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** {@return its step times} */
  public StepTiming timing() {
    return timing;
  }
}
