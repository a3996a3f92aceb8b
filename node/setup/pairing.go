package setup

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// NewJoin returns a pairing that looks for gateways on the local network, and lets the person at the
// terminal compare the words.
func NewJoin(ctx context.Context, in io.Reader, out io.Writer) client.Join {
	return client.Join{
		Find: func(ctx context.Context) []string { return discovery.Find(ctx, "") },
		Show: func(words []string, seconds int) {
			fmt.Fprintf(out, "Check that the gateway shows the same words:\n\n  %s\n\nWaiting for approval on the gateway, at most %d s …\n", strings.Join(words, " "), seconds)
		},
		Confirm: func(words []string) bool {
			fmt.Fprintf(out, "Did the gateway show %s? [y/N] ", strings.Join(words, " "))
			answer, err := ReadLine(ctx, in)
			return err == nil && IsYes(answer)
		},
	}
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
	if err := client.NotifyEndedPairings(ctx, peers, key, nil); err != nil {
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

// ReadLine reads a line unless ctx ends first. The reading goroutine then continues until the program
// ends, because a read cannot be cancelled.
func ReadLine(ctx context.Context, in io.Reader) (string, error) {
	var line string
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		line, err = bufio.NewReader(in).ReadString('\n')
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-done:
	}
	if line != "" { // the last line may have no end
		return line, nil
	}
	return line, err
}

// IsYes reports whether a line is a yes.
func IsYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
