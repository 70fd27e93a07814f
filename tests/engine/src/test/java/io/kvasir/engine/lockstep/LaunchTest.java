package io.kvasir.engine.lockstep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What launchers say in the environment, as each of them writes it. */
class LaunchTest {

  private static Map<String, String> variables(String text) {
    Map<String, String> variables = new LinkedHashMap<>();
    for (String each : text.split(" ", -1)) {
      int equals = each.indexOf('=');
      variables.put(each.substring(0, equals), each.substring(equals + 1));
    }
    return variables;
  }

  private static Launch of(String text) {
    return Launch.of(variables(text)).orElseThrow();
  }

  @Test
  void torchrunNamesEverything() {
    String text =
        "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 MASTER_ADDR=node-0 MASTER_PORT=29400";
    assertThat(of(text)).isEqualTo(new Launch("torchrun", 5, 8, 1, 4, "node-0", 29_400));
    // The agent's store has the port.
    assertThat(of(text + " TORCHELASTIC_USE_AGENT_STORE=True").port()).isEqualTo(29_401);
  }

  @Test
  void openMpiNamesNoHost() {
    String text =
        "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1"
            + " OMPI_COMM_WORLD_LOCAL_SIZE=2";
    assertThat(of(text)).isEqualTo(new Launch("Open MPI", 3, 4, 1, 2, null, Launch.DEFAULT_PORT));
    assertThat(of(text + " PMIX_NAMESPACE=1234@x").port()).isBetween(20_000, 29_999);
    assertThat(of(text + " MASTER_ADDR=10.0.0.7").address()).isEqualTo("10.0.0.7");
    String oneNode = text.replace("LOCAL_SIZE=2", "LOCAL_SIZE=4");
    assertThat(of(oneNode).address()).isEqualTo("127.0.0.1");
  }

  @Test
  void mpichAndIntelNameLocalRanksApart() {
    assertThat(of("PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2"))
        .isEqualTo(new Launch("MPICH", 1, 2, 1, 2, "127.0.0.1", Launch.DEFAULT_PORT));
  }

  @Test
  void slurmNamesTheFirstNode() {
    String text =
        "SLURM_PROCID=9 SLURM_STEP_NUM_TASKS=16 SLURM_NTASKS=16 SLURM_LOCALID=1"
            + " SLURM_STEP_NODELIST=gpu[03-04] SLURM_JOB_ID=77";
    Launch launch = of(text);
    assertThat(launch.launcher()).isEqualTo("Slurm");
    assertThat(launch.rank()).isEqualTo(9);
    assertThat(launch.size()).isEqualTo(16);
    assertThat(launch.localRank()).isEqualTo(1);
    assertThat(launch.address()).isEqualTo("gpu03");
    assertThat(launch.port()).isEqualTo(of(text.replace("PROCID=9", "PROCID=0")).port());
    // srun sets the variables of MPICH too, which have no local ranks.
    assertThat(of(text + " PMI_RANK=9 PMI_SIZE=16")).isEqualTo(launch);
    // mpirun in an allocation: its processes are not those of srun.
    assertThat(of(text + " PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2").size())
        .isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "node | node",
        "node7,node8 | node7",
        "gpu[03-05,7],login | gpu03",
        "rack[1-2]-gpu,x | rack1-gpu",
        "a[10] | a10"
      })
  void theFirstHostOfAList(String list, String first) {
    assertThat(Launch.firstHost(list)).isEqualTo(first);
  }

  @Test
  void withoutALauncherThereIsNoLaunch() {
    assertThat(Launch.of(Map.of("PATH", "/bin"))).isEmpty();
    assertThat(Launch.of(Map.of("RANK", "1"))).isEmpty();
    assertThat(Launch.of(Map.of("SLURM_PROCID", "0", "SLURM_NTASKS", "4"))).isEmpty(); // sbatch
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "RANK=2 WORLD_SIZE=2 | RANK must be 0 to 1, not '2'",
        "RANK=x WORLD_SIZE=2 | RANK must be 0 to 1, not 'x'",
        "RANK=0 WORLD_SIZE=0 | WORLD_SIZE must be 1 to 4096, not '0'",
        "RANK=0 WORLD_SIZE=2 MASTER_PORT=70000 | MASTER_PORT must be 1 to 65535, not '70000'"
      })
  void wrongVariablesAreNamed(String text, String message) {
    assertThatThrownBy(() -> Launch.of(variables(text)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }
}
