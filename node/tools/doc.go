// Package tools holds a node's tools as seed 000 names them: Bash, Process, Read, Write, Edit, Glob and Grep. Each is one file and one description
// written for a model. File tools go through a [workspace.Root]; commands run as the user who started the node, with no wall around them but
// the system's own permissions.
package tools
