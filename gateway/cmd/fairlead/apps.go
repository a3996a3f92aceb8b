package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/cron/when"
	"fairlead/gateway/protocol"
)

// tokensCommand manages the connected apps and their tokens.
func tokensCommand(o *options) *cobra.Command {
	revoke := onMethod(o, protocol.AppRevoke, func(args []string) (protocol.AppParams, error) {
		if args[0] == "" {
			return protocol.AppParams{}, usageError("the ID is empty; to list the IDs: fairlead tokens list")
		}
		return protocol.AppParams{ID: protocol.AppID(args[0])}, nil
	}, func(out io.Writer, _ protocol.OK) error { return printf(out, "Access revoked.\n") })
	stop := onMethod(o, protocol.AppStop, func(args []string) (protocol.AppStopParams, error) { return protocol.AppStopParams{ID: args[0]}, nil },
		func(out io.Writer, _ protocol.OK) error { return printf(out, "Stopped.\n") })
	return group("tokens", "Manage connected apps and tokens for MCP and REST", createTokenCommand(o),
		command("stop ID", "Stop a running command of an app; \"fairlead tokens list\" shows the ID", cobra.ExactArgs(1), stop),
		command("list", "List connected apps and tokens, their running commands, and apps that ask to connect", cobra.NoArgs, o.onGateway(listApps)),
		command("revoke ID", "Revoke the access of an app or a token; \"fairlead tokens list\" shows the ID", cobra.ExactArgs(1), revoke))
}

// newToken is what create prints with --json.
type newToken struct {
	protocol.App
	Token string `json:"token"`
}

func createTokenCommand(o *options) *cobra.Command {
	var name, expires string
	var scopes, nodes, networks []string
	cmd := command("create", "Make a token for a script or an app", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		if name == "" || len(scopes) == 0 {
			return usageError("give --name and --scopes, such as --name 'Backup script' --scopes fs.read")
		}
		in := protocol.TokenCreateParams{Name: name, Scopes: scopesOf(scopes)}
		for _, id := range nodes {
			in.Nodes = append(in.Nodes, protocol.NodeID(id))
		}
		if expires != "" && expires != "never" {
			d, err := when.Parse(expires)
			if err != nil || d < time.Second {
				return usageError("--expires must be a duration such as 12h or 30d, or never, not %q", expires)
			}
			in.ExpiresIn = int64(d / time.Second)
		}
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			var err error
			if in.Networks, err = findNetworks(ctx, c, networks); err != nil {
				return err
			}
			r, err := call(ctx, c, protocol.TokenCreate, in)
			return show(c, newToken{r.App, r.Token}, err, printToken)
		})
	})
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "what the token is for, such as 'Backup script'")
	f.StringSliceVar(&scopes, "scopes", nil, "what it may do: "+strings.Join(protocol.ScopeNames(protocol.AppScopes), ","))
	f.StringVar(&expires, "expires", "30d", "how long it is valid: 12h, 30d or never")
	f.StringSliceVar(&nodes, "nodes", nil, "limit it to these machine IDs (default: all)")
	f.StringSliceVar(&networks, "networks", nil, "limit it to the machines in these networks (default: all)")
	return cmd
}

func scopesOf(names []string) (list []protocol.Scope) {
	for _, s := range names {
		list = append(list, protocol.Scope(strings.TrimSpace(s)))
	}
	return list
}

func printToken(out io.Writer, t newToken) error {
	return printf(out, "%s\n\nCopy the token now: it cannot be shown again. To end its access: fairlead tokens revoke %s\n", t.Token, t.ID)
}

// appList is the connected apps, with the questions whether others may connect.
type appList struct {
	protocol.AppsListResult
	Questions []protocol.Question `json:"questions"`
	networks  []protocol.Network
}

// networkName returns the name of a network, or the ID of one that was deleted.
func (r appList) networkName(id protocol.NetworkID) string {
	for _, n := range r.networks {
		if n.ID == id {
			return n.Name
		}
	}
	return string(id)
}

func listApps(ctx context.Context, c *connection, _ []string) error {
	var list appList
	var err error
	if list.AppsListResult, err = call(ctx, c, protocol.AppsList, protocol.Empty{}); err == nil {
		var r protocol.QuestionListResult
		r, err = call(ctx, c, protocol.QuestionList, protocol.Empty{})
		list.Questions = append([]protocol.Question{}, slices.DeleteFunc(r.Questions, func(q protocol.Question) bool { return q.App == nil })...)
	}
	if err == nil && c.offers(protocol.NetworksList.Name) {
		var r protocol.NetworksListResult
		r, err = call(ctx, c, protocol.NetworksList, protocol.Empty{})
		list.networks = r.Networks
	}
	return show(c, list, err, printApps)
}

func printApps(out io.Writer, r appList) error {
	var t table
	for _, a := range r.Apps {
		on := "all machines"
		if !a.MachineLimit().IsAll() {
			var ids []string
			for _, id := range a.Nodes {
				ids = append(ids, string(id))
			}
			for _, id := range a.Networks {
				ids = append(ids, "network "+r.networkName(id))
			}
			on = strings.Join(ids, ", ")
		}
		t.row(string(a.ID), a.Name, appState(a), strings.Join(protocol.ScopeNames(a.Scopes), ","), on)
	}
	if err := t.print(out, "No app is connected. To make a token: fairlead tokens create"); err != nil {
		return err
	}
	for _, x := range r.Commands {
		if err := printf(out, "\n%s runs on %s: %s. To stop it: fairlead tokens stop %s\n", flat(x.Name), x.Node, flat(shortLine(x.Text)), flat(x.ID)); err != nil {
			return err
		}
	}
	for _, q := range r.Questions {
		c := *q.App
		scopes := strings.Join(protocol.ScopeNames(c.Scopes), ",")
		if err := printf(out, "\n%s (%s) asks to connect, code %s, scopes %s. To allow it: fairlead approve %[3]s\n", flat(c.Name), flat(origin(c)), c.Code, scopes); err != nil {
			return err
		}
	}
	return nil
}

// origin says who published an app that asks, and where the answer goes. A program where the browser
// is can call itself the app of anybody.
func origin(c protocol.AppSubject) string {
	switch {
	case c.IsLocal && c.ClientHost != "":
		return "claims to be published by " + c.ClientHost + ", runs where the browser is"
	case c.IsLocal:
		return "its name is not checked, runs where the browser is"
	case c.ClientHost != "":
		return "published by " + c.ClientHost + ", the answer goes to " + c.RedirectHost
	}
	return "its name is not checked, the answer goes to " + c.RedirectHost
}

func appState(a protocol.App) string {
	used := "never used"
	if a.LastUsedAt > 0 {
		used = "used " + ago(a.LastUsedAt)
	}
	switch {
	case a.RevokedAt > 0:
		return "revoked " + ago(a.RevokedAt)
	case a.ExpiresAt > 0 && a.ExpiresAt <= time.Now().UnixMilli():
		return "expired"
	case a.ExpiresAt > 0:
		return fmt.Sprintf("%s, valid until %s", used, minuteText(a.ExpiresAt))
	}
	return used
}

// approveCommand answers an app that asks to connect.
func approveCommand(o *options) *cobra.Command {
	var scopes, nodes, networks []string
	var deny bool
	cmd := command("approve CODE", "Approve the app that shows this code in the browser", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		p := protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Scopes: scopesOf(scopes)}
		if deny {
			p.Decision = protocol.DecisionDeny
		}
		for _, id := range nodes {
			p.Nodes = append(p.Nodes, protocol.NodeID(id))
		}
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			r, err := call(ctx, c, protocol.QuestionList, protocol.Empty{})
			if err != nil {
				return err
			}
			i := slices.IndexFunc(r.Questions, func(q protocol.Question) bool {
				return q.App != nil && strings.EqualFold(q.App.Code, strings.TrimSpace(args[0]))
			})
			if i < 0 {
				return protocol.ErrNotFound.With("no app waits for this answer: it was answered already, or took too long. Connect the app again")
			}
			if p.Networks, err = findNetworks(ctx, c, networks); err != nil {
				return err
			}
			if len(p.Nodes)+len(p.Networks) == 0 {
				p.Nodes, p.Networks = r.Questions[i].App.Nodes, r.Questions[i].App.Networks
			}
			return questionsOf(c).answer(ctx, r.Questions[i], p, func(out io.Writer, _ protocol.Question) error {
				if deny {
					return printf(out, "The app may not connect.\n")
				}
				return printf(out, "The app is connected. To end its access: fairlead tokens list\n")
			})
		})
	})
	f := cmd.Flags()
	f.BoolVar(&deny, "deny", false, "refuse it")
	f.StringSliceVar(&scopes, "scopes", nil, "allow only these of the scopes that it asks for")
	f.StringSliceVar(&nodes, "nodes", nil, "limit the app to these machine IDs (default: all, or its current ones)")
	f.StringSliceVar(&networks, "networks", nil, "limit the app to the machines in these networks")
	return cmd
}
