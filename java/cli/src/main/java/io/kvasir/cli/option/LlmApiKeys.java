package io.kvasir.cli.option;

import java.util.Set;

/** The keys by which TensorRT-LLM configures an engine. Stateless. */
final class LlmApiKeys {

  /** All keys of the first level, with those of earlier releases. */
  static final Set<String> ALL =
      Set.of(
          """
          allreduce_strategy attention_dp_config attn_backend auto_parallel backend
          batch_wait_max_tokens_ratio batch_wait_timeout_iters batch_wait_timeout_ms
          batched_logits_processor batching_type build_config cache_transceiver_config calib_config
          chat_template checkpoint_format checkpoint_loader context_parallel_size cp_config
          cuda_graph_batch_sizes cuda_graph_config cuda_graph_max_batch_size
          cuda_graph_padding_enabled decoding_config disable_mm_encoder disable_overlap_scheduler
          dtype embedding_parallel_mode enable_attention_dp enable_autotuner enable_build_cache
          enable_chunked_prefill enable_iter_perf_stats enable_iter_req_stats
          enable_layerwise_nvtx_marker enable_lm_head_tp_in_adp enable_lora enable_min_latency
          enable_prompt_adapter enable_sleep enable_tqdm enable_trtllm_decoder
          encoder_max_batch_size encoder_max_num_tokens env_overrides
          extended_runtime_perf_knob_config fail_fast_on_attention_window_too_large fast_build
          force_dynamic_quantization free_gpu_memory_fraction garbage_collection_gen0_threshold
          gather_generation_logits gpus_per_node guided_decoding_backend
          iter_stats_max_iterations kv_cache_config kv_cache_dtype
          kv_cache_free_gpu_memory_fraction kv_connector_config load_format lora_config
          max_batch_size max_beam_width max_input_len max_num_tokens max_prompt_adapter_token
          max_seq_len mm_encoder_only mm_init_config model model_kwargs moe_backend
          moe_cluster_parallel_size moe_config moe_expert_parallel_size moe_load_balancer
          moe_max_num_tokens moe_tensor_parallel_size multimodal_config normalize_log_probs
          num_postprocess_workers num_serve_frontends nvfp4_gemm_config orchestrator_type
          peft_cache_config pipeline_parallel_size postprocess_tokenizer_dir pp_partition
          print_iter_log pytorch_backend_config quant_config ray_placement_config
          ray_worker_extension_cls reasoning_parser request_stats_max_iterations revision
          sampler_force_async_worker sampler_type scheduler_config served_model_name
          skip_tokenizer_init sparse_attention_config speculative_config stream_interval
          telemetry_config tensor_parallel_size tokenizer tokenizer_mode tokenizer_revision
          tool_parser torch_compile_config trust_remote_code use_cuda_graph use_torch_sampler
          video_pruning_rate workspace
          """
              .strip()
              .split("\\s+", -1));

  /** Keys that a gateway reads, at least in part. */
  private static final Set<String> TAKEN =
      Set.of(
          "cache_transceiver_config",
          "enable_attention_dp",
          "kv_cache_config",
          "max_batch_size",
          "tensor_parallel_size");

  private LlmApiKeys() {}

  /** Whether a key is the engines' own, so that a gateway takes nothing of it. */
  static boolean isEnginesOwn(String key) {
    return ALL.contains(key) && !TAKEN.contains(key);
  }
}
