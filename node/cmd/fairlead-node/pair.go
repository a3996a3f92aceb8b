package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/node"
	"fairlead/node/setup"
)

// pairing are the flags that say how the node connects to its gateway.
type pairing struct {
	invitation, gateway, home string
	ask, key, only, hasID     bool
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
		return false, err
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
