package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

func sessionsCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "sessions", Short: "List chats and restore archived conversations"}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the chats, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(o, cmd, protocol.SessionsList, protocol.SessionsListParams{}, printSessions)
		},
	}, sessionsArchivesCommand(o), sessionsRestoreCommand(o))
	return cmd
}

func sessionsArchivesCommand(o *options) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use: "archives", Short: "List a chat's archived conversations", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				key, err := c.sessionOrMain(ctx, session)
				if err != nil {
					return err
				}
				r, err := call(ctx, c, protocol.SessionArchives, protocol.SessionParams{SessionKey: key})
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), r)
				}
				return printArchives(cmd.OutOrStdout(), r)
			})
		},
	}
	addSessionFlag(cmd, &session)
	return cmd
}

func sessionsRestoreCommand(o *options) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use: "restore ARCHIVE", Short: "Continue an archived conversation", Args: cobra.ExactArgs(1),
		Long:    "Replaces the chat's current conversation with an archived one. The current conversation is archived and can be restored in the same way.",
		Example: "  fairlead sessions archives\n  fairlead sessions restore 0190f0c5-2c3e-7d31-9b1e-6a3c0e7d1a10",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				key, err := c.sessionOrMain(ctx, session)
				if err != nil {
					return err
				}
				r, err := call(ctx, c, protocol.SessionArchiveRestore,
					protocol.SessionArchiveRestoreParams{SessionKey: key, ID: protocol.ArchiveID(args[0])})
				if err != nil {
					return err
				}
				out := cmd.OutOrStdout()
				if o.json {
					return printJSON(out, r)
				}
				fmt.Fprintf(out, "Restored a conversation of %s.\n", protocol.Plural(r.Messages, "message"))
				if a := r.Archived; a != nil {
					fmt.Fprintf(out, "The previous conversation is archived. To restore it: fairlead sessions restore %s --session %s\n", a.ID, r.SessionKey)
				}
				return nil
			})
		},
	}
	addSessionFlag(cmd, &session)
	return cmd
}

func addSessionFlag(cmd *cobra.Command, session *string) {
	cmd.Flags().StringVar(session, "session", "", "chat to use (default: the main chat)")
}

// sessionOrMain returns the named chat, or else the main one.
func (c *connection) sessionOrMain(ctx context.Context, named string) (protocol.SessionKey, error) {
	if named != "" {
		return protocol.SessionKey(named), nil
	}
	s, err := c.status(ctx)
	return mainSession(s), err
}

func printSessions(out io.Writer, r protocol.SessionsListResult) error {
	if len(r.Sessions) == 0 {
		fmt.Fprintln(out, "No chats.")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range r.Sessions {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n",
			time.UnixMilli(s.LastActiveAt).Format("2006-01-02 15:04"), s.SessionKey, protocol.Plural(s.MessageCount, "message"), filterText(s.Title))
	}
	return w.Flush()
}

func printArchives(out io.Writer, r protocol.SessionArchivesResult) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	n := 0
	for _, a := range r.Archives {
		if a.Kind == protocol.ArchiveReset { // other archives are parts of a conversation and are restored with it
			n++
			fmt.Fprintf(w, "%s\t%s\t%s\n",
				a.ID, time.UnixMilli(a.CreatedAt).Format("2006-01-02 15:04"), protocol.Plural(a.Messages, "message"))
		}
	}
	if n == 0 {
		fmt.Fprintf(out, "The chat %s has no archived conversations.\n", r.SessionKey)
	}
	return w.Flush()
}
