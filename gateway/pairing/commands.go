package pairing

import (
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// installCommands are the commands that make another machine a node: they install its program, pair
// it with an invitation and start it. curl checks the same pin as the pairing. The link is a secret,
// so no command passes it on as an argument, which everyone on a machine can read.
type installCommands struct {
	network protocol.NetworkStatus
	link    string
	name    string // of the machine; may be empty
}

// shell returns the command for sh. The script gets the link on its standard input, before its text.
func (c installCommands) shell() string {
	set := fmt.Sprintf("FAIRLEAD_PAIR='%s'", c.plainLink())
	if name := c.nodeID(); name != "" {
		set += fmt.Sprintf(" FAIRLEAD_NAME='%s'", name)
	}
	return fmt.Sprintf(`(echo "%s"; curl -fsSk --pinnedpubkey 'sha256//%s' %s || echo exit 1) | sh`, set, c.network.Pin, c.url("install.sh"))
}

// powerShell returns the command for PowerShell.
func (c installCommands) powerShell() string {
	set := fmt.Sprintf("$env:FAIRLEAD_PAIR='%s'; ", c.plainLink())
	if name := c.nodeID(); name != "" {
		set += fmt.Sprintf("$env:FAIRLEAD_NAME='%s'; ", name)
	}
	return fmt.Sprintf("%scurl.exe -fsSk --pinnedpubkey 'sha256//%s' %s | Out-String | Invoke-Expression", set, c.network.Pin, c.url("install.ps1"))
}

// cmd returns the command for the Windows Command Prompt, whose curl Windows has since version 1803.
func (c installCommands) cmd() string {
	const file = `"%TEMP%\fairlead-install.ps1"`
	set := fmt.Sprintf(`set "FAIRLEAD_PAIR=%s"`, c.plainLink())
	if name := c.nodeID(); name != "" {
		set += fmt.Sprintf(` && set "FAIRLEAD_NAME=%s"`, name)
	}
	return fmt.Sprintf(`%s && curl.exe -fsSk --pinnedpubkey "sha256//%s" -o %s %s && powershell -NoProfile -ExecutionPolicy Bypass -File %[3]s`, set, c.network.Pin, file, c.url("install.ps1"))
}

func (c installCommands) url(file string) string {
	return "https://" + c.network.Addresses[0] + "/" + file
}

// plainLink returns the link without percent signs, which the Command Prompt would replace. Only
// addresses contain characters that are encoded.
func (c installCommands) plainLink() string {
	return strings.NewReplacer("%3A", ":", "%5B", "[", "%5D", "]").Replace(c.link)
}

// nodeID returns the machine's name if it can be its ID too; it needs no quoting then.
func (c installCommands) nodeID() string {
	id, _ := protocol.ParsePeerNodeID(c.name)
	return string(id)
}
