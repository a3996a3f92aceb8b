// Command fairlead-node connects this machine to a Fairlead gateway as a node, without the gateway itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"fairlead/gateway/protocol"
	"fairlead/node"
	"fairlead/node/workspace"
)

// version is set at link time.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp), errors.Is(err, context.Canceled):
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "fairlead-node:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "fairlead-node:", err)
		os.Exit(1)
	}
}

type usageError string

func (e usageError) Error() string { return string(e) }

func run(ctx context.Context, args []string, stderr io.Writer) error {
	opts, err := parse(args, stderr)
	if err != nil {
		return err
	}
	opts.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	n, err := node.New(opts)
	if err != nil {
		return err
	}
	return n.Run(ctx)
}

// parse reads flags and environment. The token is taken from the environment only: a command line is visible to everyone on the machine.
func parse(args []string, stderr io.Writer) (node.Options, error) {
	host, _ := os.Hostname()
	f := flag.NewFlagSet("fairlead-node", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "Usage: fairlead-node --gateway URL [flags]\n\nConnects this machine to a gateway. FAIRLEAD_TOKEN holds the token, FAIRLEAD_URL may hold the address.\n\n")
		f.PrintDefaults()
	}
	url := f.String("gateway", os.Getenv("FAIRLEAD_URL"), "address of the gateway, such as ws://host:8787/ws")
	id := f.String("id", string(protocol.CleanNodeID(host)), "name of this machine")
	dir := f.String("workspace", ".", "folder to work in")
	disk := f.Bool("whole-disk", false, "let the file tools use the whole disk, not only the workspace")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return node.Options{}, err
		}
		return node.Options{}, usageError(err.Error())
	}
	switch {
	case f.NArg() > 0:
		return node.Options{}, usageError(fmt.Sprintf("unexpected argument %q", f.Arg(0)))
	case *url == "":
		return node.Options{}, usageError("where is the gateway? Give --gateway or set FAIRLEAD_URL.")
	}
	if _, err := protocol.ParseNodeID(*id); err != nil {
		return node.Options{}, usageError(err.Error())
	}
	access := workspace.InWorkspace
	if *disk {
		access = workspace.WholeDisk
	}
	return node.Options{ID: protocol.NodeID(*id), Workspace: *dir, Access: access, URL: *url, Token: os.Getenv("FAIRLEAD_TOKEN"),
		LogDir: logDir(), Version: version}, nil
}

// logDir is where the log is kept; empty, so that none is, where the system names no folder for it.
func logDir() string {
	if home := os.Getenv("FAIRLEAD_HOME"); home != "" {
		return filepath.Join(home, "logs")
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "fairlead", "logs")
}
