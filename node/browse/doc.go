// Package browse does what a person does in the browser of a machine's files: list, make, rename, move, delete and take back. It is no tool of the
// agent. Every path goes through the [workspace.Root], and nothing is ever replaced.
package browse
