package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

// undoCommand makes the command that restores the files a transfer has replaced. For a transfer to
// a command line of this computer, this process restores them.
func undoCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "undo ID", Short: "Restore the files that a transfer replaced; new files stay",
		Long: `Restores the files that a transfer replaced, and moves the transferred versions to the trash. A file that was changed after the transfer is not
touched. Replaced files are kept for 30 days, at most 10 GB of them per folder.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withFiles(cmd.Context(), func(ctx context.Context, c *connection) error {
				t, err := findTransfer(ctx, c, args[0])
				if err != nil {
					return err
				}
				before := t.Undone
				if t, err = call(ctx, c, protocol.TransferUndo, protocol.TransferParams{ID: t.ID}); err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), t)
				}
				return printUndone(cmd.OutOrStdout(), t, t.Undone-before)
			})
		},
	}
}

func printUndone(out io.Writer, t protocol.Transfer, back int) error {
	files := "1 file"
	if back != 1 {
		files = fmt.Sprintf("%d files", back)
	}
	fmt.Fprintf(out, "%s restored.\n", files)
	for _, p := range t.Problems {
		fmt.Fprintf(out, "%s: %s\n", flat(p.Path), flat(p.Text))
	}
	if len(t.Problems) > 0 {
		return fmt.Errorf("%d files could not be restored", len(t.Problems))
	}
	return nil
}
