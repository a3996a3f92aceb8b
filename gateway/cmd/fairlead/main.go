// Command fairlead is Fairlead without windows: the gateway, the node on this machine, a chat in
// the terminal, and the commands that a person or a script needs to manage them.
//
// Exit codes: 0 success; 1 failure; 2 wrong usage; 3 the gateway, or the requested machine, cannot
// be reached; 4 the token was refused; 5 a call or run was denied, or nobody answered; 6 a tool
// reported a failure; 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

// Exit codes. They are part of the command's interface.
const (
	exitOK           = 0
	exitFailed       = 1
	exitUsage        = 2
	exitUnreachable  = 3
	exitUnauthorized = 4
	exitDenied       = 5
	exitTool         = 6
	exitInterrupted  = 130
)

// exitError has an exit code; shown says that its text has been printed already.
type exitError struct {
	code  int
	err   error
	shown bool
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func main() {
	sandbox.Main()
	keychain.ProtectProcess()
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	err := root.ExecuteContext(ctx)
	if o, ok := root.OutOrStdout().(*output); ok {
		if closeErr := o.close(); err == nil {
			err = closeErr
		}
	}
	code := exitCode(err, ctx.Err() != nil)
	var exit *exitError
	if err != nil && code != exitInterrupted && !(errors.As(err, &exit) && exit.shown) {
		fmt.Fprintf(root.ErrOrStderr(), "fairlead: %v\n", err)
	}
	return code
}

// exitCode converts errors to exit codes. It is the only place that does so.
func exitCode(err error, interrupted bool) int {
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	case interrupted && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, protocol.ErrUnauthorized):
		return exitUnauthorized
	case errors.Is(err, protocol.ErrUnavailable):
		return exitUnreachable
	case errors.Is(err, protocol.ErrApprovalNeeded):
		return exitDenied
	}
	return exitFailed
}
