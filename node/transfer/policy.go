package transfer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/node/prompt"
	"fairlead/node/workspace"
)

// Modes in which a machine receives files.
const (
	Trusted = "trusted" // accept from everyone in Policy.From, or from all when that is empty
	Ask     = "ask"     // ask a person at this machine about each transfer
	Off     = "off"     // accept nothing
)

// Policy decides which files a machine accepts. The zero value accepts everything that its
// workspace permits.
type Policy struct {
	Mode string // "" means Trusted
	// From lists trusted machines; "gsv" is the agent's workspace, "@here" a window or command
	// line.
	From []protocol.NodeID
	// Folder is where everything is stored: relative destinations are in it, others are refused. If
	// it is empty, the workspace is the limit.
	Folder string
	// Ask asks a person, and returns an error if they refuse. It may block.
	Ask func(ctx context.Context, in protocol.TransferReceive) error
}

// ParsePolicy parses flags: a mode, machines separated by commas, and a folder; each may be empty.
func ParsePolicy(mode, from, folder string) (p Policy, err error) {
	p.Mode = mode
	switch mode {
	case "", Trusted, Ask, Off:
	default:
		return p, fmt.Errorf("%q is not a receive mode: use trusted, ask or off", mode)
	}
	for id := range strings.SplitSeq(from, ",") {
		if id = strings.TrimSpace(id); id != "" {
			p.From = append(p.From, protocol.NodeID(id))
		}
	}
	if folder != "" {
		p.Folder, err = filepath.Abs(folder)
	}
	return p, err
}

// Consent implements stream.Consent.
func (p Policy) Consent(ctx context.Context, in protocol.TransferReceive) error {
	from := in.From
	if in.Stream != nil {
		from = in.Stream.From
	}
	switch {
	case p.Mode == Off:
		return errors.New("This machine does not accept files")
	case len(p.From) > 0 && !slices.Contains(p.From, from):
		return fmt.Errorf("This machine accepts files only from machines that its owner named, not from %q", from)
	case p.Mode != Ask:
		return nil
	case p.Ask == nil:
		return errCannotAsk
	}
	return p.Ask(ctx, in)
}

// Check returns an error if the workspace can never write into the folder.
func (p Policy) Check(ws *workspace.Root) error {
	if p.Folder == "" {
		return nil
	}
	if _, err := ws.Resolve(p.Folder); err != nil {
		return fmt.Errorf("--receive-folder: %w", err)
	}
	return nil
}

// checkInside refuses a path outside Policy.Folder.
func (p Policy) checkInside(ws *workspace.Root, abs string) error {
	if p.Folder == "" {
		return nil
	}
	home, err := ws.Resolve(p.Folder)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(home.Abs, abs); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return fmt.Errorf("This machine accepts files only in '%s', and '%s' is outside", home.Abs, abs)
	}
	return nil
}

// errCannotAsk is the error when this machine's person cannot be asked. Nobody at the gateway may
// answer instead, because it is the person's machine.
var errCannotAsk = errors.New("This machine runs with --receive ask, but not in a terminal, so nobody can be asked: start it in a terminal, or with --receive trusted or --receive-from")

// AskAt returns a function for Policy.Ask that asks the person at a terminal about each transfer.
func AskAt(t *prompt.Asker) func(context.Context, protocol.TransferReceive) error {
	return func(ctx context.Context, r protocol.TransferReceive) error {
		yes, err := t.Ask(ctx, question(r)+" Accept?")
		switch {
		case errors.Is(err, prompt.ErrClosed):
			return errCannotAsk
		case err != nil:
			return err
		case !yes:
			return errors.New("The person at this machine declined the transfer")
		}
		return nil
	}
}

// question describes the transfer to be received. Names come from elsewhere; they are quoted, so
// that they cannot control a terminal.
func question(r protocol.TransferReceive) string {
	from, again := r.From, ""
	if r.Stream != nil {
		from = r.Stream.From
		if r.Stream.Attempt > 1 {
			again = " again"
		}
	}
	who := fmt.Sprintf("%q", from)
	switch from {
	case protocol.NativePrefix:
		who = "The agent's workspace"
	case protocol.Here:
		who = "A window or command line"
	case "":
		who = "Another machine"
	}
	return fmt.Sprintf("%s%s sends %s to %q.", who, again, format.Size(r.Size), r.Path)
}
