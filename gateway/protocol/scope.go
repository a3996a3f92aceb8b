package protocol

import "slices"

// ClientScopes are the scopes that a client may be granted.
var ClientScopes = []Scope{ScopeRead, ScopeChat, ScopeInvoke, ScopeApprove, ScopeAdmin}

// permissions say what the scopes of clients and apps permit, to follow "may".
var permissions = []struct {
	scope Scope
	text  string
}{
	{ScopeRead, "view"},
	{ScopeChat, "chat"},
	{ScopeInvoke, "run tools"},
	{ScopeApprove, "answer questions"},
	{ScopeAdmin, "change settings"},

	{ScopeNetworkRead, "see your machines"},
	{ScopeFilesRead, "read files"},
	{ScopeFilesWrite, "change files"},
	{ScopeShell, "run commands"},
	{ScopeNetRead, "see network details"},
	{ScopeForward, "reach ports of your machines"},
	{ScopeNetworkWrite, "create and delete networks"},
	{ScopeNodeRegister, "invite machines"},
	{ScopeProvision, "rent machines"},
	{ScopeService, "publish apps of your machines"},
	{ScopeAllTools, "use all other tools"},
}

// Permissions says for people what scopes permit, each in some words that follow "may": read files,
// run commands. Scopes that permit nothing by themselves are left out.
func Permissions(scopes ...Scope) []string {
	var list []string
	for _, p := range permissions {
		if slices.Contains(scopes, p.scope) {
			list = append(list, p.text)
		}
	}
	return list
}
