package display

import (
	"strings"

	"fairlead/gateway/protocol"
)

// Peer returns the address of a machine and the words of its key: "192.168.1.20 ·
// cobalt-otter-lamp-nine". It is empty for the gateway's own machine.
func Peer(h *protocol.HostInfo) string {
	if h == nil {
		return ""
	}
	return strings.Trim(Line(h.Address, 0)+" · "+Line(strings.Join(h.Words, "-"), 0), " ·")
}

// QuestionTitle returns the title of an approval.
func QuestionTitle(a protocol.Approval) string {
	if a.Kind == protocol.AskContinue {
		return "Fairlead wants to continue"
	}
	// tools such as SessionsList or Cron neither read nor change a file
	if a.Node == protocol.NativePrefix && !strings.HasSuffix(a.Tool, "File") {
		return "Fairlead wants to use " + a.Tool
	}
	switch a.Effect {
	case protocol.EffectExec:
		return "Fairlead wants to run a command"
	case protocol.EffectWrite:
		switch a.Tool {
		case "fs_mkdir":
			return "Fairlead wants to create a folder"
		case "fs_delete":
			return "Fairlead wants to delete"
		}
		if a.Preview != nil && a.Preview.NewFile {
			return "Fairlead wants to create a file"
		}
		return "Fairlead wants to change a file"
	case protocol.EffectRead:
		return "Fairlead wants to read"
	case protocol.EffectNetwork:
		return "Fairlead wants to use the network"
	}
	return "Fairlead wants to use " + a.Tool
}

// Why returns the reason for a question, in one line.
func Why(a protocol.Approval) string {
	if a.Floor {
		return a.Why + " – always asked"
	}
	return a.Why
}

// Program names the program of a part of a command, with those that it starts: "sudo → systemctl".
// A part without a program is named by its text, and one that runs the output of another as "curl …
// | sh".
func Program(p protocol.ApprovalPart) string {
	if len(p.Argv) == 0 {
		return Line(p.Text, 60)
	}
	name := p.Argv[0][strings.LastIndexAny(p.Argv[0], `/\`)+1:]
	if first, _, piped := strings.Cut(p.Text, " "); piped && strings.Contains(p.Text, "|") && first != p.Argv[0] {
		name = first + " … | " + name
	}
	if p.Starts != "" {
		name += " → " + p.Starts
	}
	return Line(name, 60)
}

// Risk says why a part of a command is dangerous or denied; "" if it is not known to be.
func Risk(p protocol.ApprovalPart) string {
	switch {
	case p.Risk != "":
		return p.Risk
	case p.Kind == "finding" || p.Verdict == "deny" || p.Floor:
		return p.Reason
	}
	return ""
}

// Stopped says what the sandbox will stop of a part of a command; "" if nothing is known.
func Stopped(p protocol.ApprovalPart, a protocol.Approval) string {
	var list []string
	if p.NoNetwork {
		list = append(list, "the network is off")
		if a.Host != nil && a.Host.Enforcement != nil && !a.Host.Enforcement.Lends {
			list[0] += " for commands, as set for this machine"
		}
	}
	for _, i := range p.Folders {
		if a.Preview == nil || i < 0 || i >= len(a.Preview.Folders) {
			continue
		}
		f := a.Preview.Folders[i]
		if f.Write {
			list = append(list, f.Path+" cannot be written")
		} else {
			list = append(list, f.Path+" cannot be read")
		}
	}
	if list == nil {
		return ""
	}
	return "the sandbox stops it: " + strings.Join(list, ", ")
}
