package io.kvasir.cli.option;

import io.kvasir.model.Errors;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceColumns;
import io.kvasir.simulator.trace.TraceReading;
import io.kvasir.simulator.trace.TraceUnits;
import java.util.List;
import java.util.function.Predicate;

/** Options of how the files of {@code --trace} are read. */
@Heading(Heading.WORKLOAD)
public final class TraceOptions extends DeclaredOptions {

  private static final String BLOCK_TOKENS = "--trace-block-tokens";
  private static final String TIME_UNIT = "--trace-time-unit";
  private static final String COLUMNS = "--trace-columns";
  private static final String SORT = "--trace-sort";

  private final Declared<Integer> blockTokens =
      integer(BLOCK_TOKENS, null, 1, Trace.MAX_TOKENS)
          .help(2, "Tokens for each id of the trace (default: 512, with chat_id in the trace 16).");

  private final Declared<TraceUnits.Time> timeUnit =
      choice(TIME_UNIT, null, TraceUnits.Time.class)
          .help(
              2,
              "Unit of its timestamps: s, ms, us, ns (default: ms, with chat_id s, in CSV by"
                  + " their size).");

  private final Declared<TraceColumns> columns =
      option(COLUMNS, "KEY=COLUMN[,...]", null, TraceOptions::columns)
          .help(
              2,
              "Columns of CSV that are timestamp, input, output and optionally session, for"
                  + " example timestamp=Time,input=Prompt tokens,output=Answer tokens (default:"
                  + " those of Azure or BurstGPT).");

  private final Declared<Boolean> sort =
      flag(SORT, "false").bare("true").help(2, "Puts the rows of the trace in order of arrival");

  TraceOptions() {}

  /**
   * {@return how a trace is read}
   *
   * @throws UsageException if a value is not allowed
   */
  public TraceReading reading() {
    return new TraceReading(
        new TraceUnits(
            blockTokens.isGiven() ? blockTokens.value() : null,
            timeUnit.isGiven() ? timeUnit.value() : null),
        columns.isGiven() ? columns.value() : null,
        sort.value());
  }

  /**
   * Refuses the options where there is no trace.
   *
   * @param isFlag whether an option is on the command line
   * @throws UsageException if one is
   */
  public void refuse(Predicate<String> isFlag) {
    for (String option : List.of(BLOCK_TOKENS, TIME_UNIT, COLUMNS, SORT)) {
      if (isFlag.test(option)) {
        throw new UsageException(option, "needs --trace");
      }
    }
  }

  /**
   * {@return whether one of the options is set}
   *
   * @param option its name
   */
  public boolean isSet(String option) {
    return switch (option) {
      case BLOCK_TOKENS -> blockTokens.isGiven();
      case TIME_UNIT -> timeUnit.isGiven();
      case COLUMNS -> columns.isGiven();
      default -> sort.value();
    };
  }

  private static TraceColumns columns(String text) {
    TraceColumns columns = TraceColumns.of(text);
    if (columns == null) {
      throw new UsageException(
          COLUMNS,
          "must be timestamp=COLUMN,input=COLUMN,output=COLUMN[,session=COLUMN], not '"
              + Errors.shown(text)
              + "'");
    }
    return columns;
  }
}
