// Package workspace reads and writes files for the node's tools. Every access of a file tool to the
// disk goes through it.
//
// A [Root] is opened once on the node's working folder and on the further folders that the person
// granted ([Config]). Relative paths start at the working folder. Absolute paths are accepted when
// they name something in the working folder or in a granted folder; all others are refused, unless
// [Config].WholeDisk is set. Every access goes through the [os.Root] of its folder, relative to a
// directory handle, so a symbolic link that leads outside is refused even when it is created
// between check and use. Links from one folder into another work. A folder that was moved or
// replaced after the start causes a [FolderReplacedError].
//
// Names that an operating system interprets as something else (devices, streams, another spelling
// of an existing file) are refused on that system.
//
// Only regular files are opened. Writes are atomic: the content goes to a new file beside the old
// one, is synced, and is renamed over it. Mode, owner, access lists and extended attributes are
// preserved where the system permits it. Other hard links still have the old content. Temporary
// files left by a crash are removed by a later write in the same folder.
package workspace
