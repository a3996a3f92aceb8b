// Package browse serves the file browser of the windows: it lists, creates, renames, moves, deletes
// and restores files of this machine. It is not a tool of the agent. Every path goes through the
// [workspace.Root], and no operation replaces an existing file.
package browse
