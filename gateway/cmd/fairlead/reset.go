package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol/client"
)

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
