// Package access says what a call of a tool may reach on this machine: the workspace, the folders
// that the person opened for the call, and which of them hold keys or tokens.
package access
