package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func sendCommand(o *options) *cobra.Command {
	var p protocol.TransferStartParams
	var from string
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "send FILE… MACHINE:[DIR]",
		Short: "Send files and folders to a machine, or fetch them with --from",
		Long: `Copies files and folders and shows the progress. Every file is verified by SHA-256; after a lost connection the transfer resumes. The files are
read on this computer with your permissions, or on another machine with --from. MACHINE is a machine's name, or gsv for the agent's workspace;
DIR is in its workspace. With --from, the target can also be a folder on this computer.`,
		Example: `  fairlead send report.pdf photos/ laptop:inbox
  fairlead send --from laptop results.csv server:data
  fairlead send --from laptop results.csv .`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := sendWords(p); err != nil {
				return err
			}
			switch { // empty arguments, as from unset variables of a script, are an error
			case slices.Contains(args, ""):
				return &exitError{code: exitUsage, err: errors.New("a path is empty: use . for the current folder")}
			case from == "" && cmd.Flags().Changed("from"):
				return &exitError{code: exitUsage, err: errors.New("--from is empty: give the machine that has the files, or omit it for this computer")}
			case wait < 0:
				return &exitError{code: exitUsage, err: fmt.Errorf("--later must be a duration such as 24h, not %s", wait)}
			}
			machine := protocol.NodeID(from)
			if machine == "" {
				machine = protocol.Here
			}
			for _, f := range args[:len(args)-1] {
				if machine == protocol.Here {
					abs, err := filepath.Abs(f)
					if err != nil {
						return err
					}
					if _, err := os.Stat(abs); err != nil {
						var p *fs.PathError
						if errors.As(err, &p) {
							err = p.Err
						}
						return &exitError{code: exitUsage, err: fmt.Errorf("cannot send %s: %w", abs, err)}
					}
					f = abs
				}
				p.Sources = append(p.Sources, string(machine)+":"+f)
			}
			target := args[len(args)-1]
			if name, _, ok := strings.Cut(target, ":"); !ok || name == "" || filepath.VolumeName(target) != "" && len(name) == 1 {
				if from == "" || ok && name == "" {
					return &exitError{code: exitUsage, err: fmt.Errorf("%q does not name a machine: use MACHINE: or MACHINE:DIR", target)}
				}
				abs, err := filepath.Abs(target)
				if err != nil {
					return err
				}
				target = protocol.Here + ":" + abs
			}
			p.Destination, p.Into = target, true
			if wait > 0 {
				p.Later, p.ExpiresIn = true, wait.Milliseconds()
			}
			return o.withFiles(cmd.Context(), func(ctx context.Context, c *connection) error {
				if err := c.need(protocol.TransferStart.Name); err != nil {
					return err
				}
				if err := known(ctx, c, p); err != nil {
					return err
				}
				t, err := call(ctx, c, protocol.TransferStart, p)
				if err != nil {
					return err
				}
				return o.follow(ctx, cmd.OutOrStdout(), c, t, isHere(t))
			})
		},
	}
	cmd.SetFlagErrorFunc(dashed)
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "`machine` that has the files (default: this computer)")
	f.StringVar(&p.Conflict, "conflict", protocol.ConflictRename, "if a file already exists: rename, skip, or overwrite, which keeps the old version for 30 days")
	f.StringVar(&p.Links, "links", protocol.LinksKeep, "how to treat symbolic links: keep, follow or skip")
	f.DurationVar(&wait, "later", 0, "if a machine is offline, wait at most this `time` for it, such as 24h")
	return cmd
}

// withFiles runs f with a connection over which this computer's files can be sent and received.
func (o *options) withFiles(ctx context.Context, f func(context.Context, *connection) error) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	home, err := o.homeDir()
	if err != nil {
		return err
	}
	gateway, err := o.named(home)
	if err != nil {
		return err
	}
	unfinished := stream.OpenLedger(filepath.Join(home, "unfinished", "here"))
	c, err := o.connectAs(ctx, client.Options{Files: stream.OpenNamed(stream.Disk{Dir: dir}, unfinished, gateway), Unfinished: unfinished})
	if err != nil {
		return err
	}
	defer c.close()
	return f(ctx, c)
}

// isHere reports whether a command line or window is one end of the transfer.
func isHere(t protocol.Transfer) bool { return t.From == protocol.Here || t.To == protocol.Here }

// follow shows a transfer until it ends. mine says that this command is one end of it.
func (o *options) follow(ctx context.Context, out io.Writer, c *connection, t protocol.Transfer, mine bool) error {
	bar := &bar{out: out, plain: o.json || !isTerminal(out)}
	last := make(chan protocol.Transfer, 1)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	fed := make(chan error, 1)
	go func() {
		show := func(now protocol.Transfer) {
			if now.ID != t.ID {
				return
			}
			bar.show(now)
			// The transfer may wait for this command on this connection.
			if mine && now.State == protocol.TransferWaiting {
				call(watching, c, protocol.TransferResume, protocol.TransferParams{ID: t.ID})
			}
			if now.Over() {
				select {
				case last <- now:
				default:
				}
			}
		}
		fed <- c.Feed(watching, func(protocol.FeedSnapshot) {
			// On a new connection, offer the files again; the transfer may also have ended or been
			// paused meanwhile.
			now, err := call(watching, c, protocol.TransferGet, protocol.TransferParams{ID: t.ID})
			if err != nil {
				return
			}
			if mine && (now.State == protocol.TransferRunning || now.State == protocol.TransferQueued) {
				call(watching, c, protocol.TransferResume, protocol.TransferParams{ID: t.ID})
			}
			show(now)
		}, func(ch protocol.Change) {
			if ch.Kind == protocol.ChangeTransfer {
				show(*ch.Transfer)
			}
		})
	}()
	var end protocol.Transfer
	var err error
	select {
	case end = <-last:
	case err = <-fed:
		fed <- err
	}
	stop()
	<-fed
	bar.end()
	if end.ID == "" {
		if ctx.Err() != nil {
			text := "The transfer continues. To watch it: fairlead transfers watch %s\n"
			if mine {
				text = "Interrupted. To resume the transfer: fairlead transfers resume %s\n"
			}
			fmt.Fprintf(out, text, short(t.ID))
			return ctx.Err()
		}
		return err
	}
	if o.json {
		if err := printJSON(out, end); err != nil {
			return err
		}
	} else {
		fmt.Fprint(out, summary(end))
	}
	switch end.State {
	case protocol.TransferDone:
	case protocol.TransferCancelled:
		return errors.New("the transfer was cancelled")
	default:
		return errors.New(strings.TrimSuffix("the transfer "+end.State+": "+flat(end.Error), ": "))
	}
	return nil
}
