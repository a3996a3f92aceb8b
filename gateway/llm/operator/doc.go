// Package operator is the built-in operator: a small, deterministic agent that understands plain requests, one a line, and carries them
// out through the same tools, approvals, journal and streaming as a model (DESIGN 8). It answers until a person connects a model,
// needs no key and no network, and never pretends to understand what it does not.
//
//	run make test                                    Bash; also "execute …", "$ …", or a code block under "run:"
//	list files in docs, list *.md, list the Go files Glob
//	find files named notes.txt, find README.md       Glob
//	read README.md, show lines 5-9 of a.go           Read
//	search for TODO in gateway, … in the Go files    Grep, for the text as it stands
//	replace "old" with "new" in notes.txt            Edit, every place
//	write hello to notes.txt                         Write; also "create notes.txt with hello", or a code block under "write to notes.txt:"
//	send notes.txt to tower                          Transfer, where there is one
//	which machines, what can you do                  answered without a tool
//
// "on laptop" before or after a request names the machine; else it is the one in the system prompt's line "Default machine: …", else the
// first that has the tool. A command keeps its punctuation, and " on NAME" at its end unless NAME is a machine. Where one of several
// requests is not understood or cannot be carried out, none is.
package operator
