package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mdp/qrterminal/v3"
	"github.com/spf13/cobra"

	"fairlead/gateway/protocol"
)

// invite makes an invitation and serves it until it is used or withdrawn.
func invite(o *options, cmd *cobra.Command, p pairFlags) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		in := protocol.DeviceInviteParams{Role: p.as, Name: p.name, Minutes: p.minutes, PairedFor: p.days}
		for _, s := range p.scopes {
			in.Scopes = append(in.Scopes, protocol.Scope(s))
		}
		invite, err := call(ctx, c, protocol.DeviceInviteTo, in)
		if err != nil {
			return err
		}
		defer withdraw(ctx, c, invite)
		out := cmd.OutOrStdout()
		if o.json {
			if err := printJSON(out, invite); err != nil {
				return err
			}
		} else {
			p.show(out, invite)
		}
		return serveInvite(o, ctx, c, cmd, invite)
	})
}

// withdraw withdraws an invitation, also when the person interrupts the command.
func withdraw(ctx context.Context, c *connection, i protocol.DeviceInvite) {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialLimit)
	defer cancel()
	call(end, c, protocol.DeviceUninvite, protocol.InviteParams{ID: i.ID})
}

func (p pairFlags) show(out io.Writer, i protocol.DeviceInvite) {
	if !p.noQR {
		qrterminal.GenerateHalfBlock(i.Link, qrterminal.L, out)
	}
	fmt.Fprintf(out, "Run one of these on the other machine:\n\n  fairlead pair '%s'\n  fairlead pair %s\n\n", i.Link, i.Code)
	if i.Install != "" {
		fmt.Fprintf(out, "If Fairlead is not installed there, this installs a node:\n\n  %s\n\n", i.Install)
	}
	if i.InstallWindows != "" {
		fmt.Fprintf(out, "On Windows, in PowerShell:\n\n  %s\n\n", i.InstallWindows)
	}
	fmt.Fprintf(out, "The invitation works once, until %s. Waiting …\n", time.UnixMilli(i.ExpiresAt).Format("15:04"))
}

// pollInterval is the interval at which a command checks whether a device has used the invitation.
const pollInterval = 500 * time.Millisecond

// serveInvite waits for a device that uses an invitation, and asks the person to approve it.
func serveInvite(o *options, ctx context.Context, c *connection, cmd *cobra.Command, i protocol.DeviceInvite) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		list, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
		if err != nil {
			return err
		}
		taken := func(r protocol.DeviceRequest) bool { return r.Invite == i.ID }
		if n := slices.IndexFunc(list.Requests, taken); n >= 0 {
			return askToApprove(o, ctx, c, cmd, list.Requests[n])
		}
		if !slices.ContainsFunc(list.Invites, func(open protocol.DeviceInvite) bool { return open.ID == i.ID }) {
			// A person at a window may have approved the device before this check.
			if n := slices.IndexFunc(list.Devices, func(d protocol.Device) bool { return d.PairedAt >= i.CreatedAt && d.RevokedAt == 0 }); n >= 0 {
				return printPaired(o, cmd, list.Devices[n])
			}
			return protocol.ErrTimeout.With("the invitation has ended: it expired, the request was denied, or a wrong code was entered three times")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// askToApprove shows the requesting device and carries out the person's decision.
func askToApprove(o *options, ctx context.Context, c *connection, cmd *cobra.Command, r protocol.DeviceRequest) error {
	printRequest(cmd.ErrOrStderr(), r)
	fmt.Fprint(cmd.ErrOrStderr(), "Does the other machine show the same words, and is it yours? Pair it? [y/N] ")
	answer, err := readLine(ctx, cmd.InOrStdin())
	if errors.Is(err, io.EOF) {
		return waitForAnswer(o, ctx, c, cmd, r)
	}
	if err != nil {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		_, err := call(ctx, c, protocol.DeviceDeny, protocol.DeviceRequestParams{ID: r.ID})
		return errors.Join(&exitError{code: exitDenied, err: errors.New("refused")}, err)
	}
	d, err := call(ctx, c, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: r.ID})
	if err != nil {
		return err
	}
	return printPaired(o, cmd, d)
}

// waitForAnswer leaves a request to a window or another terminal when nobody can be asked here, and
// waits for the decision.
func waitForAnswer(o *options, ctx context.Context, c *connection, cmd *cobra.Command, r protocol.DeviceRequest) error {
	fmt.Fprintf(cmd.ErrOrStderr(), "\nThis is not a terminal. Answer in another terminal or in a window:\n\n  fairlead pair approve %s\n  fairlead pair deny %s\n\n", r.ID, r.ID)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		list, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Requests, func(open protocol.DeviceRequest) bool { return open.ID == r.ID }) {
			n := slices.IndexFunc(list.Devices, func(d protocol.Device) bool { return d.ID == r.Device.ID && d.RevokedAt == 0 })
			if n < 0 {
				return &exitError{code: exitDenied, err: errors.New("the request was denied, or nobody answered in time")}
			}
			return printPaired(o, cmd, list.Devices[n])
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func printPaired(o *options, cmd *cobra.Command, d protocol.Device) error {
	if o.json {
		return printJSON(cmd.OutOrStdout(), d)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), pairedText(d))
	return err
}

func printRequest(out io.Writer, r protocol.DeviceRequest) {
	d := r.Device
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %s\t%s\n", name, flat(value)) // text from an unknown device
		}
	}
	if r.Kind == protocol.RequestWiden {
		fmt.Fprintf(w, "%s asks for more than it was allowed:\n", flat(d.Name))
		for _, more := range r.Wider {
			row("more", more)
		}
	} else {
		fmt.Fprintf(w, "%s asks to be paired as a %s:\n", flat(d.Name), flat(d.Role))
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
			row("folder", f.Path+map[bool]string{true: ", read-only"}[f.ReadOnly])
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
