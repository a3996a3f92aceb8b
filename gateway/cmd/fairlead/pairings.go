package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/display"
	"fairlead/node/setup"
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
			var t table
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
				t.row(p.Name, p.Role, state, strings.Join(p.Addresses, " "))
			}
			return t.print(cmd.OutOrStdout(), "This machine is not paired with a gateway. To pair it with a link or code from the gateway: fairlead pair LINK")
		},
	}
}

func leaveCommand(o *options) *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use: "leave GATEWAY", Short: "End this machine's pairing with a gateway", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if as != "" && !slices.Contains(roles, as) {
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
			unreachable, err := endPairings(cmd.Context(), peers, id, list)
			if len(unreachable) > 0 { // the pairings are all with one gateway
				fmt.Fprintf(cmd.ErrOrStderr(), "%s could not be reached. It is notified when a node starts on this machine or when you run this command again. You can also revoke this machine there.\n", unreachable[0])
			}
			return err
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "end only the pairing as `ROLE`: node or client (default: both)")
	return cmd
}

// pairingsToLeave finds the pairings to leave with a gateway, in one role or in all. Pairings that
// this machine has left without the gateway knowing are returned only if there are no others.
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
				fmt.Fprintf(out, "The pairing with %s as a %s ends.\n", p.Name, display.Role(p.Role))
			}
			if !yes {
				fmt.Fprint(out, "Create a new key? (yes/no) ")
				answer, err := setup.ReadLine(cmd.Context(), cmd.InOrStdin())
				if err != nil || strings.TrimSpace(answer) != "yes" {
					fmt.Fprintln(out, "Nothing was changed.")
					return nil
				}
			}
			id, err := identity.OpenKey(secrets)
			if err != nil {
				fmt.Fprintf(out, "The gateways could not be notified; revoke this machine there too: %v\n", err)
			} else if unreachable, err := endPairings(cmd.Context(), peers, id, list); err != nil {
				return err
			} else {
				for _, name := range unreachable {
					fmt.Fprintf(out, "%s could not be notified; revoke this machine there too.\n", name)
				}
			}
			for _, p := range list {
				if err := peers.Forget(p.ID()); err != nil {
					return err
				}
			}
			if id, err = identity.ResetKey(secrets); err != nil {
				return err
			}
			fmt.Fprintf(out, "This machine has a new key: %s\n", format.Words(identity.KeyWords(id.Public())))
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// endPairings ends pairings, all at once, within dialLimit. It returns the names of the gateways that
// could not be notified. A gateway that has ended the pairing itself needs no notification.
func endPairings(ctx context.Context, peers *identity.Peers, id identity.Key, list []identity.Peer) (unreachable []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	errs := make([]error, len(list))
	var wg crash.Group
	for i, p := range list {
		wg.Go(func() {
			if p.Refusal != nil {
				errs[i] = peers.Forget(p.ID())
			} else {
				errs[i] = client.EndPairing(ctx, peers, p.ID(), id)
			}
		})
	}
	wg.Wait()
	for i, p := range list {
		if errors.Is(errs[i], protocol.ErrUnavailable) {
			unreachable, errs[i] = append(unreachable, p.Name), nil
		}
	}
	return unreachable, errors.Join(errs...)
}
