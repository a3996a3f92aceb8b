package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func sessionsCommand(o *options) *cobra.Command {
	return group("sessions", "List, change and export chats, and restore archived conversations",
		command("list", "List the chats, newest first", cobra.NoArgs, o.onGateway(listSessions)),
		sessionsSetCommand(o), sessionsExportCommand(o), sessionsArchivesCommand(o), sessionsRestoreCommand(o))
}

func sessionsArchivesCommand(o *options) *cobra.Command {
	var session string
	cmd := command("archives", "List a chat's archived conversations", cobra.NoArgs,
		o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
			key, err := c.sessionOrMain(ctx, session)
			if err != nil {
				return err
			}
			return showCall(ctx, c, protocol.SessionArchives, protocol.SessionParams{SessionKey: key}, printArchives)
		}))
	cmd.Flags().StringVar(&session, "session", "", "chat to use (default: the main chat)")
	return cmd
}

func sessionsRestoreCommand(o *options) *cobra.Command {
	var session string
	cmd := command("restore ARCHIVE", "Continue an archived conversation", cobra.ExactArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			key, err := c.sessionOrMain(ctx, session)
			if err != nil {
				return err
			}
			p := protocol.SessionArchiveRestoreParams{SessionKey: key, ID: protocol.ArchiveID(args[0])}
			return showCall(ctx, c, protocol.SessionArchiveRestore, p, func(out io.Writer, r protocol.SessionArchiveRestoreResult) error {
				fmt.Fprintf(out, "Restored a conversation of %s.\n", format.Plural(r.Messages, "message"))
				if a := r.Archived; a != nil {
					fmt.Fprintf(out, "The previous conversation is archived. To restore it: fairlead sessions restore %s --session %s\n", a.ID, r.SessionKey)
				}
				return nil
			})
		}))
	cmd.Long = "Replaces the chat's current conversation with an archived one. The current conversation is archived and can be restored in the same way."
	cmd.Example = "  fairlead sessions archives\n  fairlead sessions restore 0190f0c5-2c3e-7d31-9b1e-6a3c0e7d1a10"
	cmd.Flags().StringVar(&session, "session", "", "chat to use (default: the main chat)")
	return cmd
}

// sessionOrMain returns the named chat, or else the main one.
func (c *connection) sessionOrMain(ctx context.Context, named string) (protocol.SessionKey, error) {
	if named != "" {
		return protocol.SessionKey(named), nil
	}
	s, err := c.status(ctx)
	return mainSession(s), err
}

func listSessions(ctx context.Context, c *connection, _ []string) error {
	return showCall(ctx, c, protocol.SessionsList, protocol.SessionsListParams{}, func(out io.Writer, r protocol.SessionsListResult) error {
		isCounted := c.offers(protocol.SessionArchives.Name) // GSV does not count the messages
		var t table
		for _, s := range r.Sessions {
			count := ""
			if isCounted {
				count = format.Plural(s.MessageCount, "message")
			}
			t.row(minuteText(s.LastActiveAt), string(s.SessionKey), count, strings.Join(marks(s), ", "), cmp.Or(s.Title, s.Label))
		}
		return t.print(out, "No chats.")
	})
}

// marks returns the words about how a chat is listed.
func marks(s protocol.SessionEntry) (list []string) {
	if s.Pinned {
		list = append(list, "pinned")
	}
	if s.Archived {
		list = append(list, "archived")
	}
	return append(list, s.Tags...)
}

func printArchives(out io.Writer, r protocol.SessionArchivesResult) error {
	var t table
	for _, a := range r.Archives {
		cells := []string{string(a.ID), minuteText(a.CreatedAt), format.Plural(a.Messages, "message")}
		switch a.Kind {
		case protocol.ArchiveReset:
			t.row(cells...)
		case protocol.ArchiveEdit:
			t.row(append(cells, "replaced by an edit")...)
		} // a compacted part is restored with its conversation
	}
	return t.print(out, fmt.Sprintf("The chat %s has no archived conversations.", r.SessionKey))
}

// Default and maximum number of results.
const (
	defaultHits = 20
	maxHits     = 100
)

func searchCommand(o *options) *cobra.Command {
	var q protocol.SessionsSearchParams
	cmd := command("search TEXT", "Search the messages of all chats, including archived ones", cobra.MinimumNArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			q.Query, q.Limit = strings.Join(args, " "), min(cmp.Or(q.Limit, defaultHits), maxHits)
			r, err := searchPages(q, func(q protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
				return call(ctx, c, protocol.SessionsSearch, q)
			})
			return show(c, r, err, printHits)
		}))
	cmd.Long = `Searches the messages of all chats, newest first. A match contains all words in any order; case and accents are ignored.
Words in double quotes must be adjacent. The last word can be incomplete.`
	cmd.Example = `  fairlead search rsync backup
  fairlead search '"connection refused"' --since 720h --json`
	f := cmd.Flags()
	f.IntVarP(&q.Limit, "lines", "n", defaultHits, fmt.Sprintf("number of messages, at most %d", maxHits))
	f.Int64Var(&q.Page, "page", 0, "page number, as printed by the previous search")
	f.StringVar((*string)(&q.SessionKey), "session", "", "only this chat")
	addSinceFlag(f, &q.After)
	return cmd
}

// searchPages searches until it has the requested number of messages, or there are no more: the
// gateway limits the time of a request and returns the results up to then.
func searchPages(q protocol.SessionsSearchParams, ask func(protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error)) (all protocol.SessionsSearchResult, err error) {
	all.Hits = []protocol.SearchHit{}
	for {
		r, err := ask(q)
		if err != nil {
			return all, err
		}
		all.Hits, all.Next = append(all.Hits, r.Hits...), r.Next
		if r.Reached == 0 {
			return all, nil
		}
		q.Page, q.Limit = r.Next, q.Limit-len(r.Hits) // more than 0, because the page was not full
	}
}

func printHits(out io.Writer, r protocol.SessionsSearchResult) error {
	if len(r.Hits) == 0 {
		return printf(out, "Nothing found.\n")
	}
	for _, h := range r.Hits {
		where := string(h.SessionKey)
		if h.Archived {
			where += ", archived"
		}
		fmt.Fprintf(out, "%s  %s  (%s)\n", minuteText(h.Timestamp), h.Role, where)
		var line strings.Builder
		for _, p := range h.Snippet {
			if p.Mark {
				p.Text = "[" + p.Text + "]"
			}
			line.WriteString(p.Text)
		}
		fmt.Fprintf(out, "  %s\n", strings.Join(strings.Fields(line.String()), " "))
	}
	if r.Next != 0 {
		fmt.Fprintf(out, "More results: --page %d\n", r.Next)
	}
	return nil
}
