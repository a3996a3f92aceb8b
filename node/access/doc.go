// Package access says what a call of a tool may reach on this machine: the workspace, the folders
// that the person opened for the call, and which of them hold keys or tokens. It describes the path
// of a call, and the change that a call would make to a file, for the question to the person.
package access
