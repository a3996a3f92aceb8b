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
		Use: "undo ID", Short: "Bring back the files that a transfer replaced; new ones stay",
		Long: `Undo brings back what was there before a transfer with --conflict overwrite, or one of the agent's, replaced it. What the transfer put there goes into
the trash instead; a file that was changed since is left as it is. The old files are kept for 30 days, and at most 10 GiB of them in one folder.`,
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
				return undoneText(cmd.OutOrStdout(), t, t.Undone-before)
			})
		},
	}
}

func undoneText(out io.Writer, t protocol.Transfer, back int) error {
	files := "1 file is"
	if back != 1 {
		files = fmt.Sprintf("%d files are", back)
	}
	fmt.Fprintf(out, "%s as before.\n", files)
	for _, p := range t.Problems {
		fmt.Fprintf(out, "%s: %s\n", flat(p.Path), flat(p.Text))
	}
	if len(t.Problems) > 0 {
		return fmt.Errorf("%d could not be brought back", len(t.Problems))
	}
	return nil
}
