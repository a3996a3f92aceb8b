// Package operator is the built-in operator: a small, deterministic agent that understands plain
// requests, one per line, and carries them out with the same tools, approvals, journal and
// streaming as a model. It answers until the person connects a model. It needs no key and no
// network, and says so when it does not understand a request.
//
//	run make test                                    Bash; also "execute …", "$ …", or a code block under "run:"
//	list files in docs, list *.md, list the Go files Glob
//	find files named notes.txt, find README.md       Glob
//	read README.md, show lines 5-9 of a.go           Read
//	search for TODO in gateway, … in the Go files    Grep, for the literal text
//	replace "old" with "new" in notes.txt            Edit, every occurrence
//	write hello to notes.txt                         Write; also "create notes.txt with hello", or a code block under "write to notes.txt:"
//	send notes.txt to tower                          Transfer, if there is that tool
//	which machines, what can you do                  answered without a tool
//
// "on laptop" before or after a request names the machine. Without it, the machine is the one in
// the system prompt's line "Default machine: …", or else the first that has the tool. A command
// keeps its punctuation, and also an " on NAME" at its end unless NAME is a machine. If one of
// several requests is not understood or cannot be carried out, none of them is.
package operator
