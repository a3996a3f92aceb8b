package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func gatewaysCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "gateways", Short: "List the gateways this machine is paired with", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, peers, err := o.identity()
			if err != nil {
				return err
			}
			list, err := peers.List()
			if err != nil {
				return err
			}
			if o.json {
				// Without gateways, print an empty list and not null.
				return printJSON(cmd.OutOrStdout(), append([]identity.Peer{}, list...))
			}
			if len(list) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "This machine is not paired with a gateway. To pair it with a link or code from the gateway: fairlead pair LINK")
				return err
			}
			w := newTable(cmd.OutOrStdout())
			for _, p := range list {
				state := "paired " + ago(p.PairedAt)
				if p.EndedAt > 0 {
					state = "left " + ago(p.EndedAt) + ", not confirmed by the gateway yet"
				}
				if p.Refusal != nil {
					state = p.Refusal.Reason
					if p.Refusal.By != "" {
						state += " by " + p.Refusal.By
					}
					if p.Refusal.At > 0 {
						state += " " + ago(p.Refusal.At)
					}
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, p.Role, state, strings.Join(p.Addresses, " "))
			}
			return w.Flush()
		},
	}
}

func leaveCommand(o *options) *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use: "leave GATEWAY", Short: "End this machine's pairing with a gateway", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if as != "" && as != protocol.RoleNode && as != protocol.RoleClient {
				return usageError("--as must be node or client, not %q", as)
			}
			id, peers, err := o.identity()
			if err != nil {
				return err
			}
			list, err := pairingsToLeave(peers, args[0], as)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), dialLimit)
			defer cancel()
			unreachable := ""
			for _, p := range list {
				if p.Refusal != nil {
					err = peers.Forget(p.ID())
				} else if err = client.EndPairing(ctx, peers, p.ID(), id, nil); errors.Is(err, protocol.ErrUnavailable) {
					unreachable, err = p.Name, nil
				}
				if err != nil {
					return err
				}
			}
			if unreachable != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s could not be reached. It is notified when a node starts on this machine or when you run this command again. You can also revoke this machine there.\n", unreachable)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "end only the pairing as `ROLE`: node or client (default: both)")
	return cmd
}

// pairingsToLeave finds the pairings to leave with a gateway, in one role or in all. Pairings that
// this machine has left already, without the gateway knowing, are returned only if there are no
// others.
func pairingsToLeave(peers *identity.Peers, name, role string) ([]identity.Peer, error) {
	peer, err := peers.Find(name, role)
	list, listErr := peers.List()
	switch {
	case listErr != nil:
		return nil, listErr
	case err == nil:
		return slices.DeleteFunc(list, func(p identity.Peer) bool { return p.Pin != peer.Pin || p.EndedAt > 0 || role != "" && p.Role != role }), nil
	case !errors.Is(err, protocol.ErrNotFound):
		return nil, err
	}
	list = slices.DeleteFunc(list, func(p identity.Peer) bool {
		return p.EndedAt == 0 || !strings.EqualFold(p.Name, name) || role != "" && p.Role != role
	})
	if len(list) == 0 {
		return nil, err
	}
	return list, nil
}

func pairResetCommand(o *options) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "reset", Short: "Create a new key for this machine; it must be paired with every gateway again", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := o.homeDir()
			if err != nil {
				return err
			}
			secrets := keychain.Open(home)
			peers := identity.OpenPeers(home, secrets)
			list, err := peers.List()
			if err != nil {
				return err
			}
			out := cmd.ErrOrStderr()
			for _, p := range list {
				fmt.Fprintf(out, "The pairing with %s as a %s ends.\n", p.Name, p.Role)
			}
			if !yes {
				fmt.Fprint(out, "Create a new key? (yes/no) ")
				answer, err := readLine(cmd.Context(), cmd.InOrStdin())
				if err != nil || strings.TrimSpace(answer) != "yes" {
					fmt.Fprintln(out, "Nothing was changed.")
					return nil
				}
			}
			for _, name := range leaveGateways(cmd.Context(), peers, secrets, list) {
				fmt.Fprintf(out, "%s could not be notified; revoke this machine there too.\n", name)
			}
			for _, p := range list {
				if err := peers.Forget(p.ID()); err != nil {
					return err
				}
			}
			id, err := identity.ResetKey(secrets)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "This machine has a new key: %s\n", strings.Join(identity.KeyWords(id.Public()), " "))
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// leaveTimeout is how long to wait for gateways to confirm that a machine's key is revoked.
const leaveTimeout = 2 * time.Second

// leaveGateways notifies gateways, all at once, that this machine leaves them, and returns the
// names of those that could not be notified: afterwards the key that such a message needs no longer
// exists. A gateway that has ended the pairing itself counts as notified.
func leaveGateways(ctx context.Context, peers *identity.Peers, secrets keychain.Store, list []identity.Peer) (unreachable []string) {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	open := slices.DeleteFunc(slices.Clone(list), func(p identity.Peer) bool { return p.Refusal != nil })
	if len(open) == 0 {
		return nil
	}
	id, err := identity.OpenKey(secrets)
	notified := make([]bool, len(open))
	var wg sync.WaitGroup
	if err == nil {
		for i, p := range open {
			wg.Go(func() { notified[i] = client.EndPairing(ctx, peers, p.ID(), id, nil) == nil })
		}
	}
	wg.Wait()
	for i, p := range open {
		if !notified[i] {
			unreachable = append(unreachable, p.Name)
		}
	}
	return unreachable
}
