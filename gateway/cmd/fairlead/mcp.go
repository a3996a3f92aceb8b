package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway"
	"fairlead/gateway/clients"
	"fairlead/gateway/peer/diff"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/mcp"
	"fairlead/node/setup"
)

// mcpCommand serves MCP over standard input and output, and adds Fairlead to client programs.
func mcpCommand(o *options) *cobra.Command {
	var app string
	cmd := command("mcp", "Serve MCP over standard input and output, for programs that start their servers", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return serveMCP(cmd, o, app)
	})
	cmd.Flags().StringVar(&app, "app", "", "the connected app whose token to use, as \"fairlead mcp install\" stored it")
	cmd.AddCommand(mcpInstallCommand(o), command("list", "List the client programs and whether Fairlead is in them", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		list, err := knownClients()
		if err != nil {
			return err
		}
		return printClients(cmd.OutOrStdout(), list)
	}))
	return cmd
}

// clientAccess gives clients access through a connection, which may be nil to read their tokens.
func (o *options) clientAccess(x *connection) (clients.Access, error) {
	home, err := o.homeDir()
	return clients.Access{Home: home, Gateway: clientGateway{x}}, err
}

// clientGateway implements [clients.Gateway].
type clientGateway struct{ x *connection }

// Apps implements [clients.Gateway].
func (g clientGateway) Apps(ctx context.Context) ([]protocol.App, error) {
	r, err := call(ctx, g.x, protocol.AppsList, protocol.Empty{})
	return r.Apps, err
}

// CreateToken implements [clients.Gateway].
func (g clientGateway) CreateToken(ctx context.Context, p protocol.TokenCreateParams) (protocol.TokenCreateResult, error) {
	return call(ctx, g.x, protocol.TokenCreate, p)
}

// RevokeApp implements [clients.Gateway].
func (g clientGateway) RevokeApp(ctx context.Context, id protocol.AppID) error {
	_, err := call(ctx, g.x, protocol.AppRevoke, protocol.AppParams{ID: id})
	return err
}

func serveMCP(cmd *cobra.Command, o *options, app string) error {
	token := string(keychain.FromEnv())
	if app != "" {
		access, err := o.clientAccess(nil)
		if err != nil {
			return err
		}
		_, token, err = access.Token(app)
		if errors.Is(err, keychain.ErrNotFound) {
			return fmt.Errorf("there is no token for %s: run \"fairlead mcp install %s\" again", app, app)
		}
		if err != nil {
			return err
		}
	}
	if token == "" {
		return usageError("give --app NAME, or a token in FAIRLEAD_TOKEN; to set up a client program: fairlead mcp install")
	}
	endpoint, err := mcpEndpoint(o.url)
	if err != nil {
		return err
	}
	return mcp.Stdio{Endpoint: endpoint, Token: token, Version: gateway.Version}.Serve(cmd.Context(), os.Stdin, os.Stdout)
}

// mcpEndpoint returns the address of MCP at a gateway's address.
func mcpEndpoint(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", usageError("MCP needs the address of a gateway in --url, not %q", text)
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Path = "/mcp"
	return u.String(), nil
}

func knownClients() ([]clients.Client, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, err
	}
	return clients.All(home, config), nil
}

func printClients(out io.Writer, list []clients.Client) error {
	var t table
	for _, c := range list {
		state := "not found"
		switch {
		case c.HasFairlead():
			state = "has Fairlead"
		case c.IsInstalled():
			state = "found"
		}
		t.row(c.ID, c.Title, state, c.Path)
	}
	return t.print(out, "")
}

func mcpInstallCommand(o *options) *cobra.Command {
	var yes, undo, show bool
	cmd := command("install CLIENT", "Add Fairlead to the settings of a client program: claude-desktop, claude-code, vscode, cursor, windsurf, zed, gemini, codex or opencode", cobra.ExactArgs(1),
		func(cmd *cobra.Command, args []string) error {
			list, err := knownClients()
			if err != nil {
				return err
			}
			c, ok := clients.ByID(list, args[0])
			if !ok {
				return usageError("no client program is named %s: use one of %s", args[0], clients.IDs(list))
			}
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			change, err := c.Remove()
			if !undo {
				at := o.url
				if at == gateway.DefaultURL {
					at = ""
				}
				change, err = c.Add(exe, c.Arguments(at, os.Getenv("FAIRLEAD_HOME"))...)
			}
			if err != nil {
				return err
			}
			return o.withGateway(cmd, func(ctx context.Context, x *connection) error {
				return install(ctx, o, x, c, change, installFlags{yes, undo, show})
			})
		})
	f := cmd.Flags()
	f.BoolVar(&yes, "yes", false, "do not ask")
	f.BoolVar(&undo, "undo", false, "remove Fairlead from the client program, and end its access")
	f.BoolVar(&show, "print", false, "only show the change")
	return cmd
}

type installFlags struct{ yes, undo, show bool }

// install shows a change of a client's settings, and makes it if the person agrees. A client whose
// token does not work gets a new one, also if its settings stay.
func install(ctx context.Context, o *options, x *connection, c clients.Client, change clients.Change, f installFlags) error {
	access, err := o.clientAccess(x)
	if err != nil {
		return err
	}
	app, problem, err := access.App(ctx, c)
	if err != nil {
		return err
	}
	switch hasAccess := problem == ""; {
	case change.New != nil:
		fmt.Fprintf(x.out, "%s\n%s", change.Path, diff.New("before", "after", change.Before, change.New).Text)
	case hasAccess != f.undo:
		return printf(x.out, "%s needs no change: %s\n", c.Title, c.Path)
	case f.undo:
		fmt.Fprintf(x.out, "Fairlead is not in %s, but the token of %s is still valid: it will be revoked.\n", c.Path, c.Title)
	default:
		fmt.Fprintf(x.out, "Fairlead is in %s, but %s: %s will get a new token.\n", c.Path, problem, c.Title)
	}
	if f.show {
		return nil
	}
	if !f.yes {
		fmt.Fprint(x.err, "Make this change? [y/N] ")
		answer, err := setup.ReadLine(ctx, x.in)
		if err != nil || !setup.IsYes(answer) {
			return &exitError{code: exitDenied, err: errors.New("nothing was changed")}
		}
	}
	if f.undo {
		if problem == "" {
			err = access.Gateway.RevokeApp(ctx, app.ID)
		}
		if err == nil {
			err = change.Apply()
		}
		if err != nil {
			return err
		}
		return printf(x.out, "Fairlead was removed from %s. Restart it.\n", c.Title)
	}
	if err := access.Install(ctx, c, change); err != nil {
		return err
	}
	if change.New == nil {
		return printf(x.out, "%s has a new token. Restart it.\n", c.Title)
	}
	return printf(x.out, "Fairlead was added to %s. Restart it. Its calls that change something ask you first.\nTo remove it: fairlead mcp install %s --undo\n", c.Title, c.ID)
}
