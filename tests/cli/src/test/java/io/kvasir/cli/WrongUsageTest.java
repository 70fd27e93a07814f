package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Wrong options, arguments and files: one line that names what is wrong, and the exit code. */
class WrongUsageTest {

  @TempDir private Path folder;

  private static Outcome run(String line) {
    return Outcome.of(Map.of(), line);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "replay --ranks 0 | --ranks must be an integer from 1 to 4096, not '0'",
        "replay --ranks many | --ranks must be an integer from 1 to 4096, not 'many'",
        "replay --pool-tokens 31 | --pool-tokens must be an integer from 32 to 2147483647, not '31'",
        "replay --groups window:64 | --groups must be full, then any of window:N, mamba and mamba:N, not 'window:64'",
        "replay --groups full,chunked | --groups must be full, then any of window:N, mamba and mamba:N, not 'chunked'",
        "replay --groups full,window:64:2 | --groups must be full, then any of window:N, mamba and mamba:N, not 'window:64:2'",
        "replay --groups full, | --groups must be full, then any of window:N, mamba and mamba:N, not ''",
        "replay --groups full,full | --groups must have full once, as its first group",
        "replay --groups full,window:1 | --groups must have 2 to 16777216 tokens in window:N, not 'window:1'",
        "replay --groups full,window: | --groups must have 2 to 16777216 tokens in window:N, not 'window:'",
        "replay --groups full,mamba:40 | --groups must have a multiple of the block size in mamba:N, 32, not 'mamba:40'",
        "replay --groups full,mamba:0 | --groups must have a multiple of the block size in mamba:N, 32, not 'mamba:0'",
        "replay --groups full,mamba,mamba,mamba,mamba,mamba,mamba,mamba,mamba,mamba,mamba,mamba,mamba,mamba,mamba,mamba,mamba | --groups must have at most 16 groups, not 17",
        "bench policies --groups mamba | --groups must be full, then any of window:N, mamba and mamba:N, not 'mamba'",
        "engine --groups full,mamba --flavor sglang | --groups of a hybrid model needs --flavor vllm or none, not sglang",
        "engine --groups full,mamba --flavor trtllm | --groups of a hybrid model needs --flavor vllm or none, not trtllm",
        "serve --worker http://127.0.0.1:1 --groups full,mamba | --groups is for embedded ranks and excludes --worker",
        "replay --router best | --router must be one of default, kv_cache_aware, conversation, projected, not 'best'",
        "replay --router default,default | --router must name each value once, not 'default,default'",
        "replay --format yaml | --format must be one of text, json, not 'yaml'",
        "replay --capacity-scheduler-policy none | --capacity-scheduler-policy must be one of guaranteed_no_evict, max_utilization, not 'none'",
        "replay --kv-cache-routing-match-rate-threshold 1.1 | --kv-cache-routing-match-rate-threshold must be a number from 0.0 to 1.0, not '1.1'",
        "replay --kv-cache-routing-cold-start-warmup maybe | --kv-cache-routing-cold-start-warmup must be one of false, true, not 'maybe'",
        "replay --turns 8-3 | --turns must be MIN-MAX with 1 <= MIN <= MAX <= 1000, not '8-3'",
        "replay --turns 3-4-5 | --turns must be MIN-MAX with 1 <= MIN <= MAX <= 1000, not '3-4-5'",
        "replay --think-seconds 1f | --think-seconds must be a number from 0.0 to 1000000.0, not '1f'",
        "replay --think-seconds 0x1p3 | --think-seconds must be a number from 0.0 to 1000000.0, not '0x1p3'",
        "replay --ranks \uff18 | --ranks must be an integer from 1 to 4096, not '\uff18'",
        "replay --turns \uff13-8 | --turns must be MIN-MAX with 1 <= MIN <= MAX <= 1000, not '\uff13-8'",
        "replay --think-seconds NaN | --think-seconds must be a number from 0.0 to 1000000.0, not 'NaN'",
        "replay --speed 2 | --speed needs --trace or --rate",
        "replay --rate 2 --ramp-seconds 3 | --ramp-seconds needs --concurrency",
        "replay --mode decode | --mode must be one of aggregated, context, not 'decode'",
        "replay --transfer-bandwidth 25 | --transfer-bandwidth needs --mode context",
        "replay --generation-ms-per-token 5 | --generation-ms-per-token needs --mode context",
        "replay --mode context --transfer-bandwidth 0 | --transfer-bandwidth must be a number from 1.0E-6 to 1000000.0, not '0'",
        "replay --speed 2 --concurrency 3 | --concurrency and --speed exclude each other",
        "replay --rate 2 --concurrency 3 | --concurrency and --rate exclude each other",
        "replay --trace x --workload uniform | --trace and --workload exclude each other",
        "replay --recording x --trace x | --trace and --recording exclude each other",
        "replay --recording x --workload uniform | --recording and --workload exclude each other",
        "replay --recording x --rate 2 | --rate needs a generated workload",
        "replay --recording x --trace-block-tokens 16 | --trace-block-tokens needs --trace",
        "replay --recording x --sessions 2 | --sessions does not apply to a recording",
        "serve --record-max-mb 1 | --record-max-mb needs --record",
        "replay --trace x --sessions 3 | --sessions does not apply to a trace",
        "replay --workload uniform --sessions 3 | --sessions does not apply to --workload uniform",
        "replay --trace-block-tokens 16 | --trace-block-tokens needs --trace",
        "replay --trace-time-unit s | --trace-time-unit needs --trace",
        "replay --trace-columns timestamp=a,input=b,output=c | --trace-columns needs --trace",
        "replay --trace-sort | --trace-sort needs --trace",
        "replay --trace x --trace-columns timestamp=a,input=b | --trace-columns must be timestamp=COLUMN,input=COLUMN,output=COLUMN[,session=COLUMN], not 'timestamp=a,input=b'",
        "replay --trace x --trace-sort maybe | --trace-sort must be one of false, true, not 'maybe'",
        "replay --trace x --trace-time-unit minutes | --trace-time-unit must be one of s, ms, us, ns, not 'minutes'",
        "replay --workload uniform --rate 0.001 --speed 0.001 | --rate makes the replay last about 2.0e+09 s of modelled time; it may last 1e+09",
        "replay --rate 0.000001 --sessions 2000 | --rate makes the replay last about 2.0e+09 s of modelled time; it may last 1e+09",
        "replay --think-seconds 1000000 --sessions 1000 --turns 5 --concurrency 4 | --think-seconds makes the replay last about 1.3e+09 s of modelled time; it may last 1e+09",
        "replay --trace no/such.jsonl | no/such.jsonl: no such file",
        "replay --rates 3 | Unknown option: '--rates' (did you mean --rate?); see kvasir replay --help",
        "serve --prot 18080 | Unknown option: '--prot' (did you mean --port?); see kvasir serve --help",
        "serve --prot=18080 --hots x | Unknown options: '--prot' (did you mean --port?), '--hots' (did you mean --host?); see kvasir serve --help",
        "replay --kv-overlap-score-weight 3 | Unknown option: '--kv-overlap-score-weight'; see kvasir replay --help",
        "serve --prefill http://a:1 8998 --decode http://b:2 | Unmatched argument at index 3: '8998'; a bootstrap port is a key of its worker: --prefill URL,bootstrap_port=PORT; see kvasir serve --help",
        "serve --prefill=http://a:1 none --decode http://b:2 | Unmatched argument at index 2: 'none'; a bootstrap port is a key of its worker: --prefill URL,bootstrap_port=PORT; see kvasir serve --help",
        "replay trace.jsonl | Unmatched argument at index 1: 'trace.jsonl'; requests are read from --trace trace.jsonl; see kvasir replay --help",
        "bench policies trace.jsonl | Unmatched argument at index 2: 'trace.jsonl'; requests are read from --trace trace.jsonl; see kvasir bench policies --help",
        "replay -x | Unknown option: '-x'; see kvasir replay --help",
        "replay --router projectd | --router must be one of default, kv_cache_aware, conversation, projected, not 'projectd' (did you mean projected?)",
        "replay --workload multiturn | --workload must be one of multi_turn, agentic, shared_prefix, uniform, not 'multiturn' (did you mean multi_turn?)",
        "replay --fleet-router RoundRobin | --fleet-router must be one of round_robin, load_balancing, kv_cache_aware, conversation, cost, approximate, polled, projected, affinity, not 'RoundRobin' (did you mean round_robin?)",
        "serve --fleet-router atuo | --fleet-router must be one of auto, round_robin, load_balancing, kv_cache_aware, conversation, cost, approximate, projected, affinity, not 'atuo' (did you mean auto?)",
        "serve --fleet-router-args max_sessions=9 | --fleet-router-args needs --fleet-router NAME: routers differ in their args",
        "serve --fleet-router Polled | --fleet-router must not be polled: it needs the engines' metrics, which the gateway does not poll; projected computes the load from the requests",
        "serve --prefill http://a:1 | --prefill needs --decode URL: no worker generates the answers to the computed prompts",
        "serve --decode http://a:1 | --decode needs --prefill URL: no worker computes the prompts",
        "serve --worker http://a:1,role=decode | --worker needs --prefill URL: no worker computes the prompts",
        "serve --prefill http://a:1,role=decode --decode http://b:1 | --prefill is wrong: role=decode contradicts --prefill",
        "serve --prefill http://a:1 --prefill http://b:1,flavor=sglang --decode http://c:1 --decode http://d:1,flavor=sglang | --prefill must have one protocol for all workers with role=prefill, not disagg=nixl and bootstrap: each needs a gateway of its own",
        "serve --prefill http://a:1 --decode http://b:1,flavor=sglang | --prefill must speak the protocol of role decode: disagg is nixl with role=prefill and bootstrap with role=decode",
        "serve --prefill http://a:1 --decode http://a:1 | --worker must name each engine once",
        "serve --prefill-router cost | --prefill-router needs --prefill and --decode",
        "serve --worker http://a:1 --schedule-style generation_first | --schedule-style needs --prefill and --decode",
        "serve --prefill http://a:1 --decode http://b:1 --decode-router polled | --decode-router must not be polled: it needs the engines' metrics, which the gateway does not poll; projected computes the load from the requests",
        "serve --prefill http://a:1 --decode http://b:1 --decode-router-args max_sessions=9 | --decode-router-args needs --decode-router NAME: routers differ in their args",
        "serve --prefill http://a:1 --decode http://b:1 --prefill-router conversation --prefill-router-args max_sessions=0 | --prefill-router-args is wrong: max_sessions must be at least 1, not 0",
        "serve --prefill http://a:1 --decode http://b:1 --max-local-prefill-tokens 9 --decode-router round_robin | --max-local-prefill-tokens needs a router of decode that matches prompts, not round_robin",
        "serve --prefill http://a:1 --decode http://b:1 --prefill-timeout-seconds 300 | --prefill-timeout-seconds must be a number from 0.001 to 290.0, not '300'",
        "serve --prefill http://a:1 --decode http://b:1 --disagg-auth-key-env NO_SUCH | --disagg-auth-key-env is wrong: value 'NO_SUCH' names a variable that is not set",
        "serve --prefill http://a:1 --decode http://b:1 --nixl-both-ways true --router-replica-sync tcp://*:1 --router-replica-peers tcp://b:1 | --nixl-both-ways excludes --router-replica-sync: no gateway sees what others answer in a conversation",
        "serve --worker http://a:1 --admin-key-file nowhere | --admin-key-file is wrong: its file 'nowhere' cannot be read: nowhere: no such file or directory",
        "serve --worker http://a:1 --api-keys-file nowhere | --api-keys-file is wrong: nowhere: no such file or directory",
        "serve --worker http://a:1 --forward-authorization true | --forward-authorization needs --api-keys-file",
        "top --admin-url ftp://a | --admin-url must be http://HOST:PORT, not 'ftp://a'",
        "top --interval-seconds 0 | --interval-seconds must be a number from 0.1 to 3600.0, not '0'",
        "top http://a:8081 | Unmatched argument at index 1: 'http://a:8081'; see kvasir top --help",
        "keys | --file is missing",
        "keys grow --file f | the first word must be one of list, add, revoke, not 'grow'",
        "keys add --file f | --name is missing: add needs one",
        "keys add --file f --name a/b | --name must be 1 to 64 letters, digits, '.', '_', '@' and '-', the first one a letter or a digit, not 'a/b'",
        "keys add a --file f | KEY has no effect with add",
        "keys revoke --file f | KEY is missing: revoke needs one",
        "keys list --file nowhere | --file is wrong: nowhere: no such file or directory",
        "keys list --file f --tenant t | --tenant has no effect with list",
        "serve --upstream http://b:1 | --upstream needs --shadow-ranks",
        "serve --upstream http://b:1 --shadow-ranks 8 | --shadow-ranks needs --shadow",
        "serve --upstream http://b:1 --worker http://a:1 --shadow cost --shadow-ranks 8 | --upstream and --worker exclude each other",
        "serve --upstream http://b:1 --prefill http://a:1 --decode http://c:1 --shadow cost --shadow-ranks 8 | --upstream and --worker exclude each other",
        "serve --upstream http://b:1 --fleet-router cost --shadow cost --shadow-ranks 8 | --upstream and --fleet-router exclude each other",
        "serve --upstream http://b:1,ranks=2 --shadow cost --shadow-ranks 8 | --upstream is wrong: ranks must not be repeated",
        "serve --upstream b:1 --shadow cost --shadow-ranks 8 | --upstream is wrong: the URL must be http://host:port, not 'b:1'",
        "serve --worker http://a:1 --shadow cost --shadow-ranks 4097 | --shadow-ranks must be an integer from 0 to 4096, not '4097'",
        "serve --worker http://a:1 --shadow cost --shadow-pool-tokens 9 | --shadow-pool-tokens needs --shadow-ranks",
        "serve --ssl-certfile a.pem | --ssl-certfile needs --ssl-keyfile",
        "serve --ssl-keyfile a.pem | --ssl-keyfile needs --ssl-certfile",
        "workers grow | the first word must be one of list, add, cordon, uncordon, drain, weight, remove, not 'grow'",
        "workers add | WORKER is missing: add needs one",
        "workers list a:1 | WORKER has no effect with list",
        "workers --admin-url a:1 | --admin-url must be http://HOST:PORT, not 'a:1'",
        "workers --admin-key-file nowhere | --admin-key-file cannot be read: nowhere: no such file or directory",
        "serve --worker http://a:1 --nixl-both-ways true | --nixl-both-ways needs --prefill and --decode",
        "serve --prefill http://a:1,disagg=mooncake --decode http://b:1,disagg=mooncake --nixl-both-ways true | --nixl-both-ways needs workers with disagg=nixl, not mooncake",
        "serve --router-replica-peers tcp://b:1 | --router-replica-peers needs --router-replica-sync",
        "serve --router-replica-sync tcp://*:1 | --router-replica-sync needs --router-replica-peers",
        "serve --router-replica-sync tcp://*:1 --router-replica-peers tcp://b:1 | --router-replica-sync needs --worker: no other gateway can be in front of embedded ranks",
        "serve --worker http://a:1 --router-replica-sync b:1 --router-replica-peers tcp://b:1 | --router-replica-sync must be tcp://HOST:PORT with a port from 1 to 65535, not 'b:1'",
        "serve --worker http://a:1 --router-replica-sync tcp://*:1 --router-replica-peers tcp://b:0 | --router-replica-peers must be tcp://HOST:PORT with a port from 1 to 65535, not 'tcp://b:0'",
        "replay --prefill-workers 1 --decode-workers 1 --max-local-prefill-tokens 9 --decode-router round_robin | --max-local-prefill-tokens needs a router of decode that matches prompts, not round_robin",
        "replay --prefill-workers 1 --decode-workers 1 --max-local-prefill-tokens 9 --fleet-router cost,load_balancing | --max-local-prefill-tokens needs a router of decode that matches prompts, not load_balancing",
        "replay --prefill-workers 1 --decode-workers 1 --decode-router-args load_weight=1 | --decode-router-args needs --decode-router NAME: routers differ in their args",
        "replay --prefill-workers 1 --decode-workers 1 --prefill-router cost --decode-router cost --fleet-router projected | --fleet-router has no effect with both --prefill-router and --decode-router",
        "replay --prefill-workers 1 --decode-workers 1 --prefill-router cost --decode-router cost --fleet-router-args load_weight=1 | --fleet-router-args has no effect with both --prefill-router and --decode-router",
        "replay --prefill-workers 1 --decode-workers 1 --ranks 2 --fleet-router polled | --ranks must be 1 with --fleet-router polled, not 2",
        "replay --prefill-workers 1 --decode-workers 1 --ranks 2 --decode-router polled | --ranks must be 1 with --decode-router polled, not 2",
        "replay --enable-block-reuse ture | --enable-block-reuse must be one of false, true, not 'ture' (did you mean true?)",
        "replay --rank 3 | --rank needs --world-size too (did you mean --ranks?)",
        "replay --rank 3 --collective tcp | --rank needs --world-size too",
        "replay --goodput ttft | --goodput must be limits in ms, such as ttft:500,tpot:50 or e2el:20000, not 'ttft'",
        "replay --goodput ttft:1,ttft:2 | --goodput must name ttft once, not 'ttft:1,ttft:2'",
        "replay --goodput ttft:0 | --goodput must be a number from 0.001 to 1.0E9, not '0'",
        "replay --ssl-certfile a | --ssl-certfile needs --ssl-keyfile too",
        "replay --ssl-ca-certs a | --ssl-ca-certs needs --ssl-certfile",
        "replay --ranks | Missing required parameter for option '--ranks' (N); see kvasir replay --help",
        "bench policies --load 8 | --load must be RANKS@SHARE or RANKSxN, for example 8@0.8 or 8x20, not '8'",
        "bench policies --load 8@1 | --load must be a number from 0.01 to 0.99, not '1'",
        "bench policies --load 0@0.5 | --load must be an integer from 1 to 4096, not '0'",
        "bench policies --pool-tokens 1000 | --pool-tokens must be an integer from 1024 to 2147483647, not '1000'",
        "bench policies --seeds 1,1 | --seeds must name each value once, not '1,1'",
        "bench policies --seeds 1,2,3,4,5,6,7,8,9,10,11 | --seeds must have at most 10 values",
        "bench policies --router best | --router must be one of default, kv_cache_aware, conversation, projected, not 'best'",
        "bench proxy --rounds 101 | --rounds must be an integer from 0 to 100, not '101'",
        "bench proxy --chunk-rate 6k | --chunk-rate must be an integer from 50 to 100000, not '6k'",
        "bench policies --router default --fleet-router cost | --fleet-router and --router exclude each other",
        "bench policies --trace-sort | --trace-sort needs --trace",
        "bench policies --turns-wait | --turns-wait needs --trace",
        "bench policies --fleet-router cost --foreign-load 0,1 | --foreign-load must be below 1: latencies of those requests are not measured",
        "replay --hang 0@40-20 | --hang is wrong: TO must be after FROM in '0@40-20'",
        "replay --slow 0=2@0-20/10 | --slow is wrong: EVERY must be longer than FROM to TO in '0=2@0-20/10'",
        "bench policies --bursts 0.05 | --bursts must be a number from 0.1 to 86400.0, not '0.05'",
        "bench policies --workload closed_loop --bursts 0,5 | --bursts must be 0 with --workload closed_loop",
        "replay --turns-wait | --turns-wait needs --trace or --recording",
        "bench policies --trace no/such.jsonl | no/such.jsonl: no such file",
        "engine --flavor tgi | --flavor must be one of vllm, sglang, trtllm, not 'tgi'",
        "engine --events map | --events needs --flavor",
        "engine --topic kv | --topic needs --flavor",
        "engine --flavor vllm --replay long | --replay needs --events",
        "engine --flavor vllm --events xml | --events must be one of map, array, mixed, none, not 'xml'",
        "engine --flavor vllm --events map --replay brief | --replay must be one of short, long, none, not 'brief'",
        "engine --flavor trtllm --events array | --flavor is trtllm, and events must be map or none, not array",
        "engine --flavor trtllm --events map --replay short | --flavor is trtllm, and replay must be long or none, not short",
        "engine --flavor sglang --events map --event-hashes bytes | --flavor is sglang, and handles must be numbers, not bytes",
        "engine --flavor vllm --events map --dp 8 --events-port 65530 | --events-port must be an integer from 0 to 65528, not '65530'",
        "engine --flavor vllm --events map --dp 8 --replay-port 5560 | --replay-port must be at least 8 from --events-port, one for each rank",
        "engine --role prefill | --role needs --flavor",
        "engine --flavor vllm --role middle | --role must be one of prefill, decode, both, not 'middle'",
        "engine --flavor vllm --lease-seconds 3 | --lease-seconds needs --role",
        "engine --flavor sglang --role both | --role does not fit: an engine of SGLang is for prefill or for decode",
        "engine --flavor trtllm --role context --kv-connector nixl | --kv-connector needs --flavor vllm, not trtllm",
        "engine --flavor vllm --role both --kv-connector mooncake --side-channel-port 5600 | --side-channel-port needs --kv-connector nixl or nixl_push",
        "engine --flavor sglang --role decode --lease-seconds 3 | --lease-seconds needs --kv-connector nixl or nixl_push",
        "engine --flavor vllm --role decode --decoder-kv-blocks-ttl 3 | --decoder-kv-blocks-ttl needs --bidirectional-kv-xfer true",
        "engine --flavor vllm --role decode --bootstrap-port 0 | --bootstrap-port needs --kv-connector mooncake, or --flavor sglang",
        "engine --flavor vllm --role both --kv-connector p2p | --kv-connector must be one of nixl, nixl_push, mooncake, not 'p2p'",
        "engine --flavor vllm --role both --kv-connector mooncake --bidirectional-kv-xfer true | --role does not fit: only nixl moves KV both ways",
        "engine --flavor vllm --role decode --groups full,mamba | --groups of a hybrid model excludes --role",
        "engine --dp 0 | --ranks must be an integer from 1 to 4096, not '0'",
        "repaly | Unmatched argument at index 0: 'repaly' (did you mean replay?); see kvasir --help",
      })
  void wrongUsageIsOneLineAndExitCodeTwo(String line, String error) {
    Outcome outcome = run(line);

    assertThat(outcome.err()).isEqualTo(error + "\n");
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.exitCode()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "replay --ranks LONG | --ranks must be an integer from 1 to 4096, not 'CUT'",
        "replay --LONG | Unknown option: '--CUT'; see kvasir replay --help",
        "replay --LONG=3 | Unknown option: '--CUT'; see kvasir replay --help",
        "replay LONG | Unmatched argument at index 1: 'CUT'; see kvasir replay --help",
        "replay LONG LONG | Unmatched arguments from index 1: 'CUT; see kvasir replay --help",
        "LONG | Unmatched argument at index 0: 'CUT'; see kvasir --help",
        "replay --verbose=LONG | Invalid value for option '--verbose': 'CUT' is not a boolean; see"
            + " kvasir replay --help",
      })
  void longArgumentsAreCutInErrors(String line, String error) {
    Outcome outcome = run(line.replace("LONG", "n".repeat(100_000)));

    assertThat(outcome.err().replaceFirst("n{190,200}\\.\\.\\. \\(\\d+ characters\\)", "CUT"))
        .isEqualTo(error + "\n");
    assertThat(outcome.exitCode()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "replay --trace PATH | 2 | CUT: no such file",
        "replay --trace . --config PATH | 2 | CUT: no such file",
        "bench policies --trace PATH | 2 | CUT: no such file",
        "replay --recording PATH | 2 | CUT: no such file",
        "serve --port 0 --record PATH | 2 | --record cannot be opened: CUT: no such file or directory",
        "bench index --trace PATH | 2 | CUT: no such file",
        "index PATH | 2 | FILE must be a file, not 'CUT'",
        "record --replay PATH | 2 | CUT: no such file",
        "record --repair PATH | 2 | CUT: no such file",
        "record --output PATH | 1 | CUT: no such file or directory",
        "serve --port 0 --access-log PATH | 2 | --access-log cannot be opened: CUT: no such file or"
            + " directory",
      })
  void longPathsAreCutInErrors(String line, int exitCode, String error) {
    String path = "none/" + "n".repeat(250) + "/trace.jsonl";
    String shown = path.substring(0, 200) + "... (" + path.length() + " characters)";

    Outcome outcome = run(line.replace("PATH", path));

    assertThat(outcome.err()).isEqualTo(error.replace("CUT", shown) + "\n");
    assertThat(outcome.exitCode()).isEqualTo(exitCode);
  }

  @Test
  void longWordsOfAnArgumentFileAreCutInErrors() throws IOException {
    Path words = Files.writeString(folder.resolve("words"), "--" + "n".repeat(100_000));

    assertThat(run("replay @" + words).err())
        .startsWith("Unknown option: '--nnn")
        .hasSizeLessThan(300);
  }

  @Test
  void aBrokenTraceIsNamedByFileAndLine() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    Files.writeString(
        trace,
        "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": \"x\"}\n");

    Outcome outcome = run("replay --trace " + trace);

    assertThat(outcome.err()).isEqualTo(trace + ":1: hash_ids must be an array of integers\n");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(run("replay --verbose --trace " + trace).err()).contains("\tat io.kvasir.");
  }

  @Test
  void aTraceThatWouldOutlastVirtualTimeIsRefused() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    String row =
        "{\"timestamp\": %d, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": []}\n";
    Files.writeString(trace, row.formatted(0) + row.formatted(10_800_000));

    Outcome outcome = run("replay --speed 0.000001 --trace " + trace);

    assertThat(outcome.err())
        .isEqualTo(
            "--speed makes the replay last about 1.1e+10 s of modelled time; it may last 1e+09\n");
    assertThat(outcome.exitCode()).isEqualTo(2);
  }
}
