package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mdp/qrterminal/v3"
	"github.com/spf13/cobra"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/discover"
	"fairlead/gateway/protocol/secret"
	"fairlead/gateway/protocol/trust"
	"fairlead/node"
)

// pairFlags are the flags of fairlead pair.
type pairFlags struct {
	as, name, gateway, ssh, sshCommand string
	minutes, days                      int
	ask, key, noQR                     bool
	scopes                             []string
	node                               nodeFlags
}

func pairCommand(o *options) *cobra.Command {
	var p pairFlags
	cmd := &cobra.Command{
		Use:   "pair [LINK | CODE]",
		Short: "Let another machine in, or pair this one with a gateway elsewhere",
		Long: `Without an argument: makes an invitation for another machine, waits for whoever takes it, shows who that is, and asks you.
With a link or code from there: pairs this machine. Start its node with the same flags afterwards: fairlead node.

Both ends show the same four words. If they differ, somebody sits in between: say no.`,
		Example: "  fairlead pair\n  fairlead pair 'fairlead://pair?…' --workspace ~/work\n  fairlead pair 7-maple-otter-tulip\n  fairlead pair --ask --gateway 192.168.1.7:8788\n  fairlead pair --ssh me@server",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			invitation := strings.Join(args, " ")
			switch {
			case p.as != protocol.RoleNode && p.as != protocol.RoleClient:
				return &exitError{code: exitUsage, err: errors.New("--as is node or client")}
			case p.key:
				return o.printKey(cmd)
			case p.ssh != "":
				return o.pairSSH(cmd, p)
			case invitation == "-":
				line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
				if err != nil && line == "" {
					return fmt.Errorf("read the invitation: %w", err)
				}
				return o.join(cmd, p, strings.TrimSpace(line))
			case invitation != "" || p.ask:
				return o.join(cmd, p, invitation)
			}
			return o.invite(cmd, p)
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.as, "as", protocol.RoleNode, "what is paired: a node, which runs tools, or a client, which looks and decides")
	f.StringVar(&p.name, "name", "", "what to call the machine that comes")
	f.IntVar(&p.minutes, "minutes", 10, "how long the invitation holds, 1 to 60")
	f.IntVar(&p.days, "days", 0, "for how many days the pairing holds (default: without an end)")
	f.StringSliceVar(&p.scopes, "may", nil, "what a client may do: read, chat, invoke, approve, admin (default: all)")
	f.StringVar(&p.gateway, "gateway", "", "address of the gateway, `HOST:PORT`; it is looked for on the local network otherwise")
	f.BoolVar(&p.ask, "ask", false, "without an invitation: have the person at the gateway asked")
	f.StringVar(&p.ssh, "ssh", "", "pair `HOST` over SSH: its key is read there, so nobody has to compare words")
	f.StringVar(&p.sshCommand, "ssh-command", "ssh", "the SSH program")
	f.BoolVar(&p.key, "key", false, "print this machine's key and end")
	f.BoolVar(&p.noQR, "no-qr", false, "print no QR code")
	p.node.add(cmd)
	cmd.AddCommand(pairListCommand(o), pairAnswerCommand(o, "approve", "Let in who asks, or allow a machine what it offers more"), pairAnswerCommand(o, "deny", "Refuse a request"),
		deviceCommand(o, "revoke", "End a pairing", protocol.DeviceRevoke), deviceCommand(o, "rotate", "Replace a device's token; it fetches the new one by itself", protocol.DeviceRotate),
		pairForgetCommand(o), pairRenameCommand(o), gatewaysCommand(o), leaveCommand(o), pairResetCommand(o))
	return cmd
}

func (o *options) printKey(cmd *cobra.Command) error {
	id, _, err := o.identity()
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), trust.Fingerprint(id.Public()))
	return nil
}

// identity is this device's key and the gateways it is paired with.
func (o *options) identity() (trust.Identity, *trust.Peers, error) {
	home, err := o.homeDir()
	if err != nil {
		return trust.Identity{}, nil, err
	}
	secrets := secret.Open(home)
	id, err := trust.OpenIdentity(secrets)
	return id, trust.OpenPeers(home, secrets), err
}

// invite makes an invitation and serves it to its end.
func (o *options) invite(cmd *cobra.Command, p pairFlags) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		in := protocol.DeviceInviteParams{Role: p.as, Name: p.name, Minutes: p.minutes, PairedFor: p.days}
		for _, s := range p.scopes {
			in.Scopes = append(in.Scopes, protocol.Scope(s))
		}
		invite, err := client.Call(ctx, c.Client, protocol.DeviceInviteTo, in)
		if err != nil {
			return err
		}
		defer func() { // withdrawn when the person leaves
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialLimit)
			defer cancel()
			client.Call(end, c.Client, protocol.DeviceUninvite, protocol.InviteParams{ID: invite.ID})
		}()
		out := cmd.OutOrStdout()
		if o.json {
			if err := printJSON(out, invite); err != nil {
				return err
			}
		} else {
			p.show(out, invite)
		}
		return o.serveInvite(ctx, c, cmd, invite)
	})
}

func (p pairFlags) show(out io.Writer, i protocol.DeviceInvite) {
	if !p.noQR {
		qrterminal.GenerateHalfBlock(i.Link, qrterminal.L, out)
	}
	fmt.Fprintf(out, "On the other machine, one of:\n\n  fairlead pair '%s'\n  fairlead pair %s\n\n", i.Link, i.Code)
	if i.Role == protocol.RoleNode {
		fmt.Fprintf(out, "Fairlead is not there yet? This installs its node:\n\n  %s\n\n", i.Install)
	}
	fmt.Fprintf(out, "It counts once, until %s. Waiting …\n", time.UnixMilli(i.ExpiresAt).Format("15:04"))
}

// lookEvery is how often a command asks whether somebody came.
const lookEvery = 500 * time.Millisecond

// serveInvite waits for who takes an invitation, and asks the person.
func (o *options) serveInvite(ctx context.Context, c *connection, cmd *cobra.Command, i protocol.DeviceInvite) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		list, err := client.Call(ctx, c.Client, protocol.DeviceList, protocol.Empty{})
		if err != nil {
			return err
		}
		taken := func(r protocol.DeviceRequest) bool { return r.Invite == i.ID }
		if n := slices.IndexFunc(list.Requests, taken); n >= 0 {
			return o.decide(ctx, c, cmd, list.Requests[n])
		}
		if !slices.ContainsFunc(list.Invites, func(open protocol.DeviceInvite) bool { return open.ID == i.ID }) {
			return protocol.ErrTimeout.With("the invitation is over: nobody took it, or it was guessed wrong three times")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// decide shows who asks and carries out the person's word.
func (o *options) decide(ctx context.Context, c *connection, cmd *cobra.Command, r protocol.DeviceRequest) error {
	printRequest(cmd.ErrOrStderr(), r)
	fmt.Fprint(cmd.ErrOrStderr(), "Are the words the same there, and is it yours? Let it in? [y/N] ")
	answer, err := readLine(ctx, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		_, err := client.Call(ctx, c.Client, protocol.DeviceDeny, protocol.DeviceRequestParams{ID: r.ID})
		return errors.Join(&exitError{code: exitDenied, err: errors.New("refused")}, err)
	}
	d, err := client.Call(ctx, c.Client, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: r.ID})
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), d)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Paired: %s.\n", d.Name)
	return nil
}

// readLine reads a line unless ctx ends first; the reading goroutine then stays until the program ends.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := bufio.NewReader(in).ReadString('\n')
		done <- read{text, err}
	}()
	select {
	case r := <-done:
		if r.text != "" {
			return r.text, nil
		}
		return "", r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func printRequest(out io.Writer, r protocol.DeviceRequest) {
	d := r.Device
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %s\t%s\n", name, value)
		}
	}
	if r.Kind == protocol.RequestWiden {
		fmt.Fprintf(w, "%s wants to offer more than it was allowed:\n", d.Name)
		for _, more := range r.Wider {
			row("more", more)
		}
	} else {
		fmt.Fprintf(w, "%s wants to be paired as a %s:\n", d.Name, d.Role)
		row("words", strings.Join(r.Words, " "))
	}
	row("machine", string(d.NodeID))
	row("system", d.OS)
	row("host", d.Hostname)
	row("address", d.Address)
	if reach := d.Reach; reach != nil {
		row("tools", strings.Join(reach.Tools, ", "))
		row("commands", strings.Trim(reach.Sandbox+", network "+reach.Network, ", "))
		for _, f := range reach.Folders {
			row("folder", f.Path+map[bool]string{true: ", only to read"}[f.ReadOnly])
		}
		if reach.Disk {
			row("folder", "the whole disk")
		}
	}
	for _, s := range d.Scopes {
		row("may", string(s))
	}
	row("key", d.Fingerprint)
	w.Flush()
}

// join pairs this machine.
func (o *options) join(cmd *cobra.Command, p pairFlags, invitation string) error {
	id, peers, err := o.identity()
	if err != nil {
		return err
	}
	j := client.Join{Identity: id, Peers: peers, Invitation: invitation, Find: func(ctx context.Context) []string { return discover.Find(ctx, "") }}
	if p.gateway != "" {
		j.Gateways = []string{p.gateway}
	}
	host, _ := os.Hostname()
	j.Applicant = trust.Applicant{Role: protocol.RoleClient, Name: host, Hostname: host, OS: runtime.GOOS, Platform: runtime.GOOS, Version: gateway.Version}
	if p.as == protocol.RoleNode {
		opts, err := p.node.options(o)
		if err != nil {
			return err
		}
		opts.LogDir, opts.URL = "", "ws://not.used/ws"
		n, err := node.New(opts)
		if err != nil {
			return err
		}
		j.Applicant = n.Applicant()
		n.Close()
	}
	out := cmd.ErrOrStderr()
	j.Show = func(words []string, seconds int) {
		fmt.Fprintf(out, "The gateway shows these words too, or somebody sits in between:\n\n  %s\n\nWaiting for its person, %d seconds at most …\n", strings.Join(words, " "), seconds)
	}
	j.Confirm = func(words []string) bool {
		fmt.Fprintf(out, "Did the gateway show %s? [y/N] ", strings.Join(words, " "))
		answer, err := readLine(cmd.Context(), cmd.InOrStdin())
		a := strings.ToLower(strings.TrimSpace(answer))
		return err == nil && (a == "y" || a == "yes")
	}
	peer, err := j.Run(cmd.Context())
	if err != nil {
		return err
	}
	home, err := o.homeDir()
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), peer)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Paired with %s. This machine's key is kept in: %s.\n", peer.Name, secret.Open(home).Where())
	if p.as == protocol.RoleNode {
		fmt.Fprintln(cmd.OutOrStdout(), "Start its node with the same flags: fairlead node")
	} else {
		fmt.Fprintf(cmd.OutOrStdout(), "Talk to it: fairlead --url %s status\n", peer.Name)
	}
	return nil
}

// pairSSH pairs a machine where the person can log in: the key is read there, and the link goes there through SSH.
func (o *options) pairSSH(cmd *cobra.Command, p pairFlags) error {
	// The login shell there takes the words as one line. Installed by our own script, the node is in ~/.local/bin, which it may not look into.
	remote := func(ctx context.Context, stdin, line string) (string, error) {
		words := strings.Fields(p.sshCommand)
		run := exec.CommandContext(ctx, words[0], append(words[1:], p.ssh, "--", "PATH=\"$PATH:$HOME/.local/bin\"; "+line)...)
		run.Stdin, run.Stderr = strings.NewReader(stdin), cmd.ErrOrStderr()
		out, err := run.Output()
		return strings.TrimSpace(string(out)), err
	}
	key, err := remote(cmd.Context(), "", "if command -v fairlead >/dev/null; then fairlead pair --key; else fairlead-node --key; fi")
	if err != nil {
		return fmt.Errorf("read the key of %s over SSH: %w. Is Fairlead installed there? \"fairlead pair\" prints a line that installs it", p.ssh, err)
	}
	if len(key) != 64 {
		return fmt.Errorf("%s answers %.80q instead of its key", p.ssh, key)
	}
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		invite, err := client.Call(ctx, c.Client, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleNode, Name: p.name, Device: key, PairedFor: p.days})
		if err != nil {
			return err
		}
		if _, err := remote(ctx, invite.Link+"\n", "if command -v fairlead >/dev/null; then fairlead pair -; else fairlead-node --pair - --only-pair; fi"); err != nil {
			client.Call(ctx, c.Client, protocol.DeviceUninvite, protocol.InviteParams{ID: invite.ID})
			return fmt.Errorf("pair %s over SSH: %w", p.ssh, err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "Paired: %s. Start its node there: fairlead node\n", p.ssh)
		return nil
	})
}
