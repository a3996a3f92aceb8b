package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead/gateway/cron/when"
	"fairlead/gateway/protocol"
)

// runner is the RunE of a command.
type runner = func(cmd *cobra.Command, args []string) error

func command(use, short string, args cobra.PositionalArgs, run runner) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: run}
}

// group makes a command that only has subcommands.
func group(use, short string, sub ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	cmd.AddCommand(sub...)
	return cmd
}

// onGateway makes a command run f with a connection to the gateway.
func (o *options) onGateway(f func(ctx context.Context, c *connection, args []string) error) runner {
	return func(cmd *cobra.Command, args []string) error {
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error { return f(ctx, c, args) })
	}
}

// onMethod makes a command call a method and show its result. params may be nil for a method without
// parameters; text is for [show].
func onMethod[P, R any](o *options, m protocol.Method[P, R], params func(args []string) (P, error), text func(io.Writer, R) error) runner {
	return func(cmd *cobra.Command, args []string) error {
		var p P
		if params != nil {
			var err error
			if p, err = params(args); err != nil {
				return err
			}
		}
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			return showCall(ctx, c, m, p, text)
		})
	}
}

// onMethodWithNames is [onMethod] for results that are shown with the names of machines and chats.
func onMethodWithNames[P, R any](
	o *options, m protocol.Method[P, R], params func(args []string) (P, error), text func(io.Writer, R, nameBook) error,
) runner {
	return o.onGateway(func(ctx context.Context, c *connection, args []string) error {
		p, err := params(args)
		if err != nil {
			return err
		}
		return showCall(ctx, c, m, p, func(out io.Writer, r R) error { return text(out, r, machinesOf(c).book(ctx)) })
	})
}

// showCall calls a method and shows its result; text is for [show].
func showCall[P, R any](ctx context.Context, c *connection, m protocol.Method[P, R], p P, text func(io.Writer, R) error) error {
	r, err := call(ctx, c, m, p)
	return show(c, r, err, text)
}

// show prints the result of a call: as JSON, or by text, which may be nil to print nothing.
func show[R any](c *connection, r R, err error, text func(io.Writer, R) error) error {
	switch {
	case err != nil:
		return err
	case c.json:
		return printJSON(c.out, r)
	case text == nil:
		return nil
	}
	return text(c.out, r)
}

// table is a list of rows, which are lists of cells.
type table [][]string

func (t *table) row(cells ...string) { *t = append(*t, cells) }

// value adds a row with a named value that another machine may have chosen, unless it is empty.
func (t *table) value(name, value string) {
	if value != "" {
		t.row(name, flat(value))
	}
}

// print prints the rows in columns, or none when there are no rows. Every row stays on its line.
func (t table) print(out io.Writer, none string) error {
	if len(t) == 0 && none != "" {
		return printf(out, "%s\n", none)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	oneLine := strings.NewReplacer("\n", "\uFFFD", "\t", "\uFFFD")
	for _, cells := range t {
		for i, cell := range cells {
			cells[i] = oneLine.Replace(cell)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// printf prints like fmt.Fprintf.
func printf(out io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(out, format, args...)
	return err
}

// timeText formats a time in Unix milliseconds, minuteText without the seconds.
func timeText(at int64) string   { return time.UnixMilli(at).Format(time.DateTime) }
func minuteText(at int64) string { return time.UnixMilli(at).Format("2006-01-02 15:04") }

// usageError returns an error for wrong usage.
func usageError(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

var errNoID = usageError("the ID is empty; give at least its first characters")

// addSinceFlag adds --since, which takes a duration as everywhere in the gateway: 30m, 24h, 2 days.
// after is the time from which entries are listed, in Unix milliseconds; 0 lists all.
func addSinceFlag(f *pflag.FlagSet, after *int64) {
	f.Func("since", "only within this `time`, such as 30m, 24h or '7 days'", func(text string) error {
		d, err := when.Parse(text)
		switch {
		case text == "0":
			*after = 0
		case err != nil:
			return err
		default:
			*after = time.Now().Add(-d).UnixMilli()
		}
		return nil
	})
}

// choiceFlag is a flag with a fixed set of values.
type choiceFlag[T ~string] struct {
	into  *T
	legal []T
}

func (c choiceFlag[T]) Set(text string) error {
	if !slices.Contains(c.legal, T(text)) {
		list := make([]string, len(c.legal))
		for i, w := range c.legal {
			list[i] = string(w)
		}
		last := len(list) - 1
		return errors.New("must be " + strings.Join(list[:last], ", ") + " or " + list[last])
	}
	*c.into = T(text)
	return nil
}

func (c choiceFlag[T]) String() string {
	if c.into == nil {
		return ""
	}
	return string(*c.into)
}

func (c choiceFlag[T]) Type() string { return "string" }
