package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fairlead/gateway/protocol"
)

func channelsCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "channels", Short: "Connect the agent to chat networks",
		Long: `Connects the agent to chat networks and sets who may write to it there.

Unknown senders are listed under "pair" until you approve them, unless channels.NAME.dmPolicy says otherwise (open, allowlist or
pairing) or they are in channels.NAME.allowFrom. Their messages are only text for the agent: they cannot run commands or answer approvals.
From an address in channels.NAME.owners, you can use chat commands (/help) in direct messages, but you cannot
run !commands or answer approvals there.`,
		Example: `  fairlead channels login xmpp jid=agent@example.org rooms=team@rooms.example.org
  fairlead channels start xmpp
  fairlead channels pair list
  fairlead channels pair approve xmpp ann@example.org`,
	}
	var account string
	cmd.PersistentFlags().StringVar(&account, "account", "", `name of the account, if a channel has several (default "default")`)
	one := func(args []string) (protocol.ChannelParams, error) {
		return protocol.ChannelParams{Channel: args[0], AccountID: account}, nil
	}
	cmd.AddCommand(command("list", "List accounts and their state", cobra.NoArgs,
		o.onGateway(listChannels)),
		channelLoginCommand(o, &account), channelStartCommand(o, &account),
		command("stop CHANNEL", "Disconnect an account and keep its settings", cobra.ExactArgs(1), onMethod(o, protocol.ChannelStop, one, nil)),
		command("logout CHANNEL", "Disconnect an account and delete its settings and password", cobra.ExactArgs(1),
			onMethod(o, protocol.ChannelLogout, one, nil)),
		channelPairCommand(o))
	return cmd
}

func channelLoginCommand(o *options, account *string) *cobra.Command {
	return command("login CHANNEL [SETTING=VALUE ...]", "Log in to an account; asks for passwords, or reads them from standard input, one per line", cobra.MinimumNArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			cfg, err := channelSettings(ctx, c, args[0], args[1:], true)
			if err != nil {
				return err
			}
			p := protocol.ChannelLoginParams{Channel: args[0], AccountID: *account, Config: cfg, Force: true}
			return showCall(ctx, c, protocol.ChannelLogin, p, func(out io.Writer, r protocol.ChannelLoginResult) error {
				if r.QRDataURL != "" {
					fmt.Fprintln(out, r.QRDataURL)
				}
				fmt.Fprintln(out, r.Message)
				a, err := accountOf(ctx, c, r.Channel, r.AccountID)
				if err != nil || a.State == protocol.AccountConnected {
					return err
				}
				line := "fairlead channels start " + r.Channel
				if *account != "" {
					line += " --account " + r.AccountID
				}
				return printf(out, "To connect it now and at every start of the gateway: %s\n", line)
			})
		}))
}

func channelStartCommand(o *options, account *string) *cobra.Command {
	return command("start CHANNEL [SETTING=VALUE ...]", "Connect an account now and at every start of the gateway", cobra.MinimumNArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			cfg, err := channelSettings(ctx, c, args[0], args[1:], false)
			if err != nil {
				return err
			}
			p := protocol.ChannelStartParams{Channel: args[0], AccountID: *account, Config: cfg}
			return showCall(ctx, c, protocol.ChannelStart, p, func(out io.Writer, r protocol.ChannelOK) error {
				a, err := accountOf(ctx, c, r.Channel, r.AccountID)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "%s (%s) is %s.\n", r.Channel, r.AccountID, strings.TrimRight(accountState(a), "."))
				if a.State != protocol.AccountConnected {
					fmt.Fprintln(out, "Fairlead keeps trying to connect. To see the state: fairlead channels list")
				}
				return nil
			})
		}))
}

func listChannels(ctx context.Context, c *connection, _ []string) error {
	list, err := call(ctx, c, protocol.ChannelsList, protocol.Empty{})
	if err != nil || c.json {
		return show(c, list, err, nil)
	}
	var t table
	if len(list.Kinds) == 0 { // a gateway of the specification knows a channel only while it is connected
		for _, e := range list.Channels {
			t.row(flat(e.Channel), flat(e.AccountID), "connected", lastActive(e.LastMessageAt))
		}
		return t.print(c.out, "No channels are connected.")
	}
	var names []string
	for _, k := range list.Kinds {
		names = append(names, k.Channel)
	}
	for _, e := range list.Channels {
		names = append(names, e.Channel)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		st, err := call(ctx, c, protocol.ChannelStatus, protocol.ChannelParams{Channel: name})
		if err != nil {
			return err
		}
		if len(st.Accounts) == 0 {
			t.row(name, "-", "no account", "")
		}
		for _, a := range st.Accounts {
			var more []string
			if text := lastActive(a.LastActivity); text != "" {
				more = append(more, text)
			}
			if a.Waiting > 0 {
				more = append(more, fmt.Sprintf("%d waiting to be delivered", a.Waiting))
			}
			t.row(name, a.AccountID, accountState(a), strings.Join(more, ", "))
		}
	}
	return t.print(c.out, "")
}

// lastActive says when somebody wrote on a channel, or is empty if that is not known.
func lastActive(at int64) string {
	if at == 0 {
		return ""
	}
	return "last active " + minuteText(at)
}

// accountOf returns the status of one account.
func accountOf(ctx context.Context, c *connection, channel, account string) (protocol.ChannelAccountStatus, error) {
	st, err := call(ctx, c, protocol.ChannelStatus, protocol.ChannelParams{Channel: channel, AccountID: account})
	if err != nil || len(st.Accounts) == 0 {
		return protocol.ChannelAccountStatus{}, err
	}
	return st.Accounts[0], nil
}

// accountState describes an account's state and its reason.
func accountState(a protocol.ChannelAccountStatus) string {
	state := "not connected"
	switch {
	case a.Connected:
		state = "connected"
	case a.State == protocol.AccountStopped:
		state = "stopped"
	case a.State == protocol.AccountNoLogin: // its error has the details
		return a.Error
	}
	if a.Error != "" {
		state += ": " + a.Error
	}
	return state
}

// channelSettings parses SETTING=VALUE arguments. Secrets are never accepted on the command line,
// where others can see them: with ask, the person is asked for them, or they are read from standard
// input when that is not a terminal. In a terminal, missing required settings are asked for, too.
func channelSettings(ctx context.Context, c *connection, channel string, words []string, ask bool) (map[string]json.RawMessage, error) {
	list, err := call(ctx, c, protocol.ChannelsList, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	var fields []protocol.ChannelField
	for _, k := range list.Kinds {
		if strings.EqualFold(k.Channel, channel) {
			fields = k.Fields
		}
	}
	cfg := make(map[string]json.RawMessage)
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, usageError("%q is not SETTING=VALUE", w)
		}
		if slices.ContainsFunc(fields, func(f protocol.ChannelField) bool { return f.Name == name && f.Secret }) {
			return nil, usageError("do not give the %s on the command line; fairlead channels login asks for it", name)
		}
		if cfg[name], err = protocol.Marshal(value); err != nil {
			return nil, err
		}
	}
	if !ask {
		return cfg, nil
	}
	lines := bufio.NewReader(c.in)
	for _, f := range fields {
		if !f.Secret && (!f.Required || cfg[f.Name] != nil || terminalOf(c.in) < 0) {
			continue
		}
		value, err := readField(c, lines, f)
		if err != nil {
			return nil, err
		}
		if value == "" {
			continue // settings that are known stay
		}
		if cfg[f.Name], err = protocol.Marshal(value); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

func readField(c *connection, lines *bufio.Reader, f protocol.ChannelField) (string, error) {
	fd := terminalOf(c.in)
	if fd >= 0 {
		fmt.Fprintf(c.err, "%s (leave empty to keep the current value): ", f.Title)
	}
	if fd >= 0 && f.Secret {
		value, err := term.ReadPassword(fd)
		fmt.Fprintln(c.err)
		if err != nil {
			return "", fmt.Errorf("read the %s: %w", f.Name, err)
		}
		return string(value), nil
	}
	line, err := lines.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the %s: %w", f.Name, err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func channelPairCommand(o *options) *cobra.Command {
	sender := func(args []string) (protocol.PairParams, error) {
		return protocol.PairParams{Channel: args[0], SenderID: args[1]}, nil
	}
	list := func(out io.Writer, r protocol.PairListResult) error {
		var t table
		for _, k := range slices.Sorted(maps.Keys(r.Pairs)) {
			p := r.Pairs[k]
			t.row(p.Channel, p.SenderID, p.SenderName, minuteText(p.RequestedAt), strconv.Quote(firstLine(p.FirstMessage)))
		}
		return t.print(out, "No unknown senders are waiting.")
	}
	return group("pair", "Approve or reject unknown senders",
		command("list", "List unknown senders", cobra.NoArgs, onMethod(o, protocol.PairList, nil, list)),
		command("approve CHANNEL SENDER", "Allow a sender to write to the agent", cobra.ExactArgs(2), onMethod(o, protocol.PairApprove, sender, nil)),
		command("reject CHANNEL SENDER", "Reject a sender, who can ask again", cobra.ExactArgs(2), onMethod(o, protocol.PairReject, sender, nil)))
}
