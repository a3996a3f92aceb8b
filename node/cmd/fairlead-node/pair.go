package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// pairing are the flags that say how the node connects to its gateway.
type pairing struct {
	invitation, gateway, home string
	ask, key, only, ownID     bool
}

func (p pairing) identity() (identity.Key, *identity.Peers, error) {
	if p.home == "" {
		return identity.Key{}, nil, usageError("this system has no data folder: set FAIRLEAD_HOME")
	}
	secrets := keychain.Open(p.home)
	id, err := identity.OpenKey(secrets)
	return id, identity.OpenPeers(p.home, secrets), err
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
	opts.LogDir, opts.URL = "", "ws://not.used/ws"
	n, err := node.New(opts)
	if err != nil {
		return false, err
	}
	applicant := n.Applicant()
	n.Close()
	j := client.Join{
		Key: id, Peers: peers, Applicant: applicant, Invitation: p.invitation, Find: func(ctx context.Context) []string { return discovery.Find(ctx, "") },
		Show: func(words []string, seconds int) {
			fmt.Fprintf(stderr, "Compare these words with those on the gateway: %s\nIf they differ, the connection is not secure. Waiting for approval (%d s).\n", strings.Join(words, " "), seconds)
		},
		Confirm: func(words []string) bool {
			fmt.Fprintf(stderr, "Does the gateway show %s? [y/N] ", strings.Join(words, " "))
			return yes(ctx, lines)
		},
	}
	if p.gateway != "" && !strings.Contains(p.gateway, "://") {
		j.Gateways = []string{p.gateway}
	}
	peer, err := j.Run(ctx)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "Paired with %s. This machine's key is stored in: %s.\n", peer.Name, keychain.Open(p.home).Where())
	return p.only, nil
}

// yes reads the person's answer. It is no when ctx ends first; the reading goroutine then stays
// until the program ends.
func yes(ctx context.Context, lines *bufio.Reader) bool {
	read := make(chan string, 1)
	go func() {
		answer, _ := lines.ReadString('\n')
		read <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case answer := <-read:
		return answer == "y" || answer == "yes"
	case <-ctx.Done():
		return false
	}
}

// configure sets how the node connects to its gateway: by address and token, or through its
// pairing. Until release is called, no other program of this data folder can be a node of the same
// paired gateway. release is never nil.
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
	name := p.gateway
	if strings.Contains(name, ":") { // an address of a paired gateway
		name = ""
	}
	if err := client.NotifyEndedPairings(ctx, peers, id, nil); err != nil {
		slog.Debug("Notifying a gateway that this machine left failed", "err", err)
	}
	peer, err := peers.Find(p.gateway, protocol.RoleNode) // an address is accepted, too
	if errors.Is(err, protocol.ErrNotFound) && name != p.gateway {
		peer, err = peers.Find(name, protocol.RoleNode)
	}
	if errors.Is(err, protocol.ErrNotFound) {
		return release, usageError("no gateway is set: pair this machine with --pair, or set --gateway or FAIRLEAD_URL")
	}
	if err != nil {
		return release, err
	}
	hold, err := node.Hold(p.home, peer, "fairlead-node")
	if err != nil {
		return release, err
	}
	if !p.ownID {
		opts.ID = peer.NodeID
	}
	opts.Through = func(c client.Options) client.Options { return client.Through(c, peers, peer.ID(), id, discovery.Find) }
	return hold, nil
}
