package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

// Default and maximum number of results.
const (
	defaultHits = 20
	maxHits     = 100
)

func searchCommand(o *options) *cobra.Command {
	var q protocol.SessionsSearchParams
	var since lengthFlag
	cmd := &cobra.Command{
		Use: "search TEXT", Short: "Search the messages of all chats, including archived ones", Args: cobra.MinimumNArgs(1),
		Long: `Searches the messages of all chats, newest first. A match contains all words in any order; case and accents are ignored.
Words in double quotes must be adjacent. The last word can be incomplete.`,
		Example: `  fairlead search rsync backup
  fairlead search '"connection refused"' --since 720h --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Query, q.Limit = strings.Join(args, " "), min(cmp.Or(q.Limit, defaultHits), maxHits)
			if since > 0 {
				q.After = time.Now().Add(-time.Duration(since)).UnixMilli()
			}
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := searchPages(q, func(q protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
					return call(ctx, c, protocol.SessionsSearch, q)
				})
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), r)
				}
				printHits(cmd.OutOrStdout(), r)
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.IntVarP(&q.Limit, "lines", "n", defaultHits, fmt.Sprintf("number of messages, at most %d", maxHits))
	f.Int64Var(&q.Page, "page", 0, "page number, as printed by the previous search")
	f.StringVar((*string)(&q.SessionKey), "session", "", "only this chat")
	f.Var(&since, "since", "only within this time, such as 30m, 24h or '7 days'")
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

func printHits(out io.Writer, r protocol.SessionsSearchResult) {
	if len(r.Hits) == 0 {
		fmt.Fprintln(out, "Nothing found.")
		return
	}
	for _, h := range r.Hits {
		where := string(h.SessionKey)
		if h.Archived {
			where += ", archived"
		}
		fmt.Fprintf(out, "%s  %s  (%s)\n", time.UnixMilli(h.Timestamp).Format("2006-01-02 15:04"), h.Role, where)
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
}
