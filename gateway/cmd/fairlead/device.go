package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// deviceList is the devices and invitations, with the questions about devices.
type deviceList struct {
	protocol.DeviceListResult
	Questions []protocol.Question `json:"questions"`
}

// devices lists the questions first: a device that is paired meanwhile is in the list then.
func (c *connection) devices(ctx context.Context) (list deviceList, err error) {
	list.Questions = []protocol.Question{}
	if c.offers(protocol.QuestionList.Name) {
		r, err := call(ctx, c, protocol.QuestionList, protocol.Empty{})
		if err != nil {
			return list, err
		}
		list.Questions = append(list.Questions, slices.DeleteFunc(r.Questions, func(q protocol.Question) bool { return q.Pairing == nil })...)
	}
	list.DeviceListResult, err = call(ctx, c, protocol.DeviceList, protocol.Empty{})
	return list, err
}

func listDevices(ctx context.Context, c *connection, _ []string) error {
	list, err := c.devices(ctx)
	return show(c, list, err, printDevices)
}

func printDevices(out io.Writer, r deviceList) error {
	var t table
	for _, d := range r.Devices {
		t.row(string(d.ID), d.Name, d.Role, deviceState(d), format.Words(d.Words))
	}
	err := t.print(out, "No device is paired. To add one: fairlead pair")
	for _, q := range r.Questions {
		fmt.Fprintf(out, "\nrequest %s, %s\n", q.ID, ago(q.CreatedAt))
		printRequest(out, q)
	}
	for _, i := range r.Invites {
		fmt.Fprintf(out, "\ninvitation %s for a %s, until %s\n", i.ID, display.Role(i.Role), time.UnixMilli(i.ExpiresAt).Format("15:04"))
	}
	return err
}

func deviceState(d protocol.Device) string {
	until := ""
	if d.ExpiresAt > 0 {
		until = ", access until " + minuteText(d.ExpiresAt)
	}
	switch {
	case d.RevokedAt > 0:
		return "revoked by " + d.RevokedBy + " " + ago(d.RevokedAt)
	case d.ExpiresAt > 0 && d.ExpiresAt <= time.Now().UnixMilli():
		return "access expired"
	case d.Online:
		return "online" + until
	case d.LastSeenAt > 0:
		return "offline, last seen " + ago(d.LastSeenAt) + until
	}
	return "never connected" + until
}

// pairCommands are the subcommands of pair that manage the devices of the gateway.
func pairCommands(o *options) []*cobra.Command {
	answer := func(use, decision, short string) *cobra.Command {
		return command(use+" REQUEST", short+"; \"fairlead pair list\" shows the request's ID", cobra.ExactArgs(1), o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			q, err := questionsOf(c).find(ctx, args[0])
			switch {
			case err != nil:
				return err
			case q.Pairing == nil:
				return usageError("this question is answered with: %s", answerCommand(q))
			}
			return questionsOf(c).answer(ctx, q, protocol.QuestionAnswerParams{Decision: decision}, printPairingAnswer)
		}))
	}
	return []*cobra.Command{
		command("list", "List devices, pending requests and open invitations", cobra.NoArgs, o.onGateway(listDevices)),
		answer("approve", protocol.DecisionAllow, "Approve a pairing request, or a machine's request for more access"),
		answer("deny", protocol.DecisionDeny, "Deny a request"),
		command("revoke DEVICE", "Revoke a device's pairing", cobra.ExactArgs(1), o.onDevice(changeDevice(protocol.DeviceRevoke))),
		command("rotate DEVICE", "Replace a device's token; the device fetches the new one automatically", cobra.ExactArgs(1),
			o.onDevice(changeDevice(protocol.DeviceRotate))),
		command("forget DEVICE", "Revoke a device and delete its record", cobra.ExactArgs(1), o.onDevice(forgetDevice)),
		command("rename DEVICE NAME", "Rename a device", cobra.ExactArgs(2), o.onDevice(renameDevice)),
		command("until DEVICE END", "Set when a device's access expires: 1h, today, 30d, never or now", cobra.ExactArgs(2), setDeviceExpiry(o)),
	}
}

// pairedText describes the rights of a device that the person has just approved.
func pairedText(d protocol.Device) string {
	if d.Role == protocol.RoleClient {
		return fmt.Sprintf("%s is paired as a controller. It may: %s.", d.Name, strings.Join(protocol.ScopeNames(d.Scopes), ", "))
	}
	tools := "none"
	if d.Reach != nil && len(d.Reach.Tools) > 0 {
		tools = strings.Join(d.Reach.Tools, ", ")
	}
	return fmt.Sprintf("%s is paired as the machine %s. Its tools: %s.", d.Name, d.NodeID, flat(tools))
}

// device finds a device by ID, name or machine.
func device(ctx context.Context, c *connection, text string) (protocol.Device, error) {
	if text == "" {
		return protocol.Device{}, usageError("the device name is empty; to list devices: fairlead pair list")
	}
	r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return protocol.Device{}, err
	}
	var matches []protocol.Device
	for _, d := range r.Devices {
		if string(d.ID) == text {
			return d, nil
		}
		if strings.EqualFold(d.Name, text) || string(d.NodeID) == text {
			matches = append(matches, d)
		}
	}
	if isExact := func(d protocol.Device) bool { return d.Name == text || string(d.NodeID) == text }; slices.ContainsFunc(matches, isExact) {
		matches = slices.DeleteFunc(matches, func(d protocol.Device) bool { return !isExact(d) })
	}
	switch len(matches) {
	case 0:
		return protocol.Device{}, protocol.ErrNotFound.With(fmt.Sprintf("no paired device is named %s; to list devices: fairlead pair list", text))
	case 1:
		return matches[0], nil
	}
	var ids []string
	for _, d := range matches {
		ids = append(ids, fmt.Sprintf("%s (%s)", d.ID, d.Role))
	}
	return protocol.Device{}, protocol.ErrConflict.With(fmt.Sprintf("%d devices are named %s; use an ID instead: %s", len(matches), text, strings.Join(ids, ", ")))
}

// onDevice makes a command run f with the device that its first argument names.
func (o *options) onDevice(f func(ctx context.Context, c *connection, d protocol.Device, args []string) error) runner {
	return o.onGateway(func(ctx context.Context, c *connection, args []string) error {
		d, err := device(ctx, c, args[0])
		if err != nil {
			return err
		}
		return f(ctx, c, d, args)
	})
}

// changeDevice returns a function for onDevice that calls a method.
func changeDevice(
	m protocol.Method[protocol.DeviceParams, protocol.Device],
) func(ctx context.Context, c *connection, d protocol.Device, args []string) error {
	return func(ctx context.Context, c *connection, d protocol.Device, _ []string) error {
		return showCall(ctx, c, m, protocol.DeviceParams{ID: d.ID}, func(_ io.Writer, d protocol.Device) error {
			if d.RevokedAt > 0 {
				noteOtherRole(ctx, c, d)
			}
			return nil
		})
	}
}

// noteOtherRole prints a note when a device still has access in another role.
func noteOtherRole(ctx context.Context, c *connection, ended protocol.Device) {
	r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return
	}
	for _, d := range r.Devices {
		if d.Fingerprint == ended.Fingerprint && d.ID != ended.ID && d.RevokedAt == 0 {
			fmt.Fprintf(c.err, "The same device is still paired as a %s. To revoke that too: fairlead pair revoke %s\n", display.Role(d.Role), d.ID)
		}
	}
}

func forgetDevice(ctx context.Context, c *connection, d protocol.Device, _ []string) error {
	_, err := call(ctx, c, protocol.DeviceForget, protocol.DeviceParams{ID: d.ID})
	if err == nil && !c.json {
		noteOtherRole(ctx, c, d)
	}
	return err
}

func renameDevice(ctx context.Context, c *connection, d protocol.Device, args []string) error {
	_, err := call(ctx, c, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, Name: &args[1]})
	return err
}

func setDeviceExpiry(o *options) runner {
	return func(cmd *cobra.Command, args []string) error {
		end, ok := display.RuleEndByKey(args[1])
		if !ok && args[1] != "now" {
			return usageError("END must be 1h, today, 30d, never or now, not %s", args[1])
		}
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			d, err := device(ctx, c, args[0])
			if err != nil {
				return err
			}
			until := time.Now().UnixMilli()
			if ok {
				until = end.At(time.Now())
			}
			return showCall(ctx, c, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &until}, nil)
		})
	}
}
