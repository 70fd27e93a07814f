package io.kvasir.testing.lockstep;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Runs the members of a group at the same time. */
public final class Threads {

  private Threads() {}

  /**
   * Runs members in threads of their own; hanging is a failure.
   *
   * @param members the members
   * @return what each returned or threw, in order
   */
  public static List<Object> run(List<? extends Callable<?>> members) {
    List<RunningMember> running = new ArrayList<>();
    try {
      members.forEach(member -> running.add(RunningMember.start(member)));
      List<Object> outcomes = new ArrayList<>();
      running.forEach(member -> outcomes.add(member.outcome()));
      return outcomes;
    } finally {
      running.forEach(RunningMember::interrupt);
    }
  }
}
