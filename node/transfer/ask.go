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

// errNobody is why nothing arrives at a machine whose person cannot be asked. No one at the gateway may answer in their stead: it is their machine.
//
//lint:ignore ST1005 for people
var errNobody = errors.New("This machine was started with --receive ask, and nobody is there to ask: start it in a terminal, or with --receive trusted or --receive-from")

// AskAt asks the person at a terminal about each transfer, one after the other; it is for Policy.Ask. What they typed before a question is no answer to it.
// From its first question to the end of in, a goroutine reads in.
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
		fmt.Fprintf(out, "%s Take it? [y/N] ", question(r))
		select {
		case line := <-lines:
			if line = strings.ToLower(strings.TrimSpace(line)); line == "y" || line == "yes" {
				return nil
			}
			//lint:ignore ST1005 for people
			return errors.New("The person at this machine does not want it")
		case <-over:
			fmt.Fprintln(out)
			return errNobody
		case <-ctx.Done():
			fmt.Fprintln(out, "(it was withdrawn)")
			return context.Cause(ctx)
		}
	}
}

// question words what would be received. Names come from elsewhere: quoted, they cannot steer a terminal.
func question(r protocol.TransferReceive) string {
	from, again := r.From, ""
	if r.Stream != nil {
		from = r.Stream.From
		if r.Stream.Attempt > 1 {
			again = ", once more,"
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
