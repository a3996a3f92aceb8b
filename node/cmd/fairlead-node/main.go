// Without this setting, the runtime would check the number of processors every few seconds, which
// wakes an idle node.
//go:debug updatemaxprocs=0

// Command fairlead-node connects this machine to a Fairlead gateway as a node, without the gateway
// itself.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/node"
	"fairlead/node/sandbox"
	"fairlead/node/setup"
)

// version and commit are set at link time.
var version, commit = "dev", ""

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
	if target := cmp.Or(p.allow, p.disallow); target != "" {
		return setup.Allow(p.home, target, p.allow == "", os.Stdout)
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
	f := flag.NewFlagSet("fairlead-node", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "Usage: fairlead-node [--pair LINK|CODE] [flags]\n\nConnects this machine to the gateway it is paired with, or to the one at --gateway.\n"+
			"FAIRLEAD_URL sets the default of --gateway; FAIRLEAD_TOKEN is the token for a gateway at an address.\n\n")
		f.PrintDefaults()
	}
	f.StringVar(&p.gateway, "gateway", os.Getenv("FAIRLEAD_URL"), "address of the gateway, such as ws://host:8787/ws; the name of a pairing; or with --pair HOST:PORT")
	f.StringVar(&p.invitation, "pair", "", "pair this machine first, by `LINK` or code; - reads it from standard input")
	f.BoolVar(&p.ask, "ask", false, "pair this machine first, by asking the person at --gateway HOST:PORT")
	f.BoolVar(&p.key, "key", false, "print this machine's key and exit")
	f.BoolVar(&p.only, "only-pair", false, "exit after pairing")
	f.StringVar(&p.allow, "allow", "", "let the gateway reach `HOST:PORT` from this machine, besides the machine's own ports, and exit")
	f.StringVar(&p.disallow, "disallow", "", "let the gateway no longer reach `HOST:PORT`, and exit")
	show := f.Bool("version", false, "print the version")
	var flags setup.Flags
	flags.Add(f, "id", true)
	err = f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return opts, p, err
	case err != nil:
		return opts, p, usageError(err.Error())
	case *show:
		text := version
		if commit != "" {
			text += " (" + commit + ")"
		}
		fmt.Fprintln(stderr, "fairlead-node", text)
		return opts, p, flag.ErrHelp
	case f.NArg() > 0:
		return opts, p, usageError(fmt.Sprintf("unexpected argument %q", f.Arg(0)))
	}
	if opts, err = flags.Options(version, stderr); err != nil {
		return opts, p, usageError(err.Error())
	}
	// Without a data folder, the node works with a token only.
	if p.home, err = keychain.Home(); err == nil {
		opts.Home, opts.LogDir = p.home, filepath.Join(p.home, "logs")
	}
	f.Visit(func(one *flag.Flag) { p.hasID = p.hasID || one.Name == "id" })
	return opts, p, nil
}

// pairing are the flags that say how the node connects to its gateway.
type pairing struct {
	invitation, gateway, home string
	allow, disallow           string
	ask, key, only, hasID     bool
}

func (p pairing) identity() (identity.Key, *identity.Peers, error) {
	if p.home == "" {
		return identity.Key{}, nil, usageError("this system has no data folder: set FAIRLEAD_HOME")
	}
	return setup.Identity(p.home)
}

// pair pairs this machine, or prints its key. done reports that nothing remains to be done.
func (p pairing) pair(ctx context.Context, opts node.Options, in io.Reader, out, stderr io.Writer) (done bool, err error) {
	id, peers, err := p.identity()
	if err != nil {
		return false, err
	}
	if p.key {
		fmt.Fprintln(out, identity.Fingerprint(id.Public()))
		return true, nil
	}
	lines := bufio.NewReader(in)
	if p.invitation == "-" {
		if p.invitation, err = lines.ReadString('\n'); err != nil && p.invitation == "" {
			return false, fmt.Errorf("reading the invitation: %w", err)
		}
	}
	j := setup.NewJoin(ctx, lines, stderr)
	j.Key, j.Peers, j.Invitation = id, peers, p.invitation
	if j.Applicant, err = setup.Applicant(opts); err != nil {
		return false, err
	}
	if p.gateway != "" && !strings.Contains(p.gateway, "://") {
		j.Gateways = []string{p.gateway}
	}
	peer, err := j.Run(ctx)
	if err != nil {
		return false, setup.WithFlag(err)
	}
	fmt.Fprintf(out, "Paired with %s. This machine's key is stored in: %s.\n", peer.Name, keychain.Open(p.home).Where())
	return p.only, nil
}

// configure sets how the node connects to its gateway: by address and token, or through its
// pairing. Until release is called, no other program of this data folder can be a node of the same
// paired gateway. release is nil only with an error.
func (p pairing) configure(ctx context.Context, opts *node.Options) (release func(), err error) {
	release = func() {}
	if strings.Contains(p.gateway, "://") {
		opts.URL, opts.Token = p.gateway, keychain.FromEnv().Reveal()
		return release, nil
	}
	id, peers, err := p.identity()
	if err != nil {
		return release, err
	}
	peer, err := setup.FindGateway(ctx, id, peers, p.gateway) // an address is accepted, too
	if errors.Is(err, protocol.ErrNotFound) && strings.Contains(p.gateway, ":") {
		peer, err = peers.Find("", protocol.RoleNode)
	}
	if errors.Is(err, protocol.ErrNotFound) {
		return release, usageError("no gateway is set: pair this machine with --pair, or set --gateway or FAIRLEAD_URL")
	}
	if err != nil {
		return release, err
	}
	return setup.Connect(opts, id, peers, peer, p.hasID, "fairlead-node")
}
