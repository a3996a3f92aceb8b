package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"fairlead/gateway"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// finding is the result of one check.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, note, warning or bad
	Found string `json:"found"`
	Fix   string `json:"fix,omitempty"`
}

// addFinding records the result of a check.
type addFinding func(check, state, found, fix string)

func doctorCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check for problems and show how to fix them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := o.examine(cmd.Context())
			if o.json {
				if err := printJSON(cmd.OutOrStdout(), findings); err != nil {
					return err
				}
			} else {
				printFindings(cmd.OutOrStdout(), findings)
			}
			for _, f := range findings {
				if f.State == "bad" {
					return &exitError{code: exitFailed, err: errors.New("problems found"), printed: true}
				}
			}
			return nil
		},
	}
}

func (o *options) examine(ctx context.Context) []finding {
	var all []finding
	add := func(check, state, found, fix string) { all = append(all, finding{check, state, found, fix}) }

	home, err := o.homeDir()
	if err != nil {
		add("data folder", "bad", err.Error(), "set FAIRLEAD_HOME to a folder that you can write to")
		return all
	}
	if err := writable(home); err != nil {
		fix := "make the folder writable, or set FAIRLEAD_HOME to another one"
		if errors.Is(err, syscall.ENOSPC) {
			fix = "free up space on its disk"
		}
		add("data folder", "bad", err.Error(), fix)
	} else {
		add("data folder", "ok", home, "")
	}
	secrets := keychain.Open(home)
	if where := secrets.Where(); where == "keychain" {
		add("secrets", "ok", "in the system's keychain", "")
	} else {
		add("secrets", "warning", "no keychain is available; secrets are stored in "+where+", which only you can read", "unlock or install a keychain (Debian: gnome-keyring)")
	}

	c, err := o.connectAs(ctx, client.Options{})
	if err != nil {
		fix := "start one with fairlead gateway --node or the desktop app"
		if errors.Is(err, protocol.ErrUnauthorized) {
			fix = "set FAIRLEAD_TOKEN to the gateway's token (run fairlead token on the gateway's computer to print it)"
		}
		add("gateway", "bad", err.Error(), fix)
		return all
	}
	defer c.close()
	examineGateway(o, ctx, c, add)
	return all
}

func examineGateway(o *options, ctx context.Context, c *connection, add addFinding) {
	status, err := c.status(ctx)
	if err != nil {
		add("gateway", "bad", err.Error(), "restart the gateway")
		return
	}
	if why := c.specificationOnly(); why != "" {
		add("gateway", "note", o.url+", "+why, "")
		examineNodes(ctx, c, add)
		add("model", "note", status.Model.String()+"; this gateway cannot test it", "")
		return
	}
	if status.Version != gateway.Version {
		add("gateway", "warning", fmt.Sprintf("%s runs version %s, this program is version %s", o.url, status.Version, gateway.Version), "restart the older one")
	} else {
		add("gateway", "ok", o.url, "")
	}
	if status.Storage != "" {
		add("database", "bad", status.Storage, "free up space on the data folder's disk; no saved messages were lost")
	} else {
		add("database", "ok", "writable", "")
	}
	if len(status.Missing) > 0 {
		add("settings", "warning", strings.Join(status.Missing, ", ")+" cannot be read from the secret store", "unlock the keychain and restart the gateway, or enter them again")
	}
	if status.Paused {
		add("agent", "warning", "paused", "resume it in the tray menu or with fairlead resume")
	}
	examineNodes(ctx, c, add)

	if status.Model.Provider == "operator" {
		add("model", "ok", "no model is connected; the built-in operator answers", "")
		return
	}
	test, err := call(ctx, c, protocol.ModelsTest, protocol.ModelsTestParams{Provider: status.Model.Provider, Model: status.Model.ID})
	switch {
	case err != nil:
		add("model", "bad", err.Error(), "choose another model in Settings")
	case !test.OK:
		add("model", "bad", test.Message, "check the provider and its key in Settings")
	default:
		add("model", "ok", fmt.Sprintf("%s: %s", status.Model, test.Message), "")
	}
}

func examineNodes(ctx context.Context, c *connection, add addFinding) {
	nodes, err := c.nodes(ctx)
	if err != nil {
		add("machines", "bad", err.Error(), "restart the gateway")
		return
	}
	online := 0
	for _, n := range nodes {
		switch {
		case n.Online && n.Host != nil:
			online++
			add("machine "+string(n.ID), "ok", fmt.Sprintf("%d tools, workspace %s, commands: %s", len(n.Tools), n.Host.Workspace, display.Sandbox(n.Host.Sandbox, n.Host)), "")
			examineEnforcement(n.ID, n.Host.Enforcement, add)
		case n.Online:
			online++
			add("machine "+string(n.ID), "ok", fmt.Sprintf("%d tools", len(n.Tools)), "")
		default:
			add("machine "+string(n.ID), "warning", "offline since "+timeText(n.LastSeenAt), "start fairlead node on it")
		}
	}
	if online == 0 {
		add("machines", "warning", "no machine is connected, so the agent cannot do anything", "start the gateway with --node, or run fairlead node on a machine")
	}
}

// examineEnforcement lists which restrictions of commands a machine can enforce, with reasons.
func examineEnforcement(id protocol.NodeID, e *protocol.Enforcement, add addFinding) {
	if e == nil {
		return
	}
	check := "commands on " + string(id)
	var enforced []string
	for _, c := range e.Checks {
		if c.Enforced {
			enforced = append(enforced, c.ID)
		}
	}
	switch {
	case e.Mode == "full":
		add(check, "warning", "full access: commands are not restricted and can read keys and tokens, including Fairlead's own", "start the node with --sandbox workspace-write")
	case len(enforced) == 0:
		add(check, "warning", "this machine cannot enforce these settings: "+e.Mode+", network "+e.Network+"", "")
	default:
		state := "ok"
		if e.Summary != "contained" {
			state = "warning"
		}
		add(check, state, fmt.Sprintf("%s, network %s; %s. Enforced: %s", e.Mode, e.Network, e.Summary, strings.Join(enforced, ", ")), "")
	}
	for _, c := range e.Checks {
		if !c.Enforced && e.Mode != "full" {
			add(check, "note", "not enforced: "+c.ID+", "+c.Why, c.Fix)
		}
	}
	for _, w := range e.Warnings {
		add(check, "warning", w, "")
	}
}

// writable returns an error if dir cannot be written. It creates the folder if it is missing.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_, werr := f.WriteString("ok")
	return errors.Join(werr, f.Close(), os.Remove(filepath.Join(dir, filepath.Base(f.Name()))))
}

func printFindings(w io.Writer, all []finding) {
	marks := map[string]string{"ok": "✓", "note": "·", "warning": "!", "bad": "✗"}
	width := 0
	for _, f := range all {
		width = max(width, utf8.RuneCountInString(f.Check))
	}
	for _, f := range all {
		fmt.Fprintf(w, "%s %-*s %s\n", marks[f.State], width, flat(f.Check), flat(f.Found))
		if f.Fix != "" && f.State != "ok" && f.State != "note" {
			fmt.Fprintf(w, "  %-*s → %s\n", width, "", flat(f.Fix))
		}
	}
}
