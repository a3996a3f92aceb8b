package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol/secret"
	"fairlead/gateway/protocol/trust"
)

func pairResetCommand(o *options) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "reset", Short: "Give this machine a new key; every pairing with a gateway must be made again", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := o.homeDir()
			if err != nil {
				return err
			}
			secrets := secret.Open(home)
			peers := trust.OpenPeers(home, secrets)
			list, err := peers.List()
			if err != nil {
				return err
			}
			out := cmd.ErrOrStderr()
			for _, p := range list {
				fmt.Fprintf(out, "The pairing with %s ends here; revoke this machine there too.\n", p.Name)
			}
			if !yes {
				fmt.Fprint(out, "Make a new key? (yes/no) ")
				answer, err := readLine(cmd.Context(), cmd.InOrStdin())
				if err != nil || strings.TrimSpace(answer) != "yes" {
					fmt.Fprintln(out, "Nothing was changed.")
					return nil
				}
			}
			for _, p := range list {
				if err := peers.Forget(p.Pin); err != nil {
					return err
				}
			}
			id, err := trust.ResetIdentity(secrets)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "This machine has a new key: %s\n", strings.Join(trust.KeyWords(id.Public()), " "))
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
