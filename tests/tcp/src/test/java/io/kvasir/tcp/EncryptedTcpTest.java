package io.kvasir.tcp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.TestCertificates;
import io.kvasir.testing.lockstep.RankCollectiveContract;
import io.kvasir.testing.lockstep.RunningMember;
import io.kvasir.testing.lockstep.Threads;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("process")
class EncryptedTcpTest extends RankCollectiveContract {

  private static final GroupSecret PLAIN = GroupSecret.random();

  @TempDir private static Path folder;
  private static MemberFiles files;
  private static MemberFiles foreignFiles;
  private static GroupSecret encrypted;
  private static GroupSecret foreign;

  private ServerSocketChannel server;

  @BeforeAll
  static void makeCertificates() throws Exception {
    files = MemberFiles.make("group", "EC");
    encrypted = PLAIN.encrypting(files.read());
    foreignFiles = MemberFiles.make("foreign", "RSA");
    foreign = PLAIN.encrypting(foreignFiles.read());
  }

  /** A certificate that signs itself, and its key. */
  private record MemberFiles(Path certificate, Path key) {

    static MemberFiles make(String name, String algorithm) {
      TestCertificates certificates = new TestCertificates(folder);
      KeyStore keys = certificates.keys(name, algorithm);
      return new MemberFiles(certificates.certificate(name, keys), certificates.key(name, keys));
    }

    GroupCertificates read() throws IOException {
      return GroupCertificates.read(certificate, key, certificate);
    }
  }

  @BeforeEach
  void listen() throws IOException {
    server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  private static GroupSettings settings(List<Member> members) {
    return new GroupSettings("worker", 7, 42, members, LONG, 1 << 20);
  }

  /** The coordinator's end and those of members that have the second secret, or what they threw. */
  private List<Object> meet(
      GroupSettings group, GroupSecret first, GroupSecret others, SocketAddress address)
      throws Exception {
    List<Callable<Object>> parties = new ArrayList<>();
    parties.add(() -> TcpCoordinator.accept(server, group, first, LONG, MemberWatch.NONE));
    for (Member member : group.members().subList(1, group.members().size())) {
      parties.add(() -> TcpMember.connect(address, group, others, member.index(), LONG));
    }
    return Threads.run(parties);
  }

  @Override
  protected List<RankCollective> group(List<Member> members) throws Exception {
    List<RankCollective> group = new ArrayList<>();
    for (Object met : meet(settings(members), encrypted, encrypted, server.getLocalAddress())) {
      if (met instanceof Exception e) {
        throw e;
      }
      group.add((RankCollective) met);
    }
    return group;
  }

  @Override
  protected GatheredFrames gather(RankCollective first, ByteBuffer frame, Duration timeout) {
    return ((TcpCoordinator) first).gather(frame, timeout);
  }

  @Test
  void aMemberOfAnotherAuthorityEndsTheRunOnBothSides() throws Exception {
    GroupSettings group = settings(Member.of(1, 1));
    List<Object> met = meet(group, encrypted, foreign, server.getLocalAddress());
    assertThat(met.get(0))
        .isInstanceOf(LockstepException.class)
        .asString()
        .contains("member 1 (rank 1) cannot encrypt");
    assertThat(met.get(1))
        .isInstanceOf(LockstepException.class)
        .asString()
        .contains("member 1 (rank 1) cannot join the coordinator at");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "true | it encrypts its connections, and this process does not",
        "false | it does not encrypt its connections, and this process does"
      })
  void eitherAllEncryptOrNone(boolean coordinatorEncrypts, String problem) throws Exception {
    GroupSettings group = settings(Member.of(1, 1));
    GroupSecret ofCoordinator = coordinatorEncrypts ? encrypted : PLAIN;
    GroupSecret ofMember = coordinatorEncrypts ? PLAIN : encrypted;
    RunningMember coordinator =
        RunningMember.start(
            () -> TcpCoordinator.accept(server, group, ofCoordinator, LONG, MemberWatch.NONE));
    SocketAddress address = server.getLocalAddress();
    assertThatThrownBy(() -> TcpMember.connect(address, group, ofMember, 1, LONG))
        .isInstanceOf(LockstepException.class)
        .hasMessageContaining(problem);
    coordinator.interrupt();
    assertThat(coordinator.outcome())
        .isInstanceOf(LockstepException.class)
        .asString()
        .contains("interrupted while [member 1 (rank 1)] had not joined");
  }

  @Test
  void onlyEncryptedGroupsHideTheirFrames() throws Exception {
    assertThat(overheard(PLAIN)).contains("the state of a rank");
    assertThat(overheard(encrypted)).doesNotContain("the state of a rank");
  }

  /** What passes between a member and its coordinator in a gather. */
  private String overheard(GroupSecret secret) throws Exception {
    ByteArrayOutputStream passed = new ByteArrayOutputStream();
    try (ServerSocket relay = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread thread = new Thread(() -> relay(relay, passed), "relay");
      thread.setDaemon(true);
      thread.start();
      GroupSettings group = settings(Member.of(1, 1));
      List<Callable<Object>> gathers = new ArrayList<>();
      List<Object> met = meet(group, secret, secret, relay.getLocalSocketAddress());
      for (Object collective : met) {
        ByteBuffer frame = ByteBuffer.wrap("the state of a rank".getBytes(ISO_8859_1));
        gathers.add(() -> ((RankCollective) collective).gather(frame).loss(1) == null);
      }
      assertThat(Threads.run(gathers)).containsOnly(true);
      for (Object collective : met) {
        ((RankCollective) collective).close();
      }
      Await.end(thread);
    }
    return passed.toString(ISO_8859_1);
  }

  /** Carries one connection and records it. */
  private void relay(ServerSocket relay, ByteArrayOutputStream passed) {
    try (Socket member = relay.accept();
        Socket coordinator = new Socket()) {
      coordinator.connect(server.getLocalAddress());
      Thread back = new Thread(() -> copy(coordinator, member, passed));
      back.start();
      copy(member, coordinator, passed);
      back.join();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void copy(Socket from, Socket to, ByteArrayOutputStream passed) {
    byte[] buffer = new byte[1 << 12];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int bytes = in.read(buffer); bytes > 0; bytes = in.read(buffer)) {
        passed.write(buffer, 0, bytes);
        out.write(buffer, 0, bytes);
      }
      to.shutdownOutput();
    } catch (IOException e) {
      // The other direction has ended.
    }
  }

  @Test
  void filesThatHoldSomethingElseAreNamed() throws Exception {
    Path empty = Files.createFile(folder.resolve("empty"));
    Path other = foreignFiles.key();
    assertThatThrownBy(() -> GroupCertificates.read(empty, files.key(), files.certificate()))
        .isInstanceOf(IOException.class)
        .hasMessage(empty + " must hold certificates in PEM; it holds none");
    assertThatThrownBy(() -> GroupCertificates.read(files.certificate(), empty, files.key()))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(files.key() + " must hold certificates in PEM");
    assertThatThrownBy(
            () -> GroupCertificates.read(files.certificate(), empty, files.certificate()))
        .isInstanceOf(IOException.class)
        .hasMessage(
            empty + " must hold a private key in PEM, unencrypted PKCS #8 (BEGIN PRIVATE KEY)");
    assertThatThrownBy(
            () -> GroupCertificates.read(files.certificate(), other, files.certificate()))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(other + " must hold the EC key of the certificate");
  }
}
