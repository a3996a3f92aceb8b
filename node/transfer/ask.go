package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"fairlead/gateway/protocol"
)

// errNobody is the error when this machine's person cannot be asked. Nobody at the gateway may
// answer instead, because it is the person's machine.
//
//lint:ignore ST1005 for people
var errNobody = errors.New("This machine runs with --receive ask, but not in a terminal, so nobody can be asked: start it in a terminal, or with --receive trusted or --receive-from")

// AskAt returns a function for Policy.Ask that asks the person at a terminal about each transfer,
// one after the other. Input that was typed before a question does not answer it. From its first
// question until in ends, a goroutine reads in.
func AskAt(in io.Reader, out io.Writer) func(context.Context, protocol.TransferReceive) error {
	turn := make(chan struct{}, 1)
	lines, over := make(chan string), make(chan struct{})
	read := sync.OnceFunc(func() {
		go func() {
			defer close(over)
			for s := bufio.NewScanner(in); s.Scan(); {
				select {
				case lines <- s.Text():
				default:
				}
			}
		}()
	})
	return func(ctx context.Context, r protocol.TransferReceive) error {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		read()
		fmt.Fprintf(out, "%s Accept? [y/N] ", question(r))
		select {
		case line := <-lines:
			if line = strings.ToLower(strings.TrimSpace(line)); line == "y" || line == "yes" {
				return nil
			}
			//lint:ignore ST1005 for people
			return errors.New("The person at this machine declined the transfer")
		case <-over:
			fmt.Fprintln(out)
			return errNobody
		case <-ctx.Done():
			fmt.Fprintln(out, "(the request was withdrawn)")
			return context.Cause(ctx)
		}
	}
}

// question describes the transfer to be received. Names come from elsewhere; they are quoted, so
// that they cannot control a terminal.
func question(r protocol.TransferReceive) string {
	from, again := r.From, ""
	if r.Stream != nil {
		from = r.Stream.From
		if r.Stream.Attempt > 1 {
			again = " again"
		}
	}
	who := fmt.Sprintf("%q", from)
	switch from {
	case protocol.NativePrefix:
		who = "The agent's workspace"
	case protocol.Here:
		who = "A window or command line"
	case "":
		who = "Another machine"
	}
	return fmt.Sprintf("%s%s sends %.1f MiB to %q.", who, again, float64(r.Size)/(1<<20), r.Path)
}
