package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mdp/qrterminal/v3"
	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
	"fairlead/node/setup"
)

// invite makes an invitation and serves it until it is used or withdrawn.
func invite(o *options, cmd *cobra.Command, p pairFlags) error {
	return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
		in := protocol.DeviceInviteParams{Role: p.as, Name: p.name, Minutes: p.minutes, PairedFor: p.days, Unattended: p.unattended}
		for _, s := range p.scopes {
			in.Scopes = append(in.Scopes, protocol.Scope(s))
		}
		invite, err := call(ctx, c, protocol.DeviceInviteTo, in)
		if errors.Is(err, protocol.ErrUnavailable) {
			return fmt.Errorf("%w: fairlead network on", err)
		}
		if err != nil {
			return err
		}
		defer withdraw(ctx, c, invite)
		if err := show(c, invite, nil, p.show); err != nil {
			return err
		}
		return serveInvite(ctx, c, invite)
	})
}

// withdraw withdraws an invitation, also when the person interrupts the command.
func withdraw(ctx context.Context, c *connection, i protocol.DeviceInvite) {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialLimit)
	defer cancel()
	call(end, c, protocol.DeviceUninvite, protocol.InviteParams{ID: i.ID})
}

func (p pairFlags) show(out io.Writer, i protocol.DeviceInvite) error {
	if !p.noQR {
		qrterminal.GenerateHalfBlock(i.Link, qrterminal.L, out)
	}
	fmt.Fprintf(out, "Run one of these on the other machine:\n\n  fairlead pair '%s'\n  fairlead pair %s\n\n", i.Link, i.Code)
	if i.Install != "" {
		fmt.Fprintf(out, "If Fairlead is not installed there, this installs, pairs and starts a node:\n\n  %s\n\n", i.Install)
	}
	if i.InstallWindows != "" {
		fmt.Fprintf(out, "On Windows, in PowerShell:\n\n  %s\n\n", i.InstallWindows)
	}
	return printf(out, "The invitation works once, until %s. Waiting …\n", time.UnixMilli(i.ExpiresAt).Format("15:04"))
}

// pollInterval is the interval at which a command checks whether a device has used the invitation.
const pollInterval = 500 * time.Millisecond

// pollDevices lists the devices at intervals until done returns true or an error.
func pollDevices(ctx context.Context, c *connection, done func(deviceList) (bool, error)) error {
	for {
		list, err := c.devices(ctx)
		if err != nil {
			return err
		}
		if ok, err := done(list); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// serveInvite waits for a device that uses an invitation, and asks the person to approve it.
func serveInvite(ctx context.Context, c *connection, i protocol.DeviceInvite) error {
	return pollDevices(ctx, c, func(list deviceList) (bool, error) {
		if n := slices.IndexFunc(list.Questions, func(q protocol.Question) bool { return q.Pairing.Invite == i.ID }); n >= 0 {
			return true, askToApprove(ctx, c, list.Questions[n])
		}
		if slices.ContainsFunc(list.Invites, func(open protocol.DeviceInvite) bool { return open.ID == i.ID }) {
			return false, nil
		}
		// A person at a window may have approved the device before this check.
		if n := slices.IndexFunc(list.Devices, func(d protocol.Device) bool { return d.PairedAt >= i.CreatedAt && d.RevokedAt == 0 }); n >= 0 {
			return true, show(c, list.Devices[n], nil, printPaired)
		}
		return true, protocol.ErrTimeout.With("the invitation has ended: it expired, the request was denied, or a wrong code was entered three times")
	})
}

// askToApprove shows the requesting device and carries out the person's decision.
func askToApprove(ctx context.Context, c *connection, r protocol.Question) error {
	printRequest(c.err, r)
	fmt.Fprint(c.err, "Does the other device show the same words? Pair it? [y/N] ")
	answer, err := setup.ReadLine(ctx, c.in)
	if errors.Is(err, io.EOF) {
		return waitForAnswer(ctx, c, r)
	}
	if err != nil {
		return err
	}
	if !setup.IsYes(answer) {
		_, err := call(ctx, c, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: r.ID, Hash: r.Hash, Decision: protocol.DecisionDeny})
		return errors.Join(&exitError{code: exitDenied, err: errors.New("refused")}, err)
	}
	return questionsOf(c).answer(ctx, r, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow}, printPairingAnswer)
}

// waitForAnswer waits for a decision in a window or another terminal when nobody can be asked here.
func waitForAnswer(ctx context.Context, c *connection, r protocol.Question) error {
	fmt.Fprintf(c.err, "\nThis is not a terminal. Answer in another terminal or in a window:\n\n  fairlead pair approve %s\n  fairlead pair deny %[1]s\n\n", r.ID)
	return pollDevices(ctx, c, func(list deviceList) (bool, error) {
		if slices.ContainsFunc(list.Questions, func(open protocol.Question) bool { return open.ID == r.ID }) {
			return false, nil
		}
		n := slices.IndexFunc(list.Devices, func(d protocol.Device) bool { return d.ID == r.Pairing.Device.ID && d.RevokedAt == 0 })
		if n < 0 {
			return true, &exitError{code: exitDenied, err: errors.New("the request was denied, or nobody answered in time")}
		}
		return true, show(c, list.Devices[n], nil, printPaired)
	})
}

// printPairingAnswer prints the device that was paired, or that it was not.
func printPairingAnswer(out io.Writer, q protocol.Question) error {
	if !q.Allowed() {
		return printf(out, "Request denied.\n")
	}
	return printPaired(out, q.Pairing.Device)
}

func printPaired(out io.Writer, d protocol.Device) error {
	return printf(out, "%s\n", pairedText(d))
}

func printRequest(out io.Writer, r protocol.Question) {
	d := r.Pairing.Device
	var t table
	question, text := display.Request(r)
	fmt.Fprintf(out, "%s %s\n", question, flat(text))
	if r.Kind == protocol.AskWiden {
		for _, more := range r.Pairing.Wider {
			t.value("  more", more)
		}
	} else {
		t.value("  words", format.Words(r.Pairing.Words))
	}
	t.value("  machine", string(d.NodeID))
	t.value("  system", d.OS)
	t.value("  host", d.Hostname)
	t.value("  address", d.Address)
	if reach := d.Reach; reach != nil {
		t.value("  tools", strings.Join(reach.Tools, ", "))
		t.value("  commands", strings.Trim(reach.Sandbox+", network "+reach.Network, ", "))
		for _, f := range reach.Folders {
			t.value("  folder", folderText(f))
		}
		if reach.Disk {
			t.value("  folder", "the whole disk")
		}
	}
	for _, s := range d.Scopes {
		t.value("  may", string(s))
	}
	t.value("  key", d.Fingerprint)
	t.print(out, "")
}
