package main

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// forged would overwrite the lines above, and add a line that looks like one of ours.
const forged = "x\x1b[3A\x1b[2K  words  maple otter\n  key  \u202eabc\tdone"

// TestTextOfAnUnknownSenderStaysInItsLine checks the approval of a device, and the descriptions of
// machines and transfers.
func TestTextOfAnUnknownSenderStaysInItsLine(t *testing.T) {
	t.Parallel()
	for what, print := range map[string]func(out *strings.Builder, text string){
		"request": func(out *strings.Builder, text string) {
			printRequest(out, protocol.Question{Kind: protocol.AskPair, Pairing: &protocol.PairingSubject{Words: []string{"a", "b"}, Device: protocol.Device{Name: text, OS: text, Reach: &protocol.Reach{
				Tools: []string{text}, Sandbox: text, Folders: []protocol.Folder{{Path: text}},
			}}}})
		},
		"wider": func(out *strings.Builder, text string) {
			printRequest(out, protocol.Question{Kind: protocol.AskWiden, Pairing: &protocol.PairingSubject{Wider: []string{text}, Device: protocol.Device{Name: text}}})
		},
		"machine": func(out *strings.Builder, text string) {
			printNode(out, protocol.NodeInfo{ID: "n", Platform: text, Tools: []string{text}, Host: &protocol.HostInfo{OS: text, Hostname: text, User: text, Workspace: text}}, nil)
		},
		"transfer": func(out *strings.Builder, text string) {
			out.WriteString(summary(protocol.Transfer{
				State: protocol.TransferDone, Files: 1, Into: true, Sources: []string{"a:b"}, Path: "/" + text, Destination: "n:" + text,
				Problems: []protocol.TransferProblem{{Path: text, Text: text}},
			}))
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var plain, out strings.Builder
			print(&plain, "word")
			print(&out, forged)
			if strings.ContainsAny(out.String(), "\x1b\u202e\t") || strings.Count(out.String(), "\n") != strings.Count(plain.String(), "\n") {
				t.Errorf("got %q, want the lines of %q", out.String(), plain.String())
			}
		})
	}
}
