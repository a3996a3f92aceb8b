package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// sendFlags are the flags of fairlead send.
type sendFlags struct {
	from            string
	wait            time.Duration
	conflict, links string
}

func sendCommand(o *options) *cobra.Command {
	var flags sendFlags
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
			if err := flags.check(args, cmd.Flags().Changed("from")); err != nil {
				return err
			}
			p, err := flags.params(args)
			if err != nil {
				return err
			}
			return o.send(cmd, p)
		},
	}
	cmd.SetFlagErrorFunc(explainDashFile)
	f := cmd.Flags()
	f.StringVar(&flags.from, "from", "", "`machine` that has the files (default: this computer)")
	flags.conflict, flags.links = protocol.ConflictRename, protocol.LinksKeep
	conflicts := []string{protocol.ConflictRename, protocol.ConflictOverwrite, protocol.ConflictSkip}
	f.Var(choiceFlag[string]{&flags.conflict, conflicts}, "conflict", "if a file already exists: rename, skip, or overwrite, which keeps the old version for 30 days")
	links := []string{protocol.LinksKeep, protocol.LinksFollow, protocol.LinksSkip}
	f.Var(choiceFlag[string]{&flags.links, links}, "links", "how to treat symbolic links: keep, follow or skip")
	f.DurationVar(&flags.wait, "later", 0, "if a machine is offline, wait at most this `time` for it, such as 24h")
	return cmd
}

// params returns the transfer that the flags and arguments request.
func (s sendFlags) params(args []string) (protocol.TransferStartParams, error) {
	p := protocol.TransferStartParams{Conflict: s.conflict, Links: s.links, Into: true}
	for _, name := range args[:len(args)-1] {
		source, err := s.source(name)
		if err != nil {
			return p, err
		}
		p.Sources = append(p.Sources, source)
	}
	var err error
	if p.Destination, err = s.destination(args[len(args)-1]); err != nil {
		return p, err
	}
	if s.wait > 0 {
		p.Later, p.ExpiresIn = true, s.wait.Milliseconds()
	}
	return p, nil
}

// source returns the endpoint of a file to send. A file of this computer must exist.
func (s sendFlags) source(name string) (string, error) {
	if s.from != "" {
		return s.from + ":" + name, nil
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", usageError("cannot send %s: %w", path, format.WithoutPath(err))
	}
	return protocol.Here + ":" + path, nil
}

// destination returns the endpoint for MACHINE:[DIR], or for a folder on this computer with --from.
func (s sendFlags) destination(target string) (string, error) {
	machine, _, ok := strings.Cut(target, ":")
	isDrive := filepath.VolumeName(target) != "" && len(machine) == 1
	if ok && machine != "" && !isDrive {
		return target, nil
	}
	if s.from == "" || ok && machine == "" {
		return "", usageError("%q does not name a machine: use MACHINE: or MACHINE:DIR", target)
	}
	path, err := filepath.Abs(target)
	return protocol.Here + ":" + path, err
}

// send starts a transfer and shows it until it ends.
func (o *options) send(cmd *cobra.Command, p protocol.TransferStartParams) error {
	return o.withFiles(cmd, func(ctx context.Context, c *connection) error {
		if err := c.requireMethod(protocol.TransferStart.Name); err != nil {
			return err
		}
		if err := checkMachines(ctx, c, &p); err != nil {
			return err
		}
		t, err := call(ctx, c, protocol.TransferStart, p)
		if err != nil {
			return err
		}
		return follow(ctx, c, t, isHere(t))
	})
}

// withFiles is withGateway with a connection that can send and receive this computer's files.
func (o *options) withFiles(cmd *cobra.Command, f func(context.Context, *connection) error) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	home, err := o.homeDir()
	if err != nil {
		return err
	}
	key, err := o.gatewayKey(home)
	if err != nil {
		return err
	}
	unfinished := stream.OpenUnfinished(filepath.Join(home, "unfinished", "here"))
	return o.withConnection(cmd, client.Options{Files: stream.OpenNamed(stream.Disk{Dir: dir}, unfinished, key), Unfinished: unfinished}, f)
}

// isHere reports whether a command line or window is one end of the transfer.
func isHere(t protocol.Transfer) bool { return t.From == protocol.Here || t.To == protocol.Here }

// follow shows a transfer until it ends. mine says that this command is one end of it.
func follow(ctx context.Context, c *connection, t protocol.Transfer, mine bool) error {
	out := c.out
	bar := &bar{out: out, plain: c.json || !isTerminal(out)}
	end, err := watchTransfer(ctx, c, t.ID, mine, bar.show)
	bar.end()
	switch {
	case end.ID == "" && ctx.Err() != nil:
		text := "The transfer continues. To watch it: fairlead transfers watch %s\n"
		if mine {
			text = "Interrupted. To resume the transfer: fairlead transfers resume %s\n"
		}
		fmt.Fprintf(out, text, shortID(t.ID))
		return ctx.Err()
	case end.ID == "":
		return err
	case c.json:
		err = printJSON(out, end)
	default:
		_, err = fmt.Fprint(out, summary(end))
	}
	if err != nil {
		return err
	}
	switch end.State {
	case protocol.TransferDone:
		return nil
	case protocol.TransferCancelled:
		return errors.New("the transfer was cancelled")
	}
	return errors.New(strings.TrimSuffix("the transfer "+end.State+": "+flat(end.Error), ": "))
}

// watchTransfer calls show for each change of a transfer, and returns it when it has ended. If ctx
// or the feed ends first, it returns an empty transfer. With mine, the transfer may wait for this
// command, so it is resumed whenever it does.
func watchTransfer(
	ctx context.Context, c *connection, id protocol.TransferID, mine bool, show func(protocol.Transfer),
) (protocol.Transfer, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan protocol.Transfer, 1)
	resume := func() { call(watching, c, protocol.TransferResume, protocol.TransferParams{ID: id}) }
	update := func(now protocol.Transfer) {
		if now.ID != id {
			return
		}
		show(now)
		if mine && now.State == protocol.TransferWaiting {
			resume()
		}
		if now.Over() {
			select {
			case ended <- now:
			default:
			}
		}
	}
	onConnect := func(protocol.FeedSnapshot) {
		// Offer the files again; the transfer may also have ended or been paused meanwhile.
		now, err := call(watching, c, protocol.TransferGet, protocol.TransferParams{ID: id})
		if err != nil {
			return
		}
		if mine && (now.State == protocol.TransferRunning || now.State == protocol.TransferQueued) {
			resume()
		}
		update(now)
	}
	feedDone := crash.Result(func() error {
		return c.Feed(watching, onConnect, func(ch protocol.Change) {
			if ch.Kind == protocol.ChangeTransfer {
				update(*ch.Transfer)
			}
		})
	})
	return await(ended, feedDone, stop)
}

// await returns what the feed has passed to ended, after it has stopped the feed, or the error with
// which the feed ended before.
func await[T any](ended <-chan T, feedDone <-chan error, stop func()) (end T, err error) {
	select {
	case end = <-ended:
		stop()
		<-feedDone
		return end, nil
	case err = <-feedDone:
		return end, err
	}
}

// check returns an error for invalid flags and empty arguments, such as unset variables.
func (s sendFlags) check(args []string, fromGiven bool) error {
	switch {
	case slices.Contains(args, ""):
		return usageError("a path is empty: use . for the current folder")
	case s.from == "" && fromGiven:
		return usageError("--from is empty: give the machine that has the files, or omit it for this computer")
	case s.wait < 0:
		return usageError("--later must be a duration such as 24h, not %s", s.wait)
	}
	return nil
}

// explainDashFile explains how to name a file whose name was taken for a flag.
func explainDashFile(cmd *cobra.Command, err error) error {
	for _, a := range os.Args[1:] {
		if a == "--" {
			break
		}
		if _, statErr := os.Lstat(a); statErr == nil && len(a) > 1 && a[0] == '-' {
			return usageError("%w. For a file with this name, use ./%s\nTry: %s --help", err, a, cmd.CommandPath())
		}
	}
	return usageError("%s\nTry: %s --help", plainFlag(err), cmd.CommandPath())
}
