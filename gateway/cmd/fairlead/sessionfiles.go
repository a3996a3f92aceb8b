package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

func sessionsSetCommand(o *options) *cobra.Command {
	var title, tags string
	var pinned, archived bool
	var cmd *cobra.Command
	cmd = command("set CHAT", "Change a chat's title and tags, pin or archive it", cobra.ExactArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			p := protocol.SessionPatchParams{SessionKey: protocol.SessionKey(args[0])}
			f := cmd.Flags()
			if f.Changed("title") {
				p.Label = &title
			}
			if f.Changed("pinned") {
				p.Pinned = &pinned
			}
			if f.Changed("archived") {
				p.Archived = &archived
			}
			if f.Changed("tags") {
				list := strings.Split(tags, ",")
				p.Tags = &list
			}
			if f.NFlag() == 0 {
				return usageError("nothing to change: use --title, --tags, --pinned or --archived")
			}
			if !c.offers(protocol.SessionArchives.Name) {
				if err := onlyKnown(f, "tags", "pinned", "archived"); err != nil {
					return err
				}
			}
			return showCall(ctx, c, protocol.SessionPatch, p, func(out io.Writer, _ protocol.OK) error {
				return printf(out, "Changed.\n")
			})
		}))
	cmd.Example = `  fairlead sessions set agent:main:main --title "Home server" --tags work,server
  fairlead sessions set agent:main:main --archived`
	f := cmd.Flags()
	f.StringVar(&title, "title", "", "title; an empty one restores the automatic title")
	f.StringVar(&tags, "tags", "", "tags, separated by commas; they replace the present ones")
	f.BoolVar(&pinned, "pinned", false, "list the chat first; --pinned=false ends that")
	f.BoolVar(&archived, "archived", false, "hide the chat from the list; --archived=false ends that")
	return cmd
}

func sessionsExportCommand(o *options) *cobra.Command {
	var session, format, file string
	var names []string
	for _, f := range export.Formats {
		names = append(names, f.Name)
	}
	cmd := command("export", "Write a chat as "+strings.Join(names, ", "), cobra.NoArgs,
		o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
			f, ok := export.FormatNamed(format)
			if !ok {
				return usageError("--format must be one of %s, not %q", strings.Join(names, ", "), format)
			}
			chat, err := c.exportedChat(ctx, session)
			if err != nil {
				return err
			}
			if file == "" {
				return f.Write(c.out, chat)
			}
			w, err := os.Create(file)
			if err != nil {
				return err
			}
			if err := f.Write(w, chat); err != nil {
				w.Close()
				return fmt.Errorf("writing %s: %w", file, err)
			}
			return w.Close()
		}))
	cmd.Long = "Writes the whole current conversation of a chat. HTML and JSON contain its pictures."
	cmd.Example = `  fairlead sessions export > chat.md
  fairlead sessions export --session agent:main:main --format html --output chat.html`
	f := cmd.Flags()
	f.StringVar(&session, "session", "", "chat to use (default: the main chat)")
	f.StringVar(&format, "format", names[0], strings.Join(names, ", "))
	f.StringVarP(&file, "output", "o", "", "file to write (default: standard output)")
	return cmd
}

// exportedChat loads a chat, or the main one without a name.
func (c *connection) exportedChat(ctx context.Context, named string) (export.Chat, error) {
	key, err := c.sessionOrMain(ctx, named)
	if err != nil {
		return export.Chat{}, err
	}
	list, err := call(ctx, c, protocol.SessionsList, protocol.SessionsListParams{Limit: 1 << 20})
	if err != nil {
		return export.Chat{}, err
	}
	all := protocol.SessionPreviewParams{SessionKey: key, Before: protocol.AfterAll, Notices: true}
	p, err := call(ctx, c, protocol.SessionPreview, all)
	if err != nil {
		return export.Chat{}, err
	}
	title := string(p.SessionKey)
	for _, s := range list.Sessions {
		if s.SessionKey == p.SessionKey && s.Title != "" {
			title = s.Title
		}
	}
	return export.Chat{
		Key: p.SessionKey, Title: title, Messages: p.Messages, Zone: time.Local,
		Machine: func(id protocol.NodeID) string { return string(id) },
		Picture: func(key string) (protocol.MediaGetResult, error) {
			return call(ctx, c, protocol.MediaGet, protocol.MediaGetParams{Key: key})
		},
	}, nil
}
