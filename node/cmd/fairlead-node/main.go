// Without this setting, the runtime would check the number of processors every few seconds, which
// wakes an idle node.
//go:debug updatemaxprocs=0

// Command fairlead-node connects this machine to a Fairlead gateway as a node, without the gateway
// itself.
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
	"runtime"
	"syscall"

	"golang.org/x/term"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/node"
	"fairlead/node/direct"
	"fairlead/node/sandbox"
	"fairlead/node/transfer"
	"fairlead/node/workspace"
)

// version is set at link time.
var version = "dev"

func main() {
	sandbox.Main()
	keychain.ProtectProcess()
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
	opts, p, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if p.key || p.invitation != "" || p.ask {
		done, err := p.pair(ctx, opts, os.Stdin, os.Stdout, stderr)
		if err != nil || done {
			return err
		}
	}
	release, err := p.configure(ctx, &opts)
	if err != nil {
		return err
	}
	defer release()
	opts.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	n, err := node.New(opts)
	if err != nil {
		return err
	}
	return n.Run(ctx)
}

// parse reads flags and environment. The token is read from the environment only, because everyone
// on the machine can see a command line.
func parse(args []string, stderr io.Writer) (opts node.Options, p pairing, err error) {
	host, _ := os.Hostname()
	f := flag.NewFlagSet("fairlead-node", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "Usage: fairlead-node [--pair LINK|CODE] [flags]\n\nConnects this machine to the gateway it is paired with, or to the one at --gateway.\n"+
			"FAIRLEAD_TOKEN contains the token for an address, FAIRLEAD_URL can contain the address.\n\n")
		f.PrintDefaults()
	}
	url := f.String("gateway", os.Getenv("FAIRLEAD_URL"), "address of the gateway, such as ws://host:8787/ws; the name of a pairing; or with --pair HOST:PORT")
	f.StringVar(&p.invitation, "pair", "", "pair this machine first, by `LINK` or code; - reads it from standard input")
	f.BoolVar(&p.ask, "ask", false, "pair this machine first, by asking the person at --gateway HOST:PORT")
	f.BoolVar(&p.key, "key", false, "print this machine's key and exit")
	f.BoolVar(&p.only, "only-pair", false, "exit after pairing")
	id := f.String("id", string(protocol.CleanNodeID(host)), "name of this machine")
	dir := f.String("workspace", ".", "folder to work in")
	disk := f.Bool("whole-disk", false, "allow file tools to use the whole disk instead of only the workspace")
	mode := f.String("sandbox", string(sandbox.WorkspaceWrite), "file access of commands: read-only (applies to file tools and transfers too), workspace-write or full")
	network := f.String("network", string(sandbox.NetBlocked), "network access of commands: blocked, ask (for each command that requests it) or allowed")
	var grants []string
	f.Func("grant", "a further `folder` that tools may use, DIR or DIR:ro (read-only); can be repeated", func(text string) error {
		grants = append(grants, text)
		return nil
	})
	receive := f.String("receive", transfer.Trusted, "which incoming transfers to accept: trusted, ask (the person at this machine's terminal) or off")
	receiveFrom := f.String("receive-from", "", "accept files only from these `machines`, separated by commas; gsv is the agent's workspace, @here a window or command line")
	receiveFolder := f.String("receive-folder", "", "accept files only into this `folder`, which must be in the workspace or granted")
	straight := f.String("direct", direct.Off, direct.Usage)
	show := f.Bool("version", false, "print the version")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return opts, p, err
		}
		return opts, p, usageError(err.Error())
	}
	switch {
	case *show:
		fmt.Fprintln(stderr, "fairlead-node", version)
		return opts, p, flag.ErrHelp
	case f.NArg() > 0:
		return opts, p, usageError(fmt.Sprintf("unexpected argument %q", f.Arg(0)))
	}
	if _, err := protocol.ParseNodeID(*id); err != nil {
		return opts, p, usageError(err.Error())
	}
	confine, err := node.ParseConfinement(*mode, *network, grants)
	if err != nil {
		return opts, p, usageError(err.Error())
	}
	if *disk {
		confine.Access = workspace.WholeDisk
	}
	policy, err := transfer.ParsePolicy(*receive, *receiveFrom, *receiveFolder)
	if err != nil {
		return opts, p, usageError(err.Error())
	}
	connector, err := direct.Parse(*straight)
	if err != nil {
		return opts, p, usageError("--direct: " + err.Error())
	}
	if policy.Mode == transfer.Ask && term.IsTerminal(int(os.Stdin.Fd())) {
		policy.Ask = transfer.AskAt(os.Stdin, stderr)
	}
	home, logs := folders()
	p.gateway, p.home = *url, home
	f.Visit(func(one *flag.Flag) { p.ownID = p.ownID || one.Name == "id" })
	return node.Options{ID: protocol.NodeID(*id), Workspace: *dir, Confine: confine, Receive: policy, Direct: connector, Home: home, LogDir: logs, Version: version}, p, nil
}

// folders returns the folders for our own data and for the log, the same as those of a gateway on
// this machine. They are empty when the system names no such folder.
func folders() (home, logs string) {
	home = os.Getenv("FAIRLEAD_HOME")
	if home == "" {
		home = dataFolder()
	}
	if home == "" {
		return "", ""
	}
	home, err := filepath.Abs(home)
	if err != nil {
		return "", ""
	}
	return home, filepath.Join(home, "logs")
}

func dataFolder() string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, "Fairlead")
		}
		return ""
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "fairlead")
	}
	if user, err := os.UserHomeDir(); err == nil {
		return filepath.Join(user, ".local", "share", "fairlead")
	}
	return ""
}
