package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func tokenCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "token", Short: "Print the token for clients and nodes; keep it secret", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := o.findToken()
			if err != nil {
				return err
			}
			if o.json {
				return printJSON(cmd.OutOrStdout(), map[string]string{"token": t})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), t)
			return err
		},
	}
}
