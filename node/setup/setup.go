// Package setup is shared by fairlead and fairlead-node: the flags and the pairing of a node.
package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/direct"
	"fairlead/node/prompt"
	"fairlead/node/sandbox"
	"fairlead/node/transfer"
	"fairlead/node/tunnel"
)

// Flags are the flags for a node's identity and restrictions.
type Flags struct {
	ID, Workspace, Mode, Network, Direct string
	Receive, ReceiveFrom, ReceiveFolder  string
	Grants                               []string
	WholeDisk                            bool
}

// FlagSet is a flag.FlagSet or a pflag.FlagSet.
type FlagSet interface {
	StringVar(value *string, name, def, usage string)
	BoolVar(value *bool, name string, def bool, usage string)
	Func(name, usage string, set func(string) error)
}

// Add adds the flags. id is the name of the flag for the node's ID. Only a node in a process of its
// own can have direct transfers.
func (f *Flags) Add(to FlagSet, id string, own bool) {
	to.StringVar(&f.ID, id, "", "name of the node (default: the host's name)")
	to.StringVar(&f.Workspace, "workspace", "", "the node's workspace (default: the current folder)")
	to.StringVar(&f.Mode, "sandbox", string(sandbox.WorkspaceWrite), "what commands may change: read-only (applies to file tools and transfers too), workspace-write or full")
	to.StringVar(&f.Network, "network", string(sandbox.NetBlocked), "network access of commands: blocked, ask (for each command that needs it) or allowed")
	to.Func("grant", "`folder` outside the workspace that may be used too, DIR or DIR:ro; can be repeated", func(dir string) error {
		f.Grants = append(f.Grants, dir)
		return nil
	})
	to.BoolVar(&f.WholeDisk, "whole-disk", false, "let file tools use the whole disk instead of only the workspace")
	to.StringVar(&f.Receive, "receive", transfer.Trusted, "files accepted by this machine: trusted, ask (at this machine's terminal) or off")
	to.StringVar(&f.ReceiveFrom, "receive-from", "", "accept files only from these `machines`, separated by commas; gsv is the agent's workspace, @here a window or command line")
	to.StringVar(&f.ReceiveFolder, "receive-folder", "", "accept files only into this `folder`, which must be in the workspace or granted")
	if own {
		to.StringVar(&f.Direct, "direct", direct.Off, direct.Usage)
	}
}

// Default returns the options of a node; by default with the host's name and the current folder.
func Default(id, dir, version string) node.Options {
	if id == "" {
		host, _ := os.Hostname()
		id = string(protocol.CleanNodeID(host))
	}
	if dir == "" {
		dir, _ = os.Getwd()
	}
	return node.Options{ID: protocol.NodeID(id), Workspace: dir, Version: version}
}

// Options returns the options of the node without its gateway and data folder. The node asks its
// questions at this process's terminal, if there is one, and prints to stderr. Every error is about a
// flag.
func (f *Flags) Options(version string, stderr io.Writer) (opts node.Options, err error) {
	opts = Default(f.ID, f.Workspace, version)
	if _, err = protocol.ParsePeerNodeID(string(opts.ID)); err != nil {
		return opts, err
	}
	if opts.Confine, err = node.ParseConfinement(f.Mode, f.Network, f.Grants); err != nil {
		return opts, err
	}
	if f.WholeDisk {
		opts.Confine.WholeDisk = true
	}
	if opts.Receive, err = transfer.ParsePolicy(f.Receive, f.ReceiveFrom, f.ReceiveFolder); err != nil {
		return opts, err
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		at := prompt.New(os.Stdin, stderr)
		opts.AskTarget = tunnel.AskAt(at)
		if opts.Receive.Mode == transfer.Ask {
			opts.Receive.Ask = transfer.AskAt(at)
		}
	}
	if opts.Direct, err = direct.Parse(f.Direct); err != nil {
		return opts, fmt.Errorf("--direct: %w", err)
	}
	return opts, nil
}

// NewJoin returns a pairing that finds gateways nearby and has the person compare the words.
func NewJoin(ctx context.Context, in io.Reader, out io.Writer) client.Join {
	return client.Join{
		Find: func(ctx context.Context) []string { return discovery.Find(ctx, "") },
		Show: func(words []string, seconds int) {
			fmt.Fprintf(out, "Waiting for approval on the other computer (%d s). It must show the same words:\n\n  %s\n\n", seconds, format.Words(words))
		},
		Confirm: func(words []string) bool {
			fmt.Fprintf(out, "Does the other computer show %s? [y/N] ", format.Words(words))
			answer, err := ReadLine(ctx, in)
			return err == nil && IsYes(answer)
		},
	}
}

// WithFlag adds to the error of a pairing the flag with which it would succeed.
func WithFlag(err error) error {
	if free := protocol.FreeName(err); free != "" {
		return fmt.Errorf("%w (--id %s)", err, free)
	}
	if errors.Is(err, protocol.ErrUnavailable) {
		return fmt.Errorf("%w (there: fairlead network; here: --gateway HOST:PORT)", err)
	}
	return err
}

// Applicant describes the node that would run with opts.
func Applicant(opts node.Options) (pake.Applicant, error) {
	opts.LogDir, opts.URL = "", "ws://not.used/ws"
	n, err := node.New(opts)
	if err != nil {
		return pake.Applicant{}, err
	}
	defer n.Close()
	return n.Applicant(), nil
}

// FindGateway finds the paired gateway of this machine's node by its name; empty is the only one. It
// also notifies gateways that this machine has left and that could not be reached until now.
func FindGateway(ctx context.Context, key identity.Key, peers *identity.Peers, name string) (identity.Peer, error) {
	if err := client.NotifyEndedPairings(ctx, peers, key); err != nil {
		slog.Debug("A left gateway could not be notified", "err", err)
	}
	return peers.Find(name, protocol.RoleNode)
}

// Connect sets how a node connects to a paired gateway, and its ID unless the person chose one. Until
// release is called, no other program on this computer can be a node of the same gateway; program
// names this one to them.
func Connect(opts *node.Options, key identity.Key, peers *identity.Peers, peer identity.Peer, hasID bool, program string) (release func(), err error) {
	if release, err = node.Hold(opts.Home, peer, program); err != nil {
		return nil, err
	}
	if !hasID {
		opts.ID = peer.NodeID
	}
	opts.Through = func(c client.Options) client.Options { return client.Through(c, peers, peer.ID(), key, discovery.Find) }
	return release, nil
}

// ReadLine reads a line, which may have no end if it is the last one, unless ctx ends first.
func ReadLine(ctx context.Context, in io.Reader) (string, error) {
	return Await(ctx, nil, func() (string, error) {
		line, err := bufio.NewReader(in).ReadString('\n')
		if line != "" {
			err = nil
		}
		return line, err
	})
}

// Await returns the result of read, unless ctx ends or a signal comes first. The reading goroutine
// then continues until the program ends, because a read cannot be cancelled.
func Await(ctx context.Context, signals <-chan os.Signal, read func() (string, error)) (text string, err error) {
	done := make(chan struct{})
	var got string
	var readErr error
	crash.Go(func() {
		defer close(done)
		got, readErr = read()
	})
	select {
	case <-done:
		return got, readErr
	case <-signals:
		return "", context.Canceled
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Identity returns the key of this device and its paired gateways, both of a data folder.
func Identity(home string) (identity.Key, *identity.Peers, error) {
	secrets := keychain.Open(home)
	key, err := identity.OpenKey(secrets)
	return key, identity.OpenPeers(home, secrets), err
}

// IsYes reports whether a line is a yes.
func IsYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
